"""Penalties on groups by proximal gradient and quasi-Newton in turn: against CVXPY, FISTA and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from group_toys import PENALTIES, TOYS, crossing, every_penalty, every_toy, optimum_by_cvxpy, solve, thirds
from parsimon.penalties import GroupLasso, OverlappingGroupLasso
from parsimon.solvers import FISTA, Status, Weights
from parsimon.solvers.active_groups import ActiveGroups, AwayFromZero, working_set_groups
from toy_problems import Toy


@every_toy
@every_penalty
def test_the_optimum_is_that_of_cvxpy(toy: Toy, make_penalty: Any) -> None:
    penalty = make_penalty(toy.index.n_features)
    problem = toy.problem("log", penalty)
    optimum = optimum_by_cvxpy(toy, "log", penalty)
    for solver in (ActiveGroups(tol=1e-7), working_set_groups(tol=1e-7)):
        result = solve(solver, problem)
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("name", [name for name in PENALTIES if "largest" not in name])
def test_away_from_zero_a_penalty_on_groups_is_differentiable(name: str) -> None:
    n = 12
    penalty = PENALTIES[name](n)
    smooth = AwayFromZero(penalty)
    w = np.random.default_rng(0).normal(size=n)
    gradient = smooth.smooth_gradient(w)
    for k in range(n):
        e = 1e-6 * (np.arange(n) == k)
        slope = (penalty.value(w + e) - penalty.value(w - e)) / 2e-6
        assert gradient[k] + penalty.l1 * np.sign(w[k]) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    assert smooth.value(w) == penalty.value(w)
    assert smooth.scaled(2.0).strength == 2.0


def test_a_group_that_has_become_zero_pulls_no_more() -> None:
    penalty = AwayFromZero(GroupLasso(0.5, thirds(9)))
    w = np.array([0.0, 0.0, 0.0, 3.0, 0.0, 4.0, 1.0, 1.0, 1.0])
    gradient = penalty.smooth_gradient(w)
    np.testing.assert_array_equal(gradient[:3], 0.0)
    np.testing.assert_allclose(gradient[3:6], 0.5 * np.sqrt(3) * np.array([0.6, 0.0, 0.8]))
    some = penalty.restrict(np.array([3, 5]))
    np.testing.assert_allclose(some.smooth_gradient(w[[3, 5]]), 0.5 * np.sqrt(3) * np.array([0.6, 0.8]))


@pytest.mark.parametrize(("make", "strength"), [(GroupLasso, 0.02), (OverlappingGroupLasso, 0.1)])
def test_quasi_newton_saves_evaluations(make: Any, strength: float) -> None:
    toy = TOYS["real values"]
    n = toy.index.n_features
    groups = thirds(n) if make is GroupLasso else crossing(n)
    problem = toy.problem("log", make(strength, groups))
    turns, steps = (solve(solver, problem) for solver in (ActiveGroups(tol=1e-6), FISTA(tol=1e-6)))
    assert turns.objective == pytest.approx(steps.objective, rel=1e-7)
    assert turns.history[-1].evaluations < steps.history[-1].evaluations


def test_groups_may_go_to_zero_and_come_back() -> None:
    toy = TOYS["plain"]
    problem = toy.problem("log", GroupLasso(0.3, thirds(toy.index.n_features)))
    wanted = solve(FISTA(tol=1e-9), problem)
    n, groups = problem.n_features, problem.penalty.groups
    assert groups is not None
    alive = groups.norms(wanted.weights.dense()) > 0
    start = np.where(groups.spread(alive.astype(float)) > 0, 0.0, 1.0)  # just the wrong ones
    *_, last = ActiveGroups(tol=1e-8).iterate(problem, Weights(start, None, n))
    assert last.objective == pytest.approx(wanted.objective, rel=1e-9)
    np.testing.assert_array_equal(groups.norms(last.weights.dense()) > 0, alive)
