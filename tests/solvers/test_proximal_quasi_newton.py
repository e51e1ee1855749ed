"""The quadratic model of the proximal quasi-Newton solver against BFGS written out on dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.solvers.proximal_quasi_newton import CurvaturePairs, QuadraticModel, minimise


def bfgs(B: Any, s: Any, y: Any) -> Any:
    """One update of the matrix itself (Nocedal & Wright, eq. 6.19)."""
    Bs = B @ s
    return B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (s @ y)


def curved(random: Any, n: int, count: int) -> list[tuple[Any, Any]]:
    """Steps on a strictly convex quadratic, and how its gradient changes."""
    A = random.normal(size=(n, n))
    A = A @ A.T + 0.5 * np.eye(n)
    steps = [random.normal(size=n) for _ in range(count)]
    return [(s, A @ s) for s in steps]


def matrix(model: QuadraticModel) -> Any:
    """B, column by column."""
    n = len(model.gradient)
    return np.array([model.slope(e) - model.gradient for e in np.eye(n)]).T


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 9])
def test_the_model_is_that_of_the_newest_pairs(count: int) -> None:
    random = np.random.default_rng(count)
    n, memory = 12, 4
    D, damping = random.uniform(1, 2, n), 3.0
    pairs = CurvaturePairs(memory, damping)
    steps = curved(random, n, count)
    for s, y in steps:
        pairs.add(s, y)
        pairs.middle(D)  # what is kept from one time to the next must stay right
    expected = np.diag(damping * D)
    for s, y in steps[-memory:]:
        expected = bfgs(expected, s, y)
    model = QuadraticModel.build(np.zeros(n), D, pairs, np.arange(n))
    assert matrix(model) == pytest.approx(expected, abs=1e-8)
    chosen = np.array([1, 4, 5, 9])
    part = QuadraticModel.build(np.zeros(n), D, pairs, chosen)
    assert matrix(part) == pytest.approx(expected[np.ix_(chosen, chosen)], abs=1e-8)
    assert part.curvature == pytest.approx(np.diag(expected)[chosen], abs=1e-8)


def test_a_new_diagonal_is_taken_into_account() -> None:
    random = np.random.default_rng(1)
    pairs = CurvaturePairs(5, 1.0)
    for s, y in curved(random, 6, 3):
        pairs.add(s, y)
    first, second = random.uniform(1, 2, 6), random.uniform(1, 2, 6)
    fresh = CurvaturePairs(5, 1.0)
    for s, y in zip(pairs.columns[:, :6:2].T, pairs.columns[:, 1:6:2].T, strict=True):  # type: ignore[index]
        fresh.add(s, y)
    pairs.middle(first)
    assert pairs.middle(second) == pytest.approx(fresh.middle(second))


def test_pairs_without_curvature_are_not_taken_in() -> None:
    pairs = CurvaturePairs(5, 1.0)
    pairs.add(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    assert len(pairs) == 0


@pytest.mark.parametrize("count", [2, 4, 7])
def test_a_change_of_features_keeps_the_model_convex(count: int) -> None:
    random = np.random.default_rng(count)
    n = 8
    pairs = CurvaturePairs(4, 1.0)
    steps = curved(random, n, count)
    for s, y in steps:
        pairs.add(s, y)
    old, new = np.arange(n), np.array([0, 2, 3, 11])
    pairs.carry(old, new)
    kept = []
    for s, y in steps[-4:]:
        s, y = np.append(s[[0, 2, 3]], 0.0), np.append(y[[0, 2, 3]], 0.0)
        if s @ y > 0:
            kept.append((s, y))
    assert len(pairs) == len(kept)
    expected = np.eye(4)
    for s, y in kept:
        expected = bfgs(expected, s, y)
    found = matrix(QuadraticModel.build(np.zeros(4), np.ones(4), pairs, np.arange(4)))
    assert found == pytest.approx(expected, abs=1e-8)
    assert np.linalg.eigvalsh(found).min() > 0


@pytest.mark.parametrize("seed", range(5))
def test_the_penalised_model_is_minimised(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 15
    pairs = CurvaturePairs(6, 2.0)
    for s, y in curved(random, n, 5):
        pairs.add(s, y)
    gradient, D = 3 * random.normal(size=n), random.uniform(1, 2, n)
    model = QuadraticModel.build(gradient, D, pairs, np.arange(n))
    w, l1 = np.where(random.random(n) < 0.5, random.normal(size=n), 0.0), np.full(n, 0.7)
    d = minimise(model, w, l1, tol=1e-9, rounds=200)
    slope, x = model.slope(d), w + d
    assert slope[x != 0] == pytest.approx(-l1[x != 0] * np.sign(x[x != 0]), abs=1e-6)
    assert np.all(np.abs(slope[x == 0]) <= 0.7 + 1e-6)
