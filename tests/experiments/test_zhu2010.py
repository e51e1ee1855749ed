"""The experiments on Grafting-Light: problems, measures and tables are what the page says they are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brute_force import enumerate_graph
from parsimon.designs.mrf import MRFDesign
from parsimon.features.columns import Labels
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Capability, Iterate, Status, Weights
from parsimon.structures import Graph


@pytest.fixture
def work(load: Callable[[str], Any]) -> Any:
    return load("zhu2010_jobs")


def made_rows(n: int = 60, variables: int = 5) -> Any:
    rng = np.random.default_rng(0)
    rows = (rng.random((n, variables)) < 0.4).astype(np.int64)
    rows[:, 1] = np.where(rng.random(n) < 0.8, rows[:, 0], rows[:, 1])
    return rows


def test_independent_pixels_are_an_optimum_without_edges(work: Any) -> None:
    rows = made_rows()
    problem, start = work.network_problem(rows, 6.0, 1, centred=True, complete=False)
    w = start.dense()
    _, gradient = problem.loss_and_gradient(w)
    assert np.max(problem.penalty.violation(w, gradient)[: rows.shape[1]]) < 1e-6
    covariance = np.cov((2 * rows - 1).T, bias=True)[np.triu_indices(rows.shape[1], 1)] * len(rows)
    shrunk = 0.01 * 6.0  # what the penalty on single pixels takes off
    np.testing.assert_allclose(gradient[rows.shape[1] :], -covariance, atol=shrunk**2)


def test_idle_edges_change_nothing(work: Any) -> None:
    rows = made_rows()
    some, every = (
        work.network_problem(rows, 6.0, 1, centred=False, complete=complete)[0] for complete in (False, True)
    )
    w = np.zeros(some.n_features)
    w[[0, 1, 6]] = 0.5, -1.0, 1.5
    for one, other in zip(some.loss_and_gradient(w), every.loss_and_gradient(w), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_likelihoods_by_sampling_and_by_conditionals(work: Any) -> None:
    rows = made_rows()
    graph = Graph.complete([2] * rows.shape[1])
    design = MRFDesign.contrasts(graph)
    w = np.random.default_rng(1).normal(size=design.n_features) * 0.4
    weights = Weights(w, None, len(w))
    _, everything = next(enumerate_graph(graph, design.scores(w)))
    log_p = dict(
        zip(map(tuple, everything.states.tolist()), everything.scores - everything.log_z, strict=True)
    )
    exact = np.mean([log_p[tuple(row)] for row in rows.tolist()]) / rows.shape[1]
    assert work.sampled_likelihood(design, weights, rows, 1, steps=40, chains=40) == pytest.approx(
        exact, abs=0.03
    )
    conditional = np.mean([everything.conditional_log_probability(row) for row in rows]) / rows.shape[1]
    assert work.conditional_likelihood(design, weights, rows, 1) == pytest.approx(conditional)


class Falling:
    """Objectives that fall by less and less."""

    name = "falling"
    requires: tuple[Capability[Any], ...] = ()

    def iterate(self, problem: Any, start: Weights) -> Iterator[Iterate]:
        for k in range(1000):
            yield Iterate(start, 100.0 + 0.5**k, k, kkt=None if k % 2 else 1.0)


def test_steady_ends_when_little_changes(work: Any) -> None:
    steps = list(work.Steady(Falling(), 1e-4, steps=5).iterate(None, Weights.zeros(1)))
    assert steps[-1].status is Status.CONVERGED
    assert all(step.status is None for step in steps[:-1])
    looked = [step.objective for step in steps if step.kkt is not None]
    assert looked[-6] - looked[-1] <= 5 * 1e-4 * looked[-1] < looked[-7] - looked[-2]


def test_processor_time_runs_out(load: Callable[[str], Any]) -> None:
    endings = load("endings")
    at_once = list(endings.ProcessorTime(Falling(), 0.0).iterate(None, Weights.zeros(1)))
    assert [step.status for step in at_once] == [Status.TIME]
    never = list(endings.ProcessorTime(Falling(), 1e9).iterate(None, Weights.zeros(1)))
    assert len(never) == 1000
    assert all(step.status is None for step in never)


def test_noun_phrases(work: Any) -> None:
    y = Labels.from_sequences([["B-NP", "I-NP", "B-VP", "O", "I-PP"]])
    assert [list(tags) for tags in work.noun_phrases(y)] == [["B-NP", "I-NP", "O", "O", "O"]]


def test_methods_agree_on_a_small_set(work: Any) -> None:
    data = {"name": "synthetic", "sequences": 40, "features": 12, "relevant": 4, "scale": 1.0, "seed": 0}
    told = {
        method: work.select(data=data, method=method, unit=3, strength=3.0, tol=1e-5, limit=20.0, threads=1)
        for method in work.METHODS
    }
    objectives = [one["objective"] for one in told.values()]
    assert max(objectives) == pytest.approx(min(objectives), rel=1e-6)
    assert told["Grafting-Light"]["gradients"] < told["Grafting"]["gradients"]
    assert told["Full-Opt.-L1"]["selected"] == 28
    # Numbers of weights are not unique; these are.
    assert len({one["attributes"] for one in told.values()}) == 1
    assert all(0.5 < one["score"] <= 1 for one in told.values())


@pytest.mark.data
def test_small_runs_print_every_table(
    load: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    require_data: Callable[[str], None],
) -> None:
    require_data("ocr_letters")
    tables = load("zhu2010")
    command = ["zhu2010.py", "figure5", "sweeps", "--small", "--cache", str(tmp_path / "known.jsonl")]
    monkeypatch.setattr(sys, "argv", command)
    assert tables.main() == 0
    out = capsys.readouterr().out
    assert "gradients: Grafting-Light" in out
    assert "sequential: a sweep" in out


def test_what_cannot_be_asked(load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tables = load("zhu2010")
    for more in (["--small", "--write"], ["figure9", "--cache", "nowhere.jsonl"]):
        monkeypatch.setattr(sys, "argv", ["zhu2010.py", *more])
        assert tables.main() == 2


def test_problems_are_problems(work: Any) -> None:
    problem, start = work.network_problem(made_rows(), 6.0, 1, centred=False, complete=False)
    assert isinstance(problem, InMemoryProblem)
    assert start.n_active == 0
