"""Sequences of one token without transitions are classification: the group lasso's optimum is that of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.designs import FlatDesign
from parsimon.features import Labels
from parsimon.features.item_features import MatrixFeatures, SparseSequences
from parsimon.penalties import GroupLasso
from parsimon.penalties.groups import Groups
from parsimon.structures.flat import FlatParts
from parsimon.tasks.sequences.training import SequenceTraining

N, D, SIZE = 80, 12, 3


@pytest.fixture(scope="module")
def flat() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    beta = np.concatenate([rng.normal(size=SIZE), np.zeros(D - SIZE)])
    return X, np.where(X @ beta + 0.5 * rng.normal(size=N) > 0, 1, -1)


def ours(X: Any, y: Any, strength: float) -> float:
    """Two labels have two weights a feature, at the optimum β/2 and −β/2: their norm is ‖β‖/√2."""
    from scipy.sparse import csr_matrix

    columns = np.repeat(np.arange(D) // SIZE, 2)
    lists = [np.flatnonzero(columns == m) for m in range(D // SIZE)]
    groups = Groups.from_lists(lists, 2 * D, weight="ones")
    training = SequenceTraining(penalty=GroupLasso(strength * np.sqrt(2), groups), tol=1e-8)
    labels = Labels.from_sequences([[f"{v}"] for v in y])
    space = MatrixFeatures(transitions=False)
    model = training.fit(space, SparseSequences(csr_matrix(X), np.ones(N, np.int32)), labels)
    return float(model.info["objective"])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_full_matrix_is_what_its_sparse_form_is(bias: bool, order: Any) -> None:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(1)
    X: Any = np.asarray(rng.normal(size=(11, 7)), order=order)
    full, sparse = FlatDesign.build(X, 2, bias=bias), FlatDesign.build(csr_matrix(X), 2, bias=bias)
    assert full.n_features == sparse.n_features == 7 + bias
    w, mu, kept = rng.normal(size=7 + bias), FlatParts(rng.normal(size=(11, 2))), np.array([1, 4, 5])
    gold, other = np.zeros(11, np.int64), rng.integers(2, size=11)
    few, half = slice(2, 9), FlatParts(mu.node[2:9].copy())
    for one, two, parts in (
        (full, sparse, mu),
        (full.restrict(kept), sparse.restrict(kept), mu),
        (full.part(few), sparse.part(few), half),
    ):
        mine, theirs = np.ones(one.n_features), np.ones(one.n_features)
        np.testing.assert_allclose(one.margins(w[: len(mine)]), two.margins(w[: len(mine)]))
        for design, out in ((one, mine), (two, theirs)):
            design.pullback(parts, out)
            design.pullback_squared(parts, out)
        np.testing.assert_allclose(mine, theirs)
    for mine, theirs in zip(
        full.differences(None, gold, other), sparse.differences(None, gold, other), strict=True
    ):
        for one, two in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, two)
    X[:] = 0.0  # what the caller does with it afterwards
    np.testing.assert_allclose(full.margins(w), sparse.margins(w))


@pytest.mark.parametrize("strength", [2.0, 6.0])
def test_cvxpy(flat: Any, strength: float) -> None:
    cp = pytest.importorskip("cvxpy")
    X, y = flat
    beta = cp.Variable(D)
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ beta)))
    omega = strength * sum(cp.norm(beta[m : m + SIZE]) for m in range(0, D, SIZE))
    expected = cp.Problem(cp.Minimize(loss + omega)).solve(solver=cp.CLARABEL)
    assert ours(X, y, strength) == pytest.approx(expected, rel=1e-6)


def test_skglm(flat: Any) -> None:
    skglm = pytest.importorskip("skglm")
    from skglm.datafits import LogisticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupProxNewton
    from skglm.utils.data import grp_converter

    X, y = flat
    indices, ptr = grp_converter(SIZE, D)
    strength = 3.0
    penalty = WeightedGroupL2(strength / N, np.ones(D // SIZE), ptr, indices)  # its loss is a mean
    model = skglm.GeneralizedLinearEstimator(
        LogisticGroup(ptr, indices), penalty, GroupProxNewton(tol=1e-10, fit_intercept=False)
    ).fit(X, y)
    beta = np.ravel(model.coef_)
    loss = np.logaddexp(0, -y * (X @ beta)).sum()
    omega = strength * sum(np.linalg.norm(beta[m : m + SIZE]) for m in range(0, D, SIZE))
    assert ours(X, y, strength) == pytest.approx(loss + omega, rel=1e-6)
