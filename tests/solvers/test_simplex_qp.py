"""The small quadratic program on a simplex: its optimality conditions, and what scipy finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from parsimon.solvers.simplex_qp import minimize_on_simplex


@pytest.mark.parametrize("seed", range(8))
def test_the_quadratic_program_on_a_simplex(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, rank = random.integers(1, 12), random.integers(1, 6)
    rows = random.normal(size=(n, rank))
    gram, offset = rows @ rows.T, random.normal(size=n)
    alpha = minimize_on_simplex(gram, offset, np.full(n, 1 / n))
    slope = gram @ alpha - offset
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1)
    assert slope.min() >= slope @ alpha - 1e-7  # no vertex lies lower


@pytest.mark.parametrize("seed", range(6))
def test_any_start_leads_to_the_minimum_that_scipy_finds(seed: int) -> None:
    random, n = np.random.default_rng(seed), 5
    rows = random.normal(size=(n, n))
    gram, offset = rows @ rows.T + 0.1 * np.eye(n), random.normal(size=n)

    def value(alpha: Any) -> float:
        return float(0.5 * alpha @ gram @ alpha - offset @ alpha)

    rest = {"type": "eq", "fun": lambda alpha: alpha.sum() - 1}
    found = minimize(value, np.full(n, 0.2), bounds=[(0, 1)] * n, constraints=rest, options={"ftol": 1e-12})
    for start in (np.full(n, 0.2), np.eye(n)[0], np.eye(n)[n - 1]):
        before = start.copy()
        alpha = minimize_on_simplex(gram, offset, start)
        assert value(alpha) == pytest.approx(found.fun, abs=1e-7)
        assert value(alpha) <= found.fun + 1e-9
        np.testing.assert_array_equal(start, before)


def test_points_that_are_the_same_need_no_inverse() -> None:
    gram = np.ones((3, 3))
    alpha = minimize_on_simplex(gram, np.array([0.0, 2.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(alpha, [0.0, 1.0, 0.0], atol=1e-9)
    assert minimize_on_simplex(np.ones((1, 1)), np.zeros(1), np.ones(1)).tolist() == [1.0]
