"""The EM-style learner: M3Ns in turn with new variances, for every penalty that lies below parabolas."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from max_margin_toys import TOYS, checked, solve
from parsimon.penalties import L1, GroupLasso, KLNorm, SquaredL1
from parsimon.penalties.groups import Groups
from parsimon.solvers import Adaptive, CuttingPlane, FrankWolfe, OneSlack, Smoothing, Status, Subgradient
from toy_problems import Toy, make_toy


def test_any_m3n_solver_may_be_inside_the_em_learner() -> None:
    problem = TOYS["plain"].problem("hinge", L1(0.3))
    exact = solve(CuttingPlane(tol=1e-7), problem).objective
    for inner, near in ((FrankWolfe(), 1e-2), (OneSlack(), 1e-2), (Subgradient(window=200), 0.1)):
        found = solve(Adaptive(tol=1e-4, inner=inner), problem, 60)
        assert found.objective == pytest.approx(exact, rel=near), inner.name


def test_the_objective_of_the_em_learner_never_rises() -> None:
    problem = TOYS["real values"].problem("hinge", L1(0.3))
    heights = [event.objective for event in solve(Adaptive(tol=1e-6), problem).history]
    assert len(heights) > 5
    # M3Ns are learnt to a tolerance, which shows in the first rounds.
    assert all(after <= before * (1 + 1e-3) for before, after in pairwise(heights[3:]))


def test_the_papers_constraint_on_variances_is_a_squared_norm() -> None:
    """Σ_k τ_k = K is ‖w‖₁²/(2K); at its optimum that is an L1-M3N with ρ = ‖w‖₁/K."""
    toy = TOYS["plain"]
    squared = solve(Adaptive(tol=1e-7), toy.problem("hinge", SquaredL1(0.2)))
    norm = float(np.abs(squared.weights.values).sum())
    same = toy.problem("hinge", L1(0.2 * norm))
    assert same.objective(squared.weights.dense()) == pytest.approx(
        solve(CuttingPlane(tol=1e-7), same).objective, rel=1e-3
    )


@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
@pytest.mark.parametrize("sharpness", [0.1, 10.0])
def test_the_laplace_m3n_by_em_and_by_smoothing(toy: Toy, sharpness: float) -> None:
    problem = toy.problem("hinge", KLNorm(sharpness, 0.5))
    by_em = solve(Adaptive(tol=1e-6), problem)
    smoothed = solve(Smoothing(tol=1e-4), problem)
    assert smoothed.status is Status.CONVERGED
    assert checked(problem, by_em) == pytest.approx(smoothed.objective, rel=2e-3)


def test_whole_groups_of_features_by_em() -> None:
    """A group lasso lies below parabolas as well: one variance a group."""
    toy = make_toy(20, lengths=(4, 5, 3, 4), n_node=8, real=True)
    n = toy.index.n_features
    groups = Groups(np.arange(0, n + 1, 3), np.arange(n), np.ones(n // 3), n)
    problem = toy.problem("hinge", GroupLasso(0.6, groups=groups))
    smoothed = solve(Smoothing(tol=1e-4), problem)
    assert smoothed.status is Status.CONVERGED
    by_em = solve(Adaptive(tol=1e-6), problem)
    assert by_em.objective == pytest.approx(smoothed.objective, rel=2e-3)
    assert by_em.weights.n_active < n
