"""`SequenceLabeler` on sequences of numbers instead of names."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelled_words import DICTS, LABELS, TEMPLATES
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import SparseSequences


def gaussians(seed: int = 0, n: int = 40) -> tuple[list[Any], list[list[str]]]:
    """Sequences of different lengths of four real numbers, two of which tell the label."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = rng.integers(3, size=rng.integers(1, 6))
        x = rng.normal(size=(len(labels), 4))
        x[:, 0] += 2.0 * (labels == 1)
        x[:, 2] -= 2.0 * (labels == 2)
        X.append(x)
        y.append([f"class {label}" for label in labels])
    return X, y


def test_real_values_mean_what_they_mean_in_dicts() -> None:
    X, y = gaussians()
    dicts = [[{f"x{i}": float(value) for i, value in enumerate(token)} for token in x] for x in X]
    settings: dict[str, Any] = {"l1": 1.0, "l2": 0.01, "tol": 1e-8}
    numbers, named = SequenceLabeler(**settings).fit(X, y), SequenceLabeler(**settings).fit(dicts, y)
    assert numbers.objective_ == pytest.approx(named.objective_, rel=1e-9)
    for a, b in zip(numbers.predict_marginals(X), named.predict_marginals(dicts), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert numbers.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("loss", "solver", "l1"),
    [
        ("log", "auto", 0.5), ("log", "fista", 0.5), ("log", "bcd", 0.5), ("log", "sgd-l1", 0.5), ("log", "sgd", 0.0),
        ("hinge", "auto", 0.5), ("hinge", "mira", 0.0), ("perceptron", "sgd", 0.0),
    ],
)  # fmt: skip
def test_solvers_learn_from_numbers(loss: str, solver: str, l1: float) -> None:
    X, y = gaussians()
    labeler = SequenceLabeler(loss=loss, solver=solver, l1=l1, l2=0.0, max_iter=50)
    assert labeler.fit(X, y).score(X, y) > 0.75


def test_arrays_of_one_length_can_be_one_array() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3, 2))
    y = [["p" if token[0] > 0 else "n" for token in x] for x in X]
    assert SequenceLabeler(l1=0.1).fit(X, y).predict(X) == SequenceLabeler(l1=0.1).fit(list(X), y).predict(X)


@pytest.mark.parametrize("names", [None, ["width", "height", "depth", "weight"]], ids=["numbers", "names"])
def test_a_model_of_numbers_is_saved_and_looked_into(names: Any, tmp_path: Path) -> None:
    from parsimon.inspect import features, template_shares

    X, y = gaussians()
    labeler = SequenceLabeler(l1=4.0).fit(SparseSequences.from_sequences(X, names=names), y)
    labeler.save(tmp_path / "model")
    called = set(names or ["0", "1", "2", "3"])
    for other in (SequenceLabeler.load(tmp_path / "model"), pickle.loads(pickle.dumps(labeler))):
        assert other.predict(X) == labeler.predict(X)
        found = features(other.model_)
        assert [f.weight for f in found] == [f.weight for f in features(labeler.model_)]
        assert {f.attribute for f in found if f.template == "features"} <= called
        assert [share.name for share in template_shares(other.model_)] == ["features", "transition"]
        with pytest.raises(ParsimonError, match="the matrix has 3 columns, but the model was trained on 4"):
            other.predict([np.ones((1, 3))])
    first, third = (names or ["0", "1", "2", "3"])[::2]
    assert {f.attribute for f in features(labeler.model_, top=2, template="features")} == {first, third}


def test_tokens_without_features_and_sequences_without_tokens() -> None:
    X, y = gaussians()
    X[0][0] = 0.0
    X.insert(1, np.zeros((0, 4)))
    y.insert(1, [])
    labeler = SequenceLabeler(l1=0.1).fit(X, y)
    assert [len(labels) for labels in labeler.predict(X)] == [len(x) for x in X]
    nothing = labeler.predict([np.zeros((1, 4)), []])
    assert (len(nothing[0]), nothing[1]) == (1, [])
    (alone,) = labeler.predict_marginals([np.zeros((1, 4))])
    np.testing.assert_allclose(alone, 1 / 3)  # nothing speaks for a label, not even a label before
    for X_empty in ([], [[]], [[], []], [np.zeros((0, 4))]):
        assert labeler.predict(X_empty) == [[] for _ in X_empty]


def test_development_set_path_and_warm_start_take_arrays() -> None:
    X, y = gaussians()
    dev = gaussians(seed=1, n=10)
    labeler = SequenceLabeler(l1=0.5, warm_start=True).fit(X, y, dev=dev)
    before = labeler.objective_
    assert labeler.fit(X, y).objective_ <= before + 1e-9
    strength = SequenceLabeler().max_strength(X, y)
    sizes = [
        one.n_features_ for _, one in SequenceLabeler(l2=0.0).path(X, y, [1.001 * strength, strength / 9])
    ]
    assert sizes[0] == 0 < sizes[1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [np.full((1, 2), np.nan)],
            "sequence 0, token 0: the feature 0 has the value NaN; values must be finite",
        ),
        ([np.eye(2), np.ones((1, 3))], "sequence 1 has 3 columns, but those before it have 2"),
        ([np.ones(2)], r"sequence 0 has the shape \(2,\); it should be tokens × features"),
        ([np.eye(2), [{"w": "a"}]], "sequence 1 is a list; it should be a matrix of numbers"),
        ([[{"w": "a"}], np.eye(2)], "sequence 0 is a list; it should be a matrix of numbers"),
        (np.ones((2, 2, 2, 2)), r"sequence 0 has the shape \(2, 2, 2\)"),
        ([np.eye(2)], "sequence 0 has 2 tokens but 1 labels"),
    ],
)
def test_wrong_numbers(X: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler().fit(X, [["a"]] * len(X))


def test_numbers_need_no_templates_and_no_cutoff() -> None:
    X, y = gaussians()
    with pytest.raises(ParsimonError, match="templates look at columns of strings, but X has matrices"):
        SequenceLabeler(TEMPLATES).fit(X, y)
    with pytest.raises(ParsimonError, match="all columns of a matrix are features, so cutoff must be 1"):
        SequenceLabeler(cutoff=2).fit(X, y)


def test_models_of_numbers_and_of_names_do_not_mix() -> None:
    X, y = gaussians()
    numbers, named = SequenceLabeler().fit(X, y), SequenceLabeler().fit(DICTS, LABELS)
    with pytest.raises(ParsimonError, match="sequence 0 is a list; it should be a matrix of numbers"):
        numbers.predict(DICTS)
    with pytest.raises(ParsimonError, match="the model was trained on named features, but X has matrices"):
        named.predict(X)
