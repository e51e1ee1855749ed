"""Proximal Newton on vectors: against CVXPY and other solvers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flat_problems import flat_toy, solved
from parsimon.penalties import ElasticNet, GroupLasso
from parsimon.solvers import LBFGS, ProximalNewton, Status, choose_solver
from parsimon.solvers.working_set import WorkingSet


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.0), (2.0, 0.1), (0.0, 1.0)])
def test_proximal_newton_is_cvxpys(n_labels: int, l1: float, l2: float) -> None:
    toy = flat_toy(10 + n_labels, n_labels=n_labels, weighted=True)
    problem = toy.problem(ElasticNet(l1, l2))
    result = solved(problem, ProximalNewton(tol=1e-7))
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(toy.optimum(0.0, l1, l2), rel=1e-6)
    other = solved(problem, WorkingSet(tol=1e-9)) if l1 else solved(problem, LBFGS(tol=1e-9))
    biases = problem.n_features - toy.X.shape[1] * (n_labels if n_labels > 2 else 1)  # only differences count
    np.testing.assert_allclose(result.weights.dense()[:-biases], other.weights.dense()[:-biases], atol=1e-4)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize(("strength", "l1", "l2"), [(1.0, 0.0, 0.0), (0.7, 0.2, 0.0), (2.0, 0.1, 0.5)])
def test_disjoint_groups_by_blocks(n_labels: int, strength: float, l1: float, l2: float, full: bool) -> None:
    lists = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9], [11, 12, 13]]  # columns 10 and 14 are in none
    toy = replace(
        flat_toy(20 + n_labels, n_labels=n_labels), lists=lists, weight=np.array([1.0, 0.5, 2.0, 1.0, 1.0])
    )
    if full:  # a matrix without gaps is worked on by columns
        toy = replace(toy, X=toy.X.toarray() + np.random.default_rng(0).normal(0, 0.3, toy.X.shape))
    problem = toy.problem(GroupLasso(strength, toy.groups, l1=l1, l2=l2))
    solver = choose_solver("auto", problem, 1e-8)
    assert solver.name == "proximal-newton"
    result = solved(problem, solver)
    assert result.objective == pytest.approx(toy.optimum(strength, l1, l2), rel=1e-6)
