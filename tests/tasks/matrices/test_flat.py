"""Problems over the columns of a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, GroupLasso, Groups
from parsimon.solvers import Weights, choose_solver, drive
from parsimon.tasks.matrices.flat import accuracy_on, columns_of, flat_problem, with_gap

X = np.random.default_rng(0).normal(size=(40, 5))
Y = (X[:, 0] - X[:, 1] > 0).astype(int)


def test_least_squares_with_a_ridge_has_the_solution_of_the_normal_equations() -> None:
    y = X @ np.arange(5.0) + 1.0
    problem = flat_problem(X, y, 1, L2(2.0), "squared", bias=False)
    found = drive(choose_solver("lbfgs", problem, 1e-12), problem, Weights.zeros(5)).weights.dense()
    np.testing.assert_allclose(found, np.linalg.solve(X.T @ X + 2 * np.eye(5), X.T @ y), rtol=1e-6)


def test_the_bias_is_not_penalised() -> None:
    problem = flat_problem(X, Y, 2, L1(1e6))
    w = drive(choose_solver("auto", problem), problem, Weights.zeros(6)).weights.dense()
    assert np.count_nonzero(w[:-1]) == 0
    assert w[-1] == pytest.approx(np.log(Y.mean() / (1 - Y.mean())), abs=1e-3)


def test_the_score_on_other_rows_is_accuracy() -> None:
    weights = Weights(np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0]), None, 6)
    assert accuracy_on(X, Y, 1)(weights) == 1.0
    assert columns_of(weights.dense(), 5, 1, bias=True)[0].shape == (5, 1)


def test_a_gap_says_how_far_the_optimum_is() -> None:
    problem = flat_problem(X, Y, 2, L1(0.5))
    result = drive(choose_solver("fista", problem, 1e-8), problem, Weights.zeros(6))
    gap = with_gap(problem, result).gap
    assert gap is not None
    assert 0 <= gap < 1e-4 * result.objective


def test_what_does_not_fit() -> None:
    with pytest.raises(ParsimonError, match="these outputs need squared"):
        flat_problem(X, Y, 1, L1(1.0), "log")
    with pytest.raises(ParsimonError, match="make them for this matrix"):
        flat_problem(X, Y, 2, GroupLasso(1.0, Groups.from_lists([[0, 1]], 3)))
