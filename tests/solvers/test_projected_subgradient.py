"""Projected subgradient: the L1 penalty and the L1 ball."""

from __future__ import annotations

import numpy as np
import pytest

from max_margin_toys import TOYS, checked, solve
from parsimon.penalties import L1, ElasticNet, L1Ball
from parsimon.solvers import CuttingPlane, ProjectedSubgradient
from toy_problems import Toy, by_cvxpy, make_toy


@pytest.mark.parametrize("name", ["plain", "real values", "weighted"])
def test_projected_subgradient_agrees_too(name: str) -> None:
    """It has no certificate worth the name, and where features are of different sizes it takes its time."""
    toy = TOYS[name]
    problem = toy.problem("hinge", L1(0.6))
    learner = ProjectedSubgradient(tol=1e-4, patience=2000 if name == "real values" else 200)
    found = solve(learner, problem, 60_000)
    assert checked(problem, found) == pytest.approx(by_cvxpy(toy, "hinge", ElasticNet(l1=0.6)), rel=1e-3)


@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
@pytest.mark.parametrize("chunk", [None, 1])
def test_the_ball_whose_radius_is_the_norm_of_the_solution_has_the_same_solution(
    toy: Toy, chunk: int | None
) -> None:
    exact = solve(CuttingPlane(tol=1e-8), toy.problem("hinge", L1(0.3)))
    radius = float(np.abs(exact.weights.values).sum())
    ball = toy.problem("hinge", L1Ball(radius))
    learner = ProjectedSubgradient(tol=1e-4, patience=100, window=300, chunk=chunk)
    found = solve(learner, ball, 20_000 if chunk is None else 500)
    assert np.abs(found.weights.values).sum() <= radius * (1 + 1e-6)
    assert found.objective + 0.3 * radius == pytest.approx(
        exact.objective, rel=3e-3 if chunk is None else 5e-2
    )


def test_the_last_point_of_projected_subgradient_has_exact_zeros() -> None:
    problem = make_toy(18, lengths=(4, 4, 4, 4), n_node=20).problem("hinge", L1Ball(2.0))
    averaged = solve(ProjectedSubgradient(chunk=1), problem, 300)
    last = solve(ProjectedSubgradient(chunk=1, average=False), problem, 300)
    assert last.weights.n_active < averaged.weights.n_active
