"""Cutting planes with one slack variable."""

from __future__ import annotations

import pytest

from max_margin_toys import TOYS, solve
from parsimon.penalties import L2
from parsimon.solvers import OneSlack
from toy_problems import by_cvxpy


def test_one_slack_also_serves_the_log_loss() -> None:
    toy = TOYS["plain"]
    result = solve(OneSlack(tol=1e-6), toy.problem("log", L2(0.5)))
    assert result.objective == pytest.approx(by_cvxpy(toy, "log", L2(0.5)), rel=2e-6)
