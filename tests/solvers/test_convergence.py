"""What "converged" means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, KLNorm, L1Ball, SquaredL1
from parsimon.penalties.groups import Groups
from parsimon.solvers import WorkingSet, drive
from parsimon.solvers.base import Status
from parsimon.solvers.convergence import OF_FIRST, VIOLATIONS, Goal, goal_of, scale_at_zero
from parsimon.weights import Weights
from toy_problems import make_toy

GROUPS = Groups.from_lists([[0, 1], [2]], 3)


def test_violations_go_by_the_strength_and_gaps_by_the_objective() -> None:
    goal = Goal(violation=0.005, gap=1e-4)
    assert goal.reached(0.005)
    assert not goal.reached(0.0051)
    assert goal.reached(0.004, gap=0.01, objective=100.0)
    assert not goal.reached(0.004, gap=0.011, objective=100.0)
    assert goal.reached(0.004, gap=0.01, objective=-100.0)


def test_where_only_the_gap_is_too_large_violations_must_be_smaller() -> None:
    goal = Goal(violation=0.005, gap=1e-4)
    assert goal.aim(0.004) == 0.002
    assert goal.aim(0.006) == 0.005
    assert (
        goal.aim(0.004, gap=0.04, objective=100.0) == 0.002
    )  # four times too large, and it goes with the square
    assert goal.aim(0.004, gap=0.16, objective=100.0) == 0.001
    assert goal.aim(0.004, gap=16.0, objective=100.0) == 0.0004  # no further at a time
    assert goal.aim(0.004, gap=0.011, objective=100.0) == 0.002


@pytest.mark.parametrize(
    ("penalty", "threshold"),
    [
        (L1(0.3), 0.3),
        (L2(0.3), 0.0),
        (ElasticNet(0.3, 2.0), 0.3),
        (KLNorm(10.0, strength=2.0), 0.0),
        (L1Ball(4.0), 0.0),
        (SquaredL1(4.0), 0.0),
        (GroupLasso(0.7, GROUPS, l1=0.2), 0.7),
        (GroupLasso(0.0, GROUPS, l1=0.2), 0.2),
    ],
    ids=str,
)
def test_the_slope_at_which_features_come_in(penalty: Any, threshold: float) -> None:
    assert penalty.threshold == threshold


def test_the_measure_is_the_strength_where_there_is_one() -> None:
    problem = make_toy(2).problem("log", L1(0.3))
    zero = np.zeros(problem.n_features)
    for start, first in ((zero + 1.0, 17.0), (zero + 1.0, 0.01), (zero, 17.0)):
        assert goal_of(problem, 1e-4, start, first) == (Goal(VIOLATIONS * 1e-4 * 0.3, 1e-4), 0)
    near_nothing, _ = goal_of(problem, 1e-4, zero, 0.01)
    assert near_nothing.violation == pytest.approx(VIOLATIONS * 1e-4 * 0.01)


def test_the_measure_of_smooth_problems_is_the_violation_at_zero() -> None:
    problem = make_toy(2).problem("log", L2(0.3))
    zero = np.zeros(problem.n_features)
    first = float(np.abs(problem.loss_and_gradient(zero)[1]).max())
    assert scale_at_zero(problem) == pytest.approx(first)
    at_zero, none = goal_of(problem, 1e-4, zero, first)
    elsewhere, one = goal_of(problem, 1e-4, zero + 1.0, 17.0)
    assert at_zero.violation == pytest.approx(VIOLATIONS * 1e-4 * OF_FIRST * first)
    assert elsewhere.violation == pytest.approx(at_zero.violation)
    assert (none, one) == (0, 1)
    assert goal_of(problem, 0.0, zero + 1.0, 17.0) == (Goal(0.0, 0.0), 0)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-8])
def test_the_objective_is_within_the_tolerance_of_the_optimum(tol: float) -> None:
    problem = make_toy(2).problem("log", ElasticNet(0.3, 0.01))
    start = Weights.zeros(problem.n_features)
    optimum = drive(WorkingSet(tol=1e-11), problem, start)
    result = drive(WorkingSet(tol=tol), problem, start)
    assert result.status is Status.CONVERGED
    assert result.gap is not None
    assert result.kkt is not None
    assert result.objective - optimum.objective <= result.gap * (1 + 1e-9) + 1e-12
    assert result.gap <= tol * result.objective
    assert result.kkt <= 100 * tol * 0.3
