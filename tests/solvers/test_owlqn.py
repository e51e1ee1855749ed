"""OWL-QN: its slope against one-sided differences, its orthants, and the minimum it finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L1, ElasticNet
from parsimon.solvers import FISTA, OWLQN
from parsimon.solvers.owlqn import Orthants, pseudo_gradient
from solver_toys import TOYS, every_toy, solve
from toy_problems import Toy

# All signs of a weight with gradients below, at and above the strength of the L1 norm, 0.5 or 2.
CASES = list(itertools.product([-1.5, 0.0, 1.5], [-2.0, -0.5, -0.25, 0.0, 0.25, 0.5, 2.0], [0.5, 2.0]))


@pytest.mark.parametrize(("w", "gradient", "l1"), CASES)
def test_the_slope_is_the_steepest_one_sided_derivative(w: float, gradient: float, l1: float) -> None:
    def objective(at: float) -> float:
        return gradient * at + l1 * abs(at)

    h = 1e-6
    right, left = ((objective(w + side * h) - objective(w)) / h for side in (1, -1))
    falls = min(right, left, 0.0)  # how fast the objective can fall
    slope = pseudo_gradient(np.array([w]), np.array([gradient]), l1)[0]
    assert -abs(slope) == pytest.approx(falls, abs=1e-8)
    if falls:
        assert slope == pytest.approx(right if right < 0 else -left, abs=1e-8)


def test_every_weight_may_have_a_strength_of_its_own() -> None:
    slope = pseudo_gradient(np.zeros(3), np.array([1.0, 1.0, -1.0]), np.array([0.0, 2.0, 0.25]))
    assert slope.tolist() == [1.0, 0.0, -0.75]


def test_steps_stay_in_the_orthant_and_go_downhill() -> None:
    random, region = np.random.default_rng(0), Orthants(0.7)
    for _ in range(50):
        w = random.normal(size=12) * (random.random(12) < 0.6)
        slope = region.slope(w, random.normal(size=12))
        direction = region.align(random.normal(size=12), slope)
        assert np.all(direction * slope <= 0)
        point = region.keep(w + 2 * direction, w, slope)
        assert np.all(point * w >= 0)  # none has changed its sign
        assert np.all(point[w == 0] * slope[w == 0] <= 0)  # from zero they go to the side that falls
        moved = point != w
        assert np.all((point[moved] == 0) | (point[moved] == (w + 2 * direction)[moved]))


@every_toy
def test_weights_without_l1_and_with_it_agree_with_fista(toy: Toy) -> None:
    n = toy.index.n_features
    penalty = ElasticNet(l1=0.3, l2=0.1, weight=np.random.default_rng(0).uniform(0.2, 2.0, n))
    problem = toy.problem("log", penalty)
    mine, other = (solve(solver, problem, max_iter=5000) for solver in (OWLQN(tol=1e-9), FISTA(tol=1e-9)))
    assert mine.objective == pytest.approx(other.objective, rel=1e-10)
    np.testing.assert_allclose(mine.weights.dense(), other.weights.dense(), atol=1e-5)


def test_a_memory_that_was_carried_over_is_used() -> None:
    problem: Any = TOYS["real values"].problem("log", L1(0.2))
    first = OWLQN(tol=1e-9)
    memory = first.new_memory()
    *_, last = first.iterate(problem, solve(OWLQN(tol=1e-1), problem).weights, memory)
    assert len(memory) > 0
    known = problem.evaluate(last.weights.dense())
    step = next(first.iterate(problem, last.weights, memory, known))
    assert step.evaluations <= 1  # the evaluation at the start was given
    assert step.objective == pytest.approx(last.objective, rel=1e-14)
