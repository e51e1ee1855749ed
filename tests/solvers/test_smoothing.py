"""Smoothed hinge losses: certified optima, and the bounds that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from max_margin_toys import COSTS, TOYS, every_toy, solve
from parsimon.losses import Hinge, SmoothedHinge
from parsimon.penalties import L1, KLNorm
from parsimon.solvers import CuttingPlane, Smoothing, Weights
from parsimon.solvers.smoothing import above_hinge, expected_cost
from toy_problems import Toy


def test_a_sharp_laplace_m3n_is_an_l1_m3n() -> None:
    """Ω/√λ tends to the L1 norm as λ grows."""
    toy = TOYS["plain"]
    exact = solve(CuttingPlane(tol=1e-7), toy.problem("hinge", L1(0.4))).objective
    apart = []
    for sharpness in (1e0, 1e3, 1e6):
        penalty = KLNorm(sharpness, 0.4 / np.sqrt(sharpness))
        apart.append(abs(solve(Smoothing(tol=1e-4), toy.problem("hinge", penalty)).objective / exact - 1))
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 0.01


@every_toy
def test_smoothing_lies_within_its_reach(toy: Toy) -> None:
    """The smoothed loss is above the hinge loss by no more than is said; at w = 0 without a cost by exactly that."""
    rng = np.random.default_rng(1)
    for cost in COSTS.values():
        smooth, hinge = toy.problem(SmoothedHinge(0.7, cost)), toy.problem(Hinge(cost))
        for _ in range(5):
            w = rng.normal(size=smooth.n_features)
            above = smooth.loss_and_gradient(w)[0] - hinge.loss_and_gradient(w)[0]
            assert -1e-9 <= above <= above_hinge(smooth) + 1e-9
    free = toy.problem(SmoothedHinge(0.7, 0.0))
    assert free.loss_and_gradient(np.zeros(free.n_features))[0] == pytest.approx(above_hinge(free))


@every_toy
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_expected_cost_of_a_problem_by_enumeration(toy: Toy, cost: Any) -> None:
    smooth = toy.problem(SmoothedHinge(0.7, cost))
    n = smooth.n_features
    w = np.random.default_rng(3).normal(size=n)
    table: Any = cost * (1 - np.eye(3)) if np.isscalar(cost) else cost
    wanted = 0.0
    for tokens, weight, outputs in toy.enumerations(w):
        costs = table[toy.gold[tokens], outputs.labellings].sum(axis=1)
        p = np.exp((outputs.scores + costs) / 0.7)
        wanted += weight * float(p @ costs / p.sum())
    expected, gradient = expected_cost(smooth, Weights(w, np.arange(n), n))
    assert expected == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(gradient, smooth.loss_and_gradient(w)[1], atol=1e-12)
