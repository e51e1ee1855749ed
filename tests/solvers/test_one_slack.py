"""Cutting planes with one slack variable: bounds from both sides close in on the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from max_margin_toys import TOYS, every_toy, solve
from parsimon.penalties import L2
from parsimon.solvers import OneSlack, Status
from toy_problems import Toy, by_cvxpy


def test_one_slack_also_serves_the_log_loss() -> None:
    toy = TOYS["plain"]
    result = solve(OneSlack(tol=1e-6), toy.problem("log", L2(0.5)))
    assert result.objective == pytest.approx(by_cvxpy(toy, "log", L2(0.5)), rel=2e-6)


@every_toy
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_bounds_close_in_on_the_optimum(toy: Toy, loss: str) -> None:
    """The lowest objective only falls, the bound from below only rises, and the optimum is between them."""
    problem, optimum = toy.problem(loss, L2(0.2)), by_cvxpy(toy, loss, L2(0.2))
    events = solve(OneSlack(tol=1e-6), problem).history
    heights = np.array([event.objective for event in events])
    bounds = heights - np.array([event.gap for event in events])
    assert np.all(np.diff(heights) <= 0)
    assert np.all(np.diff(bounds) >= 0)
    assert np.all(heights >= optimum * (1 - 1e-7) - 1e-9)
    assert np.all(bounds <= optimum * (1 + 1e-7) + 1e-9)


@pytest.mark.parametrize("idle", [1, 5])
def test_planes_that_do_not_count_can_be_forgotten(idle: int) -> None:
    problem = TOYS["real values"].problem("hinge", L2(0.1))
    forgetful, other = (solve(OneSlack(tol=1e-6, idle=n), problem) for n in (idle, 10_000))
    assert forgetful.status is Status.CONVERGED
    assert forgetful.objective == pytest.approx(other.objective, rel=2e-6)
