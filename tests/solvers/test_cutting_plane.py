"""Cutting planes for the L1-M3N."""

from __future__ import annotations

from max_margin_toys import solve
from parsimon.penalties import L1
from parsimon.solvers import Adaptive, CuttingPlane
from toy_problems import make_toy


def test_cutting_plane_and_em_find_the_same_features() -> None:
    problem = make_toy(19, lengths=(4, 5, 3, 4, 5), n_node=30, real=True).problem("hinge", L1(0.5))
    exact = solve(CuttingPlane(tol=1e-9), problem)
    by_em = solve(Adaptive(tol=1e-8, drop=1e-3), problem)
    assert 0 < exact.weights.n_active < 0.3 * problem.n_features
    assert set(exact.weights.nonzero().features) <= set(by_em.weights.nonzero().features)  # type: ignore[arg-type]
    assert by_em.weights.n_active <= 2 * exact.weights.n_active
    assert exact.support is not None
    assert exact.support <= exact.weights.n_active + len(problem.batches) * 5  # a vertex of the program
