"""Second-order chains: what their labels are, and that they are trained and used as all others are."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.features.item_features import ItemFeatures
from parsimon.inspect import features
from parsimon.penalties import L2
from parsimon.solvers import Weights
from parsimon.structures.label_schemes import constraints
from parsimon.tasks.sequences.second_order import TagPairs
from parsimon.tasks.sequences.training import SequenceTraining

# "a" goes on after "x y", "b" after "y x": one tag before is not enough to know.
Y = [["x", "y", "a", "x", "y", "a"], ["y", "x", "b", "y", "x", "b"], ["x", "y", "a"], ["y", "x", "b"]]
X = [[{"w": y[0]}, *({"w": "?"} for _ in y[1:])] for y in Y]
LABELS = ("tags", "pairs", "both")


def fitted(**settings: Any) -> SequenceLabeler:
    return SequenceLabeler(**{"l1": 0.0, "l2": 0.01, "order": 2, **settings}).fit(X, Y)


@given(
    st.lists(st.lists(st.sampled_from("ABC"), max_size=6), min_size=1, max_size=5).filter(any),
    st.booleans(),
    st.booleans(),
)
def test_names_there_and_back(sequences: list[list[str]], single: bool, seen: bool) -> None:
    y = Labels.from_sequences(sequences)
    pairs = TagPairs.of(y, single=single, seen=seen)
    assert TagPairs.parse(pairs.names) == pairs
    assert len(pairs.names) == pairs.labels.n_labels == len(set(pairs.names))
    known = pairs.labels.pairs
    assert np.isin(np.arange(known.n_tags), known.before).all(), "every tag can be followed"
    for sequence in sequences:
        for before, tag in zip([None, *sequence], sequence, strict=False):
            b = -1 if before is None else pairs.tags.index(before)
            assert known.number(np.array(b), np.array(pairs.tags.index(tag))) >= 0
    if not seen:
        assert known.n_labels == known.n_tags * (known.n_tags + 1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("A", "B"), "tags, if there are any, and then pairs"),
        (("A", "· → A", "B"), "tags, if there are any, and then pairs"),
        (("A", "· → A", "A → B"), "not among the labels"),
        (("A", "· → ·"), "not among the labels"),
        (("A", "B", "· → B", "· → A", "A → A"), "must ascend"),
        (("A", "A → A"), "those that begin a sequence first"),
    ],
)
def test_names_that_are_none(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TagPairs.parse(names)


def possible(model: Any, length: int) -> list[tuple[int, ...]]:
    pairs = model.pairs.labels.pairs
    every = product(range(len(model.tags)), repeat=length)
    return [
        ids for ids in every if all(pairs.number(np.array([-1, *ids[:-1]]), np.array(ids, np.int64)) >= 0)
    ]


@pytest.mark.parametrize("labels", LABELS)
def test_probabilities_are_those_of_possible_sequences_only(labels: str) -> None:
    model = fitted(token_labels=labels).model_
    observations = model.observe([X[2]])
    (_, _, chain, scores) = next(model.scored(observations, 1))
    outputs = possible(model, 3)
    values = np.array([float(chain.score(scores, np.array(ids, np.int32))[0]) for ids in outputs])
    p = np.exp(values - np.logaddexp.reduce(values))
    marginals, log_z = model.marginals(observations)
    assert log_z[0] == pytest.approx(np.logaddexp.reduce(values))
    expected = np.zeros_like(marginals)
    for ids, share in zip(outputs, p, strict=True):
        expected[np.arange(3), list(ids)] += share
    np.testing.assert_allclose(marginals, expected, atol=1e-12)
    best, _labels = model.kbest(observations, 4)
    order = np.argsort(-values, kind="stable")[:4]
    np.testing.assert_allclose(np.exp(best[:, 0]), p[order])
    assert model.decode(observations).tolist() == list(outputs[order[0]])


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("candidates", ["all", "seen"])
def test_the_gradient_by_finite_differences(labels: str, candidates: str) -> None:
    training = SequenceTraining(penalty=L2(0.1), order=2, token_labels=labels, candidates=candidates)
    task = training.prepare(ItemFeatures(), X, Labels.from_sequences(Y))
    rng = np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_features)
    value, gradient = task.problem.loss_and_gradient(w)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    for k in range(len(w)):
        step = np.zeros(len(w))
        step[k] = 1e-6
        slope = (
            task.problem.loss_and_gradient(w + step)[0] - task.problem.loss_and_gradient(w - step)[0]
        ) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-6)
    some = np.flatnonzero(rng.random(len(w)) < 0.5)
    screened = task.problem.screen(Weights(w[some], some, len(w)), 0.0)
    full = np.where(np.isin(np.arange(len(w)), some), w, 0.0)
    np.testing.assert_allclose(
        screened.gradient, task.problem.loss_and_gradient(full)[1][screened.features], atol=1e-10
    )


@pytest.mark.parametrize("labels", LABELS)
def test_two_tags_before_matter(labels: str) -> None:
    assert SequenceLabeler(l1=0.0, l2=0.01).fit(X, Y).score(X[:2], Y[:2]) < 1
    assert fitted(token_labels=labels).score(X[:2], Y[:2]) == 1
    assert fitted(loss="hinge", token_labels=labels).score(X[:2], Y[:2]) == 1
    assert fitted().classes_.tolist() == ["x", "y", "a", "b"]


def test_features_of_single_tags_are_sums_of_those_of_pairs() -> None:
    """So with the L1 norm alone, more kinds of features never cost more; and all pairs never less than those seen."""
    best = {labels: fitted(l1=0.1, l2=0.0, token_labels=labels).objective_ for labels in LABELS}
    assert best["both"] <= min(best["tags"], best["pairs"]) + 1e-4
    every = fitted(l1=0.1, l2=0.0, tag_pairs="all")
    assert every.objective_ > best["both"]
    assert len(every.model_.labels) == 4 + 4 * 5


@pytest.mark.parametrize("labels", LABELS)
def test_margins_agree_with_other_solvers(labels: str) -> None:
    """Frank–Wolfe and cutting planes see features of outputs one by one."""
    ends = [
        fitted(loss="hinge", l2=1.0, solver=solver, tol=1e-5, token_labels=labels).objective_
        for solver in ("frank-wolfe", "one-slack")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


def test_given_tags_and_schemes() -> None:
    labeler = fitted()
    assert labeler.predict([[{"w": "?"}] * 3], given=[["y", None, None]]) == [["y", "x", "b"]]
    spans = [["B", "I", "O"], ["O", "B"], ["B", "B"]]
    free = [[{"w": "?"}] * len(tags) for tags in spans]
    for labels in LABELS:
        labeler = SequenceLabeler(
            l1=0.0, l2=1.0, order=2, scheme="iob2", token_labels=labels, tag_pairs="all"
        )
        labeler.fit(free, spans)
        tags = labeler.model_.tags
        allowed = constraints(tags, "iob2")
        for tagging in labeler.predict([[{"w": "?"}] * n for n in range(1, 6)]):
            assert allowed.first_violation([tags.index(tag) for tag in tagging]) is None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_minimum_risk_is_about_tags(length: int) -> None:
    labeler = SequenceLabeler(l1=0.0, l2=2.0, order=2, decoding="minimum-risk").fit(X, Y)
    model, uncertain = labeler.model_, [[{"w": "?"}] * length]
    (marginals,) = labeler.predict_marginals(uncertain)
    right = {tags: sum(marginals[t, y] for t, y in enumerate(tags)) for tags in possible(model, length)}
    (found,) = labeler.predict(uncertain)
    assert right[tuple(model.tags.index(tag) for tag in found)] == pytest.approx(max(right.values()))


@pytest.mark.parametrize("labels", LABELS)
def test_files_and_development_sets(tmp_path: Any, labels: str) -> None:
    labeler = SequenceLabeler(l1=0.01, l2=0.01, order=2, token_labels=labels).fit(X, Y, dev=(X, Y))
    labeler.save(tmp_path / "second.model")
    again = SequenceLabeler.load(tmp_path / "second.model")
    assert again.model_.order == 2
    assert again.model_.tags == labeler.model_.tags
    assert again.predict(X) == labeler.predict(X)
    np.testing.assert_array_equal(again.predict_marginals(X)[0], labeler.predict_marginals(X)[0])
    training = SequenceTraining(order=2, token_labels=labels)
    task = training.prepare(ItemFeatures(), X, Labels.from_sequences(Y))
    start = task.weights_of(labeler.model_)
    assert isinstance(start, Weights)
    assert start.n_active == len(labeler.model_.weights)


def test_features_have_the_names_of_tags_pairs_and_triples() -> None:
    found = features(fitted(l1=0.01).model_)
    names = {(each.previous, each.label) for each in found}
    assert any(previous is None and "→" not in label for previous, label in names)
    assert any(previous is None and "→" in label for previous, label in names)
    assert ("x → y", "y → a") in names


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"order": 3}, Y, "order must be a whole number from 1 to 2, not 3"),
        ({"order": 2, "token_labels": "triples"}, Y, "token_labels"),
        ({"order": 2}, [["x", None, *Y[0][2:]], *Y[1:]], "order=2 needs every label"),
        ({"order": 2}, [["· → x", *Y[0][1:]], *Y[1:]], "no label may be"),
        ({"order": 2, "loss": "hinge", "solver": "sgd"}, Y, "sgd"),
        ({"order": 2, "solver": "bcd", "l1": 0.1}, Y, "bcd"),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(**settings).fit(X, y)
