"""Solvers for penalties on groups: all find what CVXPY finds, and no bound is above it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from group_toys import (
    SOLVERS_FOR_GROUPS,
    TOYS,
    crossing,
    every_penalty,
    every_toy,
    loss_by_cvxpy,
    optimum_by_cvxpy,
    penalty_by_cvxpy,
    solve,
    thirds,
)
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, OverlappingGroupLasso
from parsimon.solvers import FISTA, Smoothing, Status, WorkingSet, choose_solver
from parsimon.solvers.certificate import lower_bound
from toy_problems import Toy


@every_toy
@every_penalty
@pytest.mark.parametrize("solver", SOLVERS_FOR_GROUPS.values(), ids=SOLVERS_FOR_GROUPS)
def test_the_optimum_is_that_of_cvxpy(toy: Toy, make_penalty: Any, solver: Any) -> None:
    penalty = make_penalty(toy.index.n_features)
    problem = toy.problem("log", penalty)
    result = solve(solver, problem)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(optimum_by_cvxpy(toy, "log", penalty), rel=1e-6)
    w = result.weights.dense()
    _, gradient = problem.loss_and_gradient(w)
    assert np.max(penalty.group_violation(w, gradient)) <= 1e-5


@every_toy
@every_penalty
def test_the_gap_bounds_what_is_left(toy: Toy, make_penalty: Any) -> None:
    penalty = make_penalty(toy.index.n_features)
    problem = toy.problem("log", penalty)
    optimum = solve(FISTA(tol=1e-9), problem).objective
    history = solve(
        WorkingSet(tol=1e-7, inner=FISTA(tol=0.0), steps=(3, 10, 2000), new_groups=1), problem
    ).history
    gaps = [(event.objective, event.gap) for event in history if event.gap is not None]
    assert len(gaps) >= 2
    assert all(objective - optimum <= gap + 1e-9 for objective, gap in gaps)
    if penalty.l2 == 0:
        assert gaps[-1][1] <= 1e-4 * optimum


@every_toy
@pytest.mark.parametrize("name", ["l1", "l2", "elastic net", "group lasso"])
def test_structural_svms_have_a_certified_optimum_too(toy: Toy, name: str) -> None:
    n = toy.index.n_features
    penalty: Any = {
        "l1": L1(0.3),
        "l2": L2(0.5),
        "elastic net": ElasticNet(0.2, 0.3),
        "group lasso": GroupLasso(0.25, thirds(n)),
    }[name]
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(n)
    if name == "group lasso":
        omega = penalty_by_cvxpy(penalty, w)
    else:
        omega = penalty.l1 * cp.norm1(w) + penalty.l2 / 2 * cp.sum_squares(w)
    optimum = cp.Problem(cp.Minimize(loss_by_cvxpy(toy, "hinge", w) + omega)).solve(solver=cp.CLARABEL)
    result = solve(Smoothing(tol=1e-3), toy.problem("hinge", penalty))
    assert result.gap is not None
    assert result.objective >= optimum * (1 - 1e-6)
    assert result.objective - optimum <= result.gap + 1e-6
    if name != "elastic net":  # its bound leaves the L2 part out
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(optimum, rel=2e-3)


def test_a_bound_is_never_above_the_optimum() -> None:
    toy, rng = TOYS["plain"], np.random.default_rng(0)
    n = toy.index.n_features
    for penalty in (L1(0.3), L2(0.5), GroupLasso(0.25, thirds(n)), OverlappingGroupLasso(0.2, crossing(n))):
        problem = toy.problem("log", penalty)
        optimum = solve(choose_solver("auto", problem, 1e-8), problem).objective
        for _ in range(20):
            w = rng.normal(size=n)
            loss, gradient = problem.loss_and_gradient(w)
            assert lower_bound(loss - w @ gradient, gradient, penalty) <= optimum + 1e-9
