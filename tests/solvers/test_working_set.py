"""Working sets: they stay small, and their duality gap bounds what is left."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.penalties import L1, ElasticNet
from parsimon.solvers import WorkingSet, drive
from parsimon.solvers.working_set import Mean, look_at_all
from parsimon.weights import Weights
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


def test_in_the_mean_later_iterates_count_more() -> None:
    mean = Mean()
    for values in ([6.0, 0.0, 0.0], [0.0, 3.0, 0.0], [2.0, 2.0, 0.0]):
        mean.take(Weights(np.array(values), np.array([1, 4, 7]), 9))
    assert mean.count == 3
    assert mean.weights.features is not None
    assert mean.weights.features.tolist() == [1, 4]  # what was never other than zero is not looked at
    assert mean.weights.values.tolist() == [2.0, 2.0]


def test_the_mean_of_iterates_has_a_better_bound_than_the_last() -> None:
    """And it is a bound: no weights have a lower objective."""
    problem = make_toy(3, lengths=tuple(range(2, 25)), n_node=40).problem("log", ElasticNet(0.3, 1e-4))
    start = Weights.zeros(problem.n_features)
    optimum = drive(WorkingSet(tol=1e-10), problem, start).objective
    iterates, better = [], 0
    for step in WorkingSet(tol=1e-6, steps=(20,)).iterate(problem, start):
        if step.phase == "all features":
            if len(iterates) > 10:
                mean = Mean()
                for weights in iterates:
                    mean.take(Weights(weights.dense(), np.arange(problem.n_features), problem.n_features))
                floor = look_at_all(problem, mean.weights, 0.8).floor
                assert floor <= optimum * (1 + 1e-12)
                better += floor > look_at_all(problem, iterates[-1], 0.8).floor
            iterates = []
        elif step.whole:
            iterates.append(step.weights.nonzero())
        if step.status is not None:
            break
    assert step.gap is not None
    assert step.objective - step.gap <= optimum * (1 + 1e-12)
    assert better > 0
