"""L-BFGS: its inverse Hessian against the dense recursion, its line search, and the minimum it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L2, KLNorm
from parsimon.solvers import FISTA, LBFGS, Status, Weights
from parsimon.solvers.lbfgs import Everywhere, InverseHessian, SmoothTerms, backtrack
from solver_toys import TOYS, ended, every_toy, solve
from toy_problems import Toy

N = 7


def curved(random: Any, count: int) -> list[tuple[Any, Any]]:
    """Steps, and the changes of gradient that a convex quadratic has along them."""
    root = random.normal(size=(N, N))
    steps = random.normal(size=(count, N))
    return [(s, (root @ root.T + np.eye(N)) @ s) for s in steps]


def dense_inverse(pairs: list[tuple[Any, Any]]) -> Any:
    """H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ, from (s·y / y·y) I of the newest pair (Nocedal & Wright, eq. 6.17)."""
    if not pairs:
        return np.eye(N)
    s, y = pairs[-1]
    H = np.eye(N) * (s @ y) / (y @ y)
    for s, y in pairs:
        rho = 1 / (s @ y)
        left = np.eye(N) - rho * np.outer(s, y)
        H = left @ H @ left.T + rho * np.outer(s, s)
    return H


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_the_two_loops_are_the_dense_recursion(count: int) -> None:
    random = np.random.default_rng(count)
    memory, pairs = InverseHessian(4), curved(random, count)
    for s, y in pairs:
        memory.update(s, y)
    assert len(memory) == min(count, 4)
    H = dense_inverse(pairs[-4:])
    for v in random.normal(size=(3, N)):
        kept = v.copy()
        np.testing.assert_allclose(memory.times(v), H @ v, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(v, kept)
    if count:
        s, y = pairs[-1]
        np.testing.assert_allclose(memory.times(y), s, rtol=1e-9, atol=1e-12)  # the secant equation


def test_pairs_without_curvature_are_not_taken_in() -> None:
    memory, e = InverseHessian(4), np.eye(N)
    memory.update(e[0], -e[0])
    memory.update(e[0], e[1])
    assert len(memory) == 0
    memory.update(e[0], 2 * e[0])
    assert len(memory) == 1
    memory.clear()
    np.testing.assert_array_equal(memory.times(e[0]), e[0])


def test_a_change_of_features_keeps_what_is_known_of_those_that_stay() -> None:
    random = np.random.default_rng(0)
    old, new = np.array([0, 2, 3, 5, 8, 9, 11]), np.array([1, 2, 3, 8, 11, 12, 13])
    memory, pairs = InverseHessian(4), curved(random, 3)
    for s, y in pairs:
        memory.update(s, y)
    memory.carry(old, new)
    moved = []
    for s, y in pairs:
        there = [np.array([of[list(old).index(k)] if k in old else 0.0 for k in new]) for of in (s, y)]
        if there[0] @ there[1] > 0:
            moved.append((there[0], there[1]))
    assert len(memory) == len(moved) > 0
    v = random.normal(size=N)
    np.testing.assert_allclose(memory.times(v), dense_inverse(moved) @ v, rtol=1e-9, atol=1e-12)
    assert v @ memory.times(v) > 0


def test_the_line_search_halves_the_step_until_the_objective_falls_enough() -> None:
    def evaluate(step: float) -> tuple[float, Any, Any]:
        w = np.array([1.0 - step])
        return float(w[0] ** 2), w, 2 * w

    def slope(point: Any) -> float:
        return 2.0 * float(point[0] - 1.0)

    found = ended(backtrack(evaluate, 1.0, slope, 8.0))
    assert found is not None
    value, point, gradient, tried = found
    assert (value, point[0], gradient[0], tried) == (0.0, 0.0, 0.0, 4)  # 8, 4 and 2 do not do, 1 does
    assert ended(backtrack(evaluate, -1.0, slope, 8.0)) is None
    undefined = ended(backtrack(lambda step: (np.nan, np.zeros(1), np.zeros(1)), 1.0, slope, 1.0))
    assert undefined is None


def test_directions_that_go_uphill_are_turned() -> None:
    region, slope = Everywhere(), np.array([1.0, -2.0])
    np.testing.assert_array_equal(region.align(np.array([-1.0, 0.0]), slope), [-1.0, 0.0])
    np.testing.assert_array_equal(region.align(np.array([1.0, 0.0]), slope), -slope)


@every_toy
def test_the_gradient_vanishes_at_the_minimum(toy: Toy) -> None:
    problem = toy.problem("log", L2(0.5))
    result = solve(LBFGS(tol=1e-6), problem)
    assert result.status is Status.CONVERGED
    _, gradient = SmoothTerms(problem).evaluate(result.weights.dense())
    _, at_zero = SmoothTerms(problem).evaluate(np.zeros(problem.n_features))
    assert np.abs(gradient).max() <= 1e-6 * np.abs(at_zero).max()
    assert result.kkt == pytest.approx(np.abs(gradient).max(), rel=1e-6, abs=1e-15)


def test_a_smooth_penalty_that_is_no_parabola() -> None:
    problem = TOYS["real values"].problem("log", KLNorm(20.0, 0.3))
    other = solve(FISTA(tol=1e-9), problem, max_iter=5000)
    assert solve(LBFGS(tol=1e-9), problem).objective == pytest.approx(other.objective, rel=1e-10)


def test_a_start_far_away_leads_to_the_same_minimum() -> None:
    problem = TOYS["plain"].problem("log", L2(0.5))
    far = Weights(np.linspace(-30, 20, problem.n_features), None, problem.n_features)
    assert solve(LBFGS(tol=1e-9), problem, far).objective == pytest.approx(
        solve(LBFGS(tol=1e-9), problem).objective, rel=1e-12
    )
