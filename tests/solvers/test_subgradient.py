"""Subgradient steps: near the optimum of the hinge loss, and converged only at an optimum."""

from __future__ import annotations

import pytest

from parsimon.solvers import OWLQN, Status, Subgradient
from solver_toys import PENALTIES, TOYS, set_up, solve
from toy_problems import Toy, by_cvxpy


@pytest.mark.parametrize("name", ["l1", "l2", "elastic net"])
@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
def test_subgradient_comes_near_the_optimum_of_the_hinge_loss(toy: Toy, name: str) -> None:
    problem = set_up(toy, PENALTIES[name], "hinge")
    result = solve(Subgradient(tol=1e-6, window=500), problem, max_iter=5000)
    optimum = by_cvxpy(toy, "hinge", problem.penalty)
    assert optimum * (1 - 1e-6) <= result.objective <= 1.05 * optimum


def test_subgradient_also_serves_the_log_loss() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["elastic net"])
    result = solve(Subgradient(tol=1e-7, window=300), problem, max_iter=5000)
    assert result.objective == pytest.approx(solve(OWLQN(), problem).objective, rel=1e-2)


def test_subgradient_says_converged_only_at_an_optimum() -> None:
    """Where the loss has become flat, the penalty may still pull: that is not an optimum."""
    problem = set_up(TOYS["plain"], PENALTIES["l2"], "hinge")
    result = solve(Subgradient(), problem)
    if result.status is Status.CONVERGED:
        _, gradient = problem.loss_and_gradient(result.weights.dense())
        assert problem.penalty.violation(result.weights.dense(), gradient).max() < 1e-3
    assert result.objective < 1.5
