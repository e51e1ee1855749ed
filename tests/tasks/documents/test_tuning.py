"""Strengths chosen on a development set: grids, successive halving, Latin hypercubes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.solvers import Validation
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.documents.tuning import best_trial, grid_search, latin_hypercube, successive_halving

GOOD = ["fine", "great", "lovely", "superb"]


BAD = ["dull", "awful", "boring", "poor"]


REST = ["film", "story", "actor", "music", "scene", "plot", "light", "sound", "end", "start"]


def made_up(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Reviews of a few sentences, of which one or two say something."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        label = rng.choice(["bad", "good"])
        sentences = []
        for _ in range(rng.integers(3, 7)):
            words = list(rng.choice(REST, rng.integers(3, 7)))
            if rng.random() < 0.35:
                words.insert(1, str(rng.choice(GOOD if label == "good" else BAD)))
            sentences.append(" ".join(words).capitalize() + ".")
        texts.append(" ".join(sentences))
        labels.append(str(label))
    return texts, labels


@pytest.fixture(scope="module")
def ready() -> Any:
    training = DocumentTraining(penalty="sentence")
    texts, labels = made_up(120, 5)
    task = training.prepare(texts, labels)
    score = task.development_score(made_up(80, 6))
    return training, task, lambda: Validation(score, every=1, patience=8)


def test_a_grid_has_every_combination(ready: Any) -> None:
    training, task, watch = ready
    grid = {"l2": (0.1, 1.0), "l1": (0.1, 1.0, 5.0)}
    trials = grid_search(replace(training, penalty="elastic-net"), task, watch, grid)
    assert {(t.settings["l1"], t.settings["l2"]) for t in trials} == {
        (a, b) for a in grid["l1"] for b in grid["l2"]
    }
    best = best_trial(trials)
    assert all((t.score, -t.size) <= (best.score, -best.size) for t in trials)
    threaded = grid_search(replace(training, penalty="elastic-net"), task, watch, grid, jobs=2)
    assert [(t.settings, t.score, t.size) for t in threaded] == [
        (t.settings, t.score, t.size) for t in trials
    ]


def test_warm_starts_end_where_cold_ones_do(ready: Any) -> None:
    training, task, watch = ready
    precise = replace(training, penalty="lasso", tol=1e-8)
    trials = grid_search(precise, task, watch, {"l1": (0.5, 1.0, 4.0)})
    for trial in trials:
        cold = replace(precise, **trial.settings)
        alone = cold.solve(cold.again(task))
        np.testing.assert_allclose(trial.result.weights.dense(), alone.weights.dense(), atol=1e-4)


def test_halving_pauses_fits_and_goes_on(ready: Any) -> None:
    training, task, watch = ready
    paper = replace(training, stopping="paper")
    ranges = {"sentence": (0.01, 1.0), "l1": (0.01, 1.0), "rho": (0.1, 10.0)}
    trials = successive_halving(paper, task, watch, ranges, n=9, first=2, most=20, seed=1)
    assert sorted({trial.rounds for trial in trials})[0] == 2
    assert len([trial for trial in trials if trial.rounds > 2]) <= 3
    best = best_trial(trials)
    alone = replace(paper, **best.settings, max_iter=20, patience=8)
    again = alone.solve(alone.again(task), dev=made_up(80, 6))
    assert best.score <= max(e.dev for e in again.history)
    with pytest.raises(ParsimonError, match="needs stopping='paper'"):
        successive_halving(training, task, watch, ranges)


def test_a_latin_hypercube_covers_each_range() -> None:
    drawn = latin_hypercube({"a": (0.01, 100.0), "b": (1.0, 1.0)}, 8, seed=0)
    places = np.sort((np.log10([one["a"] for one in drawn]) + 2) / 4 * 8)
    assert np.array_equal(np.floor(places), np.arange(8))
    assert all(one["b"] == pytest.approx(1.0) for one in drawn)
    with pytest.raises(ParsimonError, match="the range of a"):
        latin_hypercube({"a": (0.0, 1.0)}, 3, seed=0)
