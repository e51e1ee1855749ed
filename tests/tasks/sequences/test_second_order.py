"""Second-order chains: labels are pairs of tags, and what does not fit together has no probability."""

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
from parsimon.penalties import L2
from parsimon.solvers import Weights
from parsimon.structures.label_schemes import constraints
from parsimon.tasks.sequences.second_order import TagPairs
from parsimon.tasks.sequences.training import SequenceTraining

# "a" goes on after "x y", "b" after "y x": one tag before is not enough to know.
Y = [["x", "y", "a", "x", "y", "a"], ["y", "x", "b", "y", "x", "b"], ["x", "y", "a"], ["y", "x", "b"]]
X = [[{"w": y[0]}, *({"w": "?"} for _ in y[1:])] for y in Y]


def fitted(**settings: Any) -> SequenceLabeler:
    return SequenceLabeler(l1=0.0, l2=0.01, order=2, **settings).fit(X, Y)


@given(st.lists(st.lists(st.sampled_from("ABC"), max_size=6), min_size=1, max_size=5))
def test_pairs_there_and_back(sequences: list[list[str]]) -> None:
    y = Labels.from_sequences(sequences)
    pairs = TagPairs.seen(y)
    labels = pairs.encode(y)
    assert np.array_equal(pairs.tag[labels.ids], y.ids)
    again = TagPairs.parse(pairs.names)
    names = [again.tags[tag] for tag in again.tag]
    assert [names[label] for label in labels.ids] == [tag for sequence in sequences for tag in sequence]
    for sequence in labels:
        ids = [labels.names.index(label) for label in sequence if label is not None]
        assert pairs.transitions.first_violation(ids) is None
    assert pairs.transitions.pair.any(axis=1).all() or not len(pairs.tag), "every label can be followed"


def possible(model: Any, length: int) -> list[tuple[int, ...]]:
    allowed = model.pairs.transitions
    every = product(range(model.n_labels), repeat=length)
    return [ids for ids in every if allowed.first_violation(ids) is None]


def test_probabilities_are_those_of_possible_sequences_only() -> None:
    model = fitted().model_
    observations = model.observe([X[2]])
    (_, _, chain, scores) = next(model.scored(observations, 1))
    outputs = possible(model, 3)
    values = np.array([float(chain.score(scores, np.array(ids, np.int32))[0]) for ids in outputs])
    p = np.exp(values - np.logaddexp.reduce(values))
    marginals, log_z = model.marginals(observations)
    assert log_z[0] == pytest.approx(np.logaddexp.reduce(values))
    expected = np.zeros_like(marginals)
    for ids, share in zip(outputs, p, strict=True):
        for t, label in enumerate(ids):
            expected[t, model.pairs.tag[label]] += share
    np.testing.assert_allclose(marginals, expected, atol=1e-12)
    best, _labels = model.kbest(observations, 4)
    order = np.argsort(-values, kind="stable")[:4]
    np.testing.assert_allclose(np.exp(best[:, 0]), p[order])
    assert model.decode(observations).tolist() == model.pairs.tag[list(outputs[order[0]])].tolist()


def test_the_gradient_by_finite_differences() -> None:
    training = SequenceTraining(penalty=L2(0.1), order=2)
    task = training.prepare(ItemFeatures(), X, Labels.from_sequences(Y))
    rng = np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_features)
    value, gradient = task.problem.loss_and_gradient(w)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    for k in rng.choice(len(w), 8, replace=False):
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


def test_two_tags_before_matter() -> None:
    assert SequenceLabeler(l1=0.0, l2=0.01).fit(X, Y).score(X[:2], Y[:2]) < 1
    assert fitted().score(X[:2], Y[:2]) == 1
    assert fitted(loss="hinge").score(X[:2], Y[:2]) == 1
    assert fitted().classes_.tolist() == ["a", "b", "x", "y"]


def test_given_tags_and_schemes() -> None:
    labeler = fitted()
    assert labeler.predict([[{"w": "?"}] * 3], given=[["y", None, None]]) == [["y", "x", "b"]]
    spans = [["B", "I", "O"], ["O", "B"], ["B", "B"]]
    free = [[{"w": "?"}] * len(tags) for tags in spans]
    labeler = SequenceLabeler(l1=0.0, l2=1.0, order=2, scheme="iob2").fit(free, spans)
    tags = labeler.model_.tags
    allowed = constraints(tags, "iob2")
    for tagging in labeler.predict([[{"w": "?"}] * n for n in range(1, 6)]):
        assert allowed.first_violation([tags.index(tag) for tag in tagging]) is None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_minimum_risk_is_about_tags(length: int) -> None:
    labeler = SequenceLabeler(l1=0.0, l2=2.0, order=2, decoding="minimum-risk").fit(X, Y)
    model, uncertain = labeler.model_, [[{"w": "?"}] * length]
    (marginals,) = labeler.predict_marginals(uncertain)
    taggings = {tuple(model.pairs.tag[list(ids)].tolist()) for ids in possible(model, length)}
    right = {tags: sum(marginals[t, y] for t, y in enumerate(tags)) for tags in taggings}
    (found,) = labeler.predict(uncertain)
    assert right[tuple(model.tags.index(tag) for tag in found)] == pytest.approx(max(right.values()))


def test_files_and_development_sets(tmp_path: Any) -> None:
    labeler = SequenceLabeler(l1=0.0, l2=0.01, order=2).fit(X, Y, dev=(X, Y))
    labeler.save(tmp_path / "second.model")
    again = SequenceLabeler.load(tmp_path / "second.model")
    assert again.model_.order == 2
    assert again.predict(X) == labeler.predict(X)
    np.testing.assert_array_equal(again.predict_marginals(X)[0], labeler.predict_marginals(X)[0])
    task = SequenceTraining(order=2).prepare(ItemFeatures(), X, Labels.from_sequences(Y))
    start = task.weights_of(labeler.model_)
    assert isinstance(start, Weights)
    assert start.n_active == len(labeler.model_.weights)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"order": 3}, Y, "order must be a whole number from 1 to 2, not 3"),
        ({"order": 2}, [["x", None, *Y[0][2:]], *Y[1:]], "order=2 needs every label"),
        ({"order": 2}, [["· → x", *Y[0][1:]], *Y[1:]], "no label may be"),
        ({"order": 2, "loss": "hinge", "solver": "sgd"}, Y, "any label may follow any other"),
        ({"order": 2, "solver": "bcd", "l1": 0.1}, Y, "any label may follow any other"),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(**settings).fit(X, y)
