"""Problems over vectors: the loss by hand, biases without penalty, weights there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import LBFGS, Weights, drive
from parsimon.tasks.matrices.flat import (
    accuracy_on,
    as_weights,
    centred,
    closeness_on,
    columns_of,
    flat_problem,
    wide_groups,
    with_gap,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(20, 4))
CLASSES = RANDOM.integers(3, size=20)


def by_hand(W: Any, b: Any, n_labels: int, loss: str, gold: Any) -> float:
    """The sum of losses, written out."""
    scores = X @ W + b
    if loss == "squared":
        return float(0.5 * np.sum((scores[:, 0] - gold) ** 2 - gold**2 + gold**2))
    if n_labels == 2:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    right = scores[np.arange(20), gold]
    if loss == "log":
        return float(np.sum(np.log(np.exp(scores).sum(axis=1)) - right))
    cost = np.ones_like(scores)
    cost[np.arange(20), gold] = 0
    return float(np.sum((scores + cost).max(axis=1) - right))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("n_labels", "loss"), [(2, "log"), (3, "log"), (2, "hinge"), (3, "hinge"), (1, "squared")]
)
def test_the_loss_is_that_by_hand_up_to_a_constant(n_labels: int, loss: str, bias: bool) -> None:
    gold = RANDOM.normal(size=20) if n_labels == 1 else CLASSES % n_labels
    problem = flat_problem(X, gold, n_labels, L2(0.0), loss, bias=bias)
    width = 1 if n_labels < 3 else 3
    assert problem.n_features == (4 + bias) * width
    found, expected = [], []
    for _ in range(3):
        W, b = RANDOM.normal(size=(4, width)), RANDOM.normal(size=width) * bias
        weights = as_weights(W, b, bias=bias)
        found.append(problem.objective(weights.dense()))
        expected.append(by_hand(W, b, n_labels, loss, gold))
    np.testing.assert_allclose(np.diff(found), np.diff(expected))


def test_biases_have_no_penalty() -> None:
    problem = flat_problem(X, CLASSES % 2, 2, ElasticNet(2.0, 3.0))
    assert problem.penalty.value(np.array([0, 0, 0, 0, 7.0])) == 0.0
    assert problem.penalty.value(np.array([1.0, 0, 0, 0, 7.0])) == 3.5
    groups = GroupLasso(1.0, Groups.from_lists([[0, 1], [2, 3]], 4, weight="ones"))
    wide = flat_problem(X, CLASSES, 3, groups).penalty
    w = np.zeros(15)
    w[[0, 5]], w[12:] = (3.0, 4.0), 9.0
    assert wide.value(w) == pytest.approx(5.0)


def test_weights_of_instances() -> None:
    weights = RANDOM.integers(0, 3, 20)
    one = flat_problem(X, CLASSES, 3, L2(1.0), weights=weights.astype(float))
    other = flat_problem(np.repeat(X, weights, axis=0), np.repeat(CLASSES, weights), 3, L2(1.0))
    w = RANDOM.normal(size=15)
    assert one.objective(w) == pytest.approx(other.objective(w))


def test_weights_there_and_back() -> None:
    W, b = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3)
    for bias in (True, False):
        back = columns_of(as_weights(W, b, bias=bias).dense(), 4, 3, bias=bias)
        assert np.array_equal(back[0], W)
        assert np.array_equal(back[1], b if bias else np.zeros(3))
    assert centred(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]
    assert centred(np.array([1.5])).tolist() == [1.5]


def test_groups_of_columns_have_all_their_weights() -> None:
    groups = wide_groups(Groups.from_lists([[0, 2], [2]], 3), 2, 8)
    assert [groups.members(m).tolist() for m in range(2)] == [[0, 1, 4, 5], [4, 5]]
    assert wide_groups(Groups.from_lists([[0, 2]], 3), 1, 4).n_features == 4


def test_scores_on_other_data() -> None:
    w = as_weights(np.array([[1.0], [0], [0], [0]]), np.array([0.5]))
    assert accuracy_on(X, (X[:, 0] + 0.5 > 0).astype(int), 1)(w) == 1.0
    assert closeness_on(X, X[:, 0] + 2.5)(w) == pytest.approx(-4.0)


def test_what_is_refused() -> None:
    with pytest.raises(ParsimonError, match="the loss is squared, but these outputs need log or hinge"):
        flat_problem(X, CLASSES, 3, L1(1.0), "squared")
    with pytest.raises(ParsimonError, match="the loss is log, but these outputs need squared"):
        flat_problem(X, X[:, 0], 1, L1(1.0), "log")
    with pytest.raises(ParsimonError, match="the groups are of 3 columns, but the matrix has 4"):
        flat_problem(X, CLASSES, 3, GroupLasso(1.0, Groups.from_lists([[0]], 3)))


def test_the_gap_is_found_where_there_is_one() -> None:
    problem = flat_problem(X, CLASSES, 3, L2(1.0))
    result = drive(LBFGS(tol=1e-9), problem, Weights.zeros(problem.n_features))
    gap = with_gap(problem, result).gap
    assert gap is not None
    assert 0 <= gap < 1e-3
    assert with_gap(problem, with_gap(problem, result)).gap == gap
