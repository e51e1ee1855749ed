"""Which strengths there are to choose from, and what comes of the choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNet
from parsimon.tasks.documents.features import bend_by_count
from parsimon.tasks.documents.options import STRENGTHS
from parsimon.tasks.documents.paths import NAMES, families_of
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.model_file import dump_model, parse_model


def documents(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Words that tell the label, and many that do not."""
    random = np.random.default_rng(seed)
    labels = ["good" if random.random() < 0.5 else "bad" for _ in range(n)]
    telling = {"good": ["fine", "great", "liked"], "bad": ["dull", "poor", "left"]}
    texts = []
    for label in labels:
        words = [f"w{random.integers(200)}" for _ in range(20)]
        words += [str(random.choice(telling[label])) for _ in range(random.integers(1, 3))]
        texts.append(" ".join(words) + ".")
    return texts, labels


def test_every_penalty_has_its_strengths() -> None:
    assert {penalty: set(names) for penalty, names in NAMES.items()} == {
        penalty: {name for name in own if not (penalty == "sentence" and name == "l2")}
        for penalty, own in STRENGTHS.items()
    }
    for penalty, names in NAMES.items():
        for family in families_of(penalty, {}):
            assert set(family.at(1.0)) == set(names)
        given = dict.fromkeys(names, 0.5)
        assert not families_of(penalty, given)
        del given[names[0]]
        for family in families_of(penalty, given):
            assert family.main == names[0]
            assert family.fixed == given


@pytest.mark.parametrize("penalty", ["auto", *STRENGTHS])
def test_no_strength_is_needed(penalty: str) -> None:
    texts, labels = documents(120, 0)
    model = DocumentTraining(penalty=penalty, folds=3).fit(texts, labels)
    tuning = model.info["tuning"]
    assert tuning["folds"] == 3
    for name, value in tuning["chosen"].items():
        assert model.info[name] == value
    new, gold = documents(100, 1)
    assert np.mean([a == b for a, b in zip(model.predict(model.read(new)), gold, strict=True)]) > 0.85
    if "l1" in tuning["chosen"]:
        assert len(model.words) < 150  # of 206


def test_what_is_given_stays() -> None:
    texts, labels = documents(60, 0)
    model = DocumentTraining(penalty="elastic-net", l2=0.25, tune=True, folds=2).fit(texts, labels)
    assert model.info["l2"] == 0.25
    assert {each["strengths"]["l2"] for each in model.info["tuning"]["tried"]} == {0.25}
    for settings in ({"l1": 0.5, "penalty": "lasso"}, {"tune": False}, {"stopping": "paper", "max_iter": 3}):
        assert "tuning" not in DocumentTraining(**settings).fit(texts, labels).info
    assert "tuning" not in DocumentTraining().fit(texts[:3], ["a", "b", "b"]).info  # too few for folds


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty": "lasso", "l1": 1.0}, "tune=True has nothing to choose: every strength is given"),
        ({"penalty": ElasticNet(1.0)}, "tune=True chooses the strengths of a penalty by its name"),
        ({"stopping": "paper"}, "tune=True needs stopping='certified'"),
    ],
)
def test_what_cannot_be_chosen_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        DocumentTraining(**settings, tune=True).fit(*documents(20, 0))


def test_development_documents_choose() -> None:
    dev = documents(80, 3)
    model = DocumentTraining().fit(*documents(80, 0), dev=dev)
    assert model.info["tuning"]["folds"] is None
    best = max(each["score"] for each in model.info["tuning"]["tried"])
    right = np.mean([a == b for a, b in zip(model.predict(model.read(dev[0])), dev[1], strict=True)])
    assert right == pytest.approx(best, abs=0.03)


def test_frequent_words_have_the_stronger_ridge() -> None:
    bend = bend_by_count(np.array([1.0, 4.0, 25.0]), 0.5)
    np.testing.assert_allclose(bend / bend[0], [1, 2, 5])
    assert bend.mean() == pytest.approx(1)
    texts, labels = documents(60, 0)
    training = DocumentTraining(penalty="count-ridge", l2=2.0, tol=1e-9)
    task = training.prepare(texts, labels)
    w = training.solve(task).weights.dense()
    _, gradient = task.problem.loss_and_gradient(w)
    strength = 2.0 * bend_by_count(task.documents.counts, 0.5)
    np.testing.assert_allclose(gradient[:-1], -strength * w[:-1], atol=1e-3)


def test_spread_is_that_of_the_values_and_survives_the_file() -> None:
    texts, labels = documents(50, 0)
    model = DocumentTraining(penalty="ridge", l2=1.0).fit(texts, labels)
    corpus = model.read(texts)
    counts = np.zeros((len(texts), len(model.words)))
    for d, text in enumerate(texts):
        for word in text.rstrip(".").split():
            counts[d, model.words.index(word)] += 1
    assert len(corpus) == 50
    np.testing.assert_allclose(model.spread, counts.std(axis=0), atol=1e-12)
    again = parse_model(dump_model(model))
    np.testing.assert_allclose(again.spread, model.spread, rtol=1e-6)
    old = parse_model(dump_model(replace(model, spread=None)))
    assert old.spread is None
