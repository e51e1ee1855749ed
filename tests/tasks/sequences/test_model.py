"""Sequence models: what is kept, what is predicted, and what is possible."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features import Columns, ItemFeatures, Labels
from parsimon.solvers import Weights
from parsimon.structures.label_schemes import forbid
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space

X, Y = make_data()


def model(**settings: Any) -> SequenceModel:
    return SequenceTraining(**{"l1": 0.2, **settings}).fit(space(), X, Y)


def test_only_features_with_a_weight_are_kept() -> None:
    small = model()
    assert small.n_labels == len(small.labels) == 3
    assert small.index.n_features == len(small.weights) < small.info["candidate_features"]
    assert np.all(small.weights != 0)
    task = SequenceTraining().prepare(space(), X, Y)
    none = SequenceModel.from_weights(
        task.labels, task.space, task.index, Weights.zeros(task.index.n_features), {}
    )
    assert len(none.weights) == none.space.n_node == none.space.n_pair == 0
    assert none.predict_columns(X).ids.shape == Y.ids.shape


@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_of_all_labellings_add_up_to_one(order: int) -> None:
    fitted = model(order=order)
    one = fitted.observe(Columns.from_sequences([["a0", "z", "b1"]]))
    number = {name: i for i, name in enumerate(fitted.tags)}
    p = {
        ids: np.exp(fitted.log_likelihood(one, Labels(np.array(ids, np.int32), np.array([3]), fitted.tags)))
        for ids in product(range(3), repeat=3)
    }
    assert sum(p.values()) == pytest.approx(1.0)
    best = sorted(p, key=lambda ids: -p[ids])
    assert tuple(fitted.decode(one).tolist()) == best[0]
    values, labels = fitted.kbest(one, 4)
    np.testing.assert_allclose(np.exp(values[:, 0]), [p[ids] for ids in best[:4]])
    assert [tuple(row) for row in labels.tolist()] == best[:4]
    assert sorted(number.values()) == [0, 1, 2]
    given = np.array([-1, best[3][1], -1], np.int32)
    assert fitted.decode(one, given=given)[1] == best[3][1]


def test_threads_and_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import parsimon.tasks.sequences.model as module

    fitted = model()
    seen = fitted.observe(X)
    whole = fitted.decode(seen)
    assert np.array_equal(fitted.decode(seen, threads=2), whole)
    monkeypatch.setattr(module, "BATCH", 1)
    assert np.array_equal(fitted.decode(seen), whole)
    assert len(list(fitted.scored(seen, 1))) > 1


def test_what_may_not_follow_does_not() -> None:
    fitted = model()
    allowed = forbid(fitted.tags, [("L0", "L0"), ("L1", "L1"), ("L2", "L2")])
    ids = fitted.decode(fitted.observe(X), allowed=allowed)
    last = np.cumsum(X.lengths) - 1
    inside = np.setdiff1d(np.arange(len(ids) - 1), last)
    assert np.all(ids[inside] != ids[inside + 1])


def test_labels_have_their_names() -> None:
    fitted = model()
    assert fitted.as_labels(np.array([2, 0], np.int32), np.array([2])).names == fitted.tags
    second = model(order=2)
    assert sorted(second.tags) == ["L0", "L1", "L2"]
    assert second.labels[:3] == second.tags
    assert len(second.labels) > 3


def test_how_many_columns_are_needed() -> None:
    assert model().needs_columns == 1
    items = SequenceTraining(l1=0.1).fit(
        ItemFeatures(), [[{"a": 1.0}]] * 2, Labels.from_sequences([["A"], ["B"]])
    )
    assert items.needs_columns == 0


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (np.nan, "are not numbers"),
        (1e250, "too large to compute with"),
        (1e60, "too large for probabilities"),
    ],
)
def test_scores_that_cannot_be_computed_with_are_refused(size: float, said: str) -> None:
    large = replace(model(), weights=model().weights * size)
    seen = large.observe(X)
    with pytest.raises(ParsimonError, match=said):
        large.marginals(seen)
    if size == 1e60:  # which is the best can be told
        assert len(large.decode(seen)) == seen.n_tokens
        return
    for ask in (large.decode, lambda seen: large.kbest(seen, 2)):
        with pytest.raises(ParsimonError, match=said):
            ask(seen)
