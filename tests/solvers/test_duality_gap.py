"""How far weights are from the optimum: never less than they are by CVXPY, and nothing at the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flat_problems import flat_toy, solved
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, L1Ball, SentenceLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import ADMM, ProximalNewton, Weights, choose_solver, drive
from parsimon.solvers.duality_gap import duality_gap, without_penalty
from parsimon.tasks.matrices.flat import flat_problem

LISTS = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9], [11, 12, 13]]  # columns 10 and 14 are in none
STRENGTHS = [
    (0.0, 0.5, 0.0),
    (0.0, 0.3, 0.2),
    (0.0, 0.0, 0.7),
    (0.8, 0.0, 0.3),
    (0.8, 0.2, 0.0),
    (0.5, 0.1, 0.4),
]


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize(("strength", "l1", "l2"), STRENGTHS)
def test_the_gap_bounds_what_is_left(n_labels: int, strength: float, l1: float, l2: float) -> None:
    toy = replace(flat_toy(4, n_labels=n_labels, weighted=True), lists=LISTS, weight=np.ones(5))
    penalty = GroupLasso(strength, toy.groups, l1=l1, l2=l2) if strength else ElasticNet(l1, l2)
    problem = toy.problem(penalty)
    optimum, random = toy.optimum(strength, l1, l2), np.random.default_rng(0)
    best = solved(problem, ProximalNewton(tol=1e-9))
    anywhere = [size * random.normal(size=problem.n_features) for size in (0.0, 0.1, 1.0)]
    for w in [*anywhere, *(share * best.weights.dense() for share in (0.5, 0.9, 0.99))]:
        gap = duality_gap(problem, w)
        assert gap is not None
        assert problem.objective(w) - optimum <= gap * (1 + 1e-9) + 1e-6
    gap = duality_gap(problem, best.weights.dense())
    assert gap is not None
    assert 0 <= gap <= 1e-4 * optimum


def test_the_gap_of_groups_is_that_of_admm() -> None:
    toy = replace(flat_toy(5), lists=LISTS, weight=np.ones(5))
    problem = toy.problem(GroupLasso(0.8, toy.groups, l1=0.1))
    result = solved(problem, ADMM(tol=1e-5))
    assert result.gap is not None
    gap = duality_gap(problem, result.weights.dense())
    assert gap is not None
    optimum = toy.optimum(0.8, 0.1)
    assert result.objective - optimum <= gap + 1e-6


def test_there_is_no_gap_without_a_bound() -> None:
    toy = flat_toy(6)
    w = np.zeros(toy.X.shape[1] + 1)
    assert duality_gap(toy.problem(L1(0.3), loss="hinge"), w) is None
    assert duality_gap(toy.problem(L1Ball(3.0), bias=False), w[:-1]) is None
    assert duality_gap(toy.problem(SentenceLasso(0.3, toy.groups)), w) is None


def test_where_there_is_only_one_class_all_that_is_left_can_be_gained() -> None:
    """The bias grows for ever, and the objective tends to zero; the gap may be infinite, but not smaller."""
    problem = replace(flat_toy(7), gold=np.zeros(60, int)).problem(L1(0.3))
    for w in (np.zeros(16), np.append(np.full(15, 0.1), -2.0)):
        gap = duality_gap(problem, w)
        assert gap is not None
        assert gap >= problem.objective(w) * (1 - 1e-9)


GROUPS = Groups.from_lists(LISTS, 15, weight=[1.0, 0.0, 2.0, 1.0, 1.0])
SOME = np.array([1, 9])


@pytest.mark.parametrize(
    "penalty",
    [
        L1(0.5),
        L2(0.5),
        ElasticNet(),
        ElasticNet(0.3, 0.1).exempt(SOME, 15),
        GroupLasso(0.5, GROUPS),
        GroupLasso(0.5, GROUPS).exempt(SOME, 15),
        GroupLasso(0.5, GROUPS, l1=0.1),
        GroupLasso(0.5, GROUPS, l2=0.1).exempt(SOME, 15),
        GroupLasso(0.0, GROUPS),
        GroupLasso(0.0, GROUPS, l2=0.1),
    ],
    ids=str,
)
def test_what_is_not_penalised_costs_nothing(penalty: Any) -> None:
    free = without_penalty(penalty, 15)
    costs = [penalty.value(7.0 * np.eye(15)[k]) for k in range(15)]
    np.testing.assert_array_equal(free, np.array(costs) == 0)


@pytest.mark.parametrize("l1", [0.0, 0.4])
def test_the_bound_holds_for_ridges_that_differ(l1: float) -> None:
    """At the optimum the gap is nearly zero, and nowhere below the distance from it."""
    random = np.random.default_rng(0)
    X, gold = random.normal(size=(40, 6)), random.integers(0, 2, 40)
    bend = np.append(np.array([0.01, 0.1, 1.0, 3.0, 10.0, 50.0]), 1.0)
    problem = flat_problem(X, gold, 2, ElasticNet(l1, 0.5, bend=bend[:-1]))
    best = drive(choose_solver("auto", problem, 1e-10), problem, Weights.zeros(7)).weights.dense()
    optimum = problem.objective(best)
    gap = duality_gap(problem, best)
    assert gap is not None
    assert gap < 1e-4 * optimum
    for scale in (0.0, 0.5, 1.5):
        w = scale * best
        w[-1] = best[-1]
        gap = duality_gap(problem, w)
        assert gap is not None
        assert gap >= problem.objective(w) - optimum - 1e-9
