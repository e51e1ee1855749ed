"""Cutting planes for the L1-M3N: bounds, settings, and the features that are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from max_margin_toys import TOYS, every_toy, solve
from parsimon.penalties import L1
from parsimon.solvers import Adaptive, CuttingPlane, Status
from toy_problems import Toy, by_cvxpy, make_toy


def test_cutting_plane_and_em_find_the_same_features() -> None:
    problem = make_toy(19, lengths=(4, 5, 3, 4, 5), n_node=30, real=True).problem("hinge", L1(0.5))
    exact = solve(CuttingPlane(tol=1e-9), problem)
    by_em = solve(Adaptive(tol=1e-8, drop=1e-3), problem)
    assert 0 < exact.weights.n_active < 0.3 * problem.n_features
    assert set(exact.weights.nonzero().features) <= set(by_em.weights.nonzero().features)  # type: ignore[arg-type]
    assert by_em.weights.n_active <= 2 * exact.weights.n_active
    assert exact.support is not None
    assert exact.support <= exact.weights.n_active + len(problem.batches) * 5  # a vertex of the program


@every_toy
def test_bounds_close_in_on_the_optimum(toy: Toy) -> None:
    """From rough weights on, every round has a lower bound that holds, and an objective that no other is below."""
    problem, optimum = toy.problem("hinge", L1(0.2)), by_cvxpy(toy, "hinge", L1(0.2))
    events = [event for event in solve(CuttingPlane(tol=1e-8), problem).history if event.gap is not None]
    assert events
    heights = np.array([event.objective for event in events])
    bounds = heights - np.array([event.gap for event in events])
    assert np.all(np.diff(heights) <= 0)
    assert np.all(np.diff(bounds) >= -1e-12)
    assert np.all(bounds <= optimum * (1 + 1e-7) + 1e-9)
    assert heights[-1] == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize(
    "setting", [{"rough": 0.5}, {"between": ()}, {"between": (0.5,)}, {"idle": 2}, {"idle": 100}], ids=str
)
def test_settings_do_not_change_the_optimum(setting: dict[str, Any]) -> None:
    problem = TOYS["real values"].problem("hinge", L1(0.2))
    wanted = by_cvxpy(TOYS["real values"], "hinge", L1(0.2))
    result = solve(CuttingPlane(tol=1e-7, **setting), problem)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(wanted, rel=1e-6)


def test_margins_may_be_violated_a_little() -> None:
    """With ε, it ends when no margin is violated by more: then the objective is at most Σ c_i ε too high."""
    toy = TOYS["real values"]
    problem, wanted = toy.problem("hinge", L1(0.2)), by_cvxpy(toy, "hinge", L1(0.2))
    result = solve(CuttingPlane(tol=0.0, epsilon=0.1), problem)
    assert wanted * (1 - 1e-7) <= result.objective <= wanted + 0.1 * len(toy.observations.lengths)
