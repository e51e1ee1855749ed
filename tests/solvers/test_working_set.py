"""Working sets: they stay small, and their duality gap bounds what is left."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.penalties import L1, ElasticNet
from parsimon.solvers import WorkingSet
from solver_toys import PENALTIES, TOYS, by_scipy, every_toy, set_up, solve
from toy_problems import Toy, make_toy


@every_toy
@pytest.mark.parametrize("name", ["l1", "elastic net", "elastic net, weighted"])
def test_the_duality_gap_bounds_what_is_left(toy: Toy, name: str) -> None:
    problem = set_up(toy, PENALTIES[name])
    optimum = by_scipy(problem)
    result = solve(WorkingSet(tol=1e-7, sizes=(3, 5)), problem)
    gaps = [(event.objective, event.gap) for event in result.history if event.gap is not None]
    assert len(gaps) >= 2
    for objective, gap in gaps:
        assert objective - optimum <= gap + 1e-9 * abs(optimum)
    if name == "l1":  # tight without an L2 part
        assert result.gap is not None
        assert result.gap <= 1e-4 * optimum


def test_there_is_no_gap_where_the_bound_does_not_hold() -> None:
    """With missing labels the problem is not convex, and unpenalised weights have no such dual."""
    partial = make_toy(1, missing=0.5).problem("log", L1(0.3))
    assert all(event.gap is None for event in solve(WorkingSet(), partial).history)
    exempt = set_up(TOYS["plain"], lambda n: ElasticNet(l1=0.4, l2=0.3).exempt(np.arange(3), n))
    assert all(event.gap is None for event in solve(WorkingSet(), exempt).history)


def test_working_sets_stay_small() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l1"])
    result = solve(WorkingSet(sizes=(3, 5), tol=1e-7), problem)
    sizes = [int(event.phase.split()[0]) for event in result.history if event.phase[0].isdigit()]
    assert max(sizes) < problem.n_features
    assert sizes[0] == 3
