"""The squared loss: its derivatives, and least squares in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from flat_problems import flat_toy, solved
from parsimon.losses import Squared
from parsimon.penalties import L2, ElasticNet
from parsimon.solvers import LBFGS
from parsimon.structures import FlatParts, Real


def test_squared_loss_is_half_the_squared_distance() -> None:
    toy = flat_toy(1, n_labels=1)
    problem = toy.problem(ElasticNet(), bias=False)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    assert problem.loss_and_gradient(w)[0] == pytest.approx(0.5 * np.sum((toy.X @ w - toy.gold) ** 2))


def test_the_gradient_is_the_residual_and_the_second_derivative_is_one() -> None:
    random = np.random.default_rng(0)
    scores, gold, weights = random.normal(size=(6, 1)), random.normal(size=6), random.random(6)
    numbers = Real(6, weights)
    value, parts = Squared()(numbers, FlatParts(scores.copy()), gold)
    assert value == pytest.approx(weights @ (scores[:, 0] - gold) ** 2 / 2)
    np.testing.assert_allclose(parts.node[:, 0], weights * (scores[:, 0] - gold))
    total, _, means = Squared().with_marginals(numbers, FlatParts(scores.copy()), gold)
    assert total == value
    each, _, _ = Squared().each(numbers, FlatParts(scores.copy()), gold)
    np.testing.assert_allclose(each, (scores[:, 0] - gold) ** 2 / 2)
    np.testing.assert_allclose(Squared().variances(numbers, means).node[:, 0], weights)
    for i in range(6):
        slopes = []
        for sign in (1, -1):
            moved = scores.copy()
            moved[i] += sign * 1e-5
            slopes.append(Squared()(numbers, FlatParts(moved), gold)[0])
        assert (slopes[0] - slopes[1]) / 2e-5 == pytest.approx(parts.node[i, 0], abs=1e-8)


def test_least_squares_have_the_solution_of_the_normal_equations() -> None:
    toy = flat_toy(2, n_labels=1)
    problem = toy.problem(L2(0.7), bias=False)
    X = toy.X.toarray()
    wanted = np.linalg.solve(X.T @ X + 0.7 * np.eye(X.shape[1]), X.T @ toy.gold)
    found = solved(problem, LBFGS(tol=1e-9)).weights.dense()
    np.testing.assert_allclose(found, wanted, atol=1e-6)
