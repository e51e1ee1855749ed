"""Gauss–Seidel: only the weights of a block move, and a block is the problem with all others fixed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet
from parsimon.solvers import LBFGS, GaussSeidel, Status, Weights
from parsimon.solvers.gauss_seidel import Block
from solver_toys import TOYS, every_toy, solve
from toy_problems import Toy


@every_toy
@pytest.mark.parametrize("unit", [1, 4])
def test_only_the_weights_of_a_block_move(toy: Toy, unit: int) -> None:
    problem = toy.problem("log", L1(0.2))
    before, moved = np.zeros(problem.n_features), []
    for step in GaussSeidel(unit=unit, tol=1e-3).iterate(problem, Weights.zeros(problem.n_features)):
        now = step.weights.dense()
        moved.append(np.count_nonzero(now != before))
        before = now
        if step.status is not None:
            break
    assert step.status is Status.CONVERGED
    assert max(moved) <= unit
    assert sum(moved) > 0


def test_weights_that_are_not_zero_go_first() -> None:
    """A new feature comes in only when all weights that are there satisfy their conditions."""
    problem, tol = TOYS["real values"].problem("log", L1(0.05)), 1e-3
    steps = []
    for step in GaussSeidel(unit=1, tol=tol).iterate(problem, Weights.zeros(problem.n_features)):
        steps.append(step)
        if step.status is not None:
            break
    came_in = 0
    for a, b in pairwise(steps):
        assert a.weights.features is not None
        assert b.weights.features is not None
        if len(b.weights.features) > len(a.weights.features):
            came_in += 1
            w = a.weights.dense()
            violation = problem.penalty.violation(w, problem.loss_and_gradient(w)[1])
            assert violation[a.weights.features].max(initial=0.0) <= 100 * tol * 0.05 * (1 + 1e-6)
    assert came_in > 3


@every_toy
def test_a_block_is_the_problem_with_the_other_weights_fixed(toy: Toy) -> None:
    problem, random = toy.problem("log", ElasticNet(0.2, 0.1)), np.random.default_rng(0)
    fixed = random.normal(size=problem.n_features)
    places = np.flatnonzero(random.random(problem.n_features) < 0.3)
    block = Block.of(problem, fixed, places)
    w = random.normal(size=len(places))
    everything = fixed.copy()
    everything[places] = w
    np.testing.assert_array_equal(block.all_weights(w), everything)
    assert block.n_features == len(places)
    whole = problem.evaluate(everything, curvature=True, marginals=True)
    assert whole.curvature is not None
    there = block.evaluate(w, curvature=True, marginals=True)
    assert there.loss == whole.loss
    np.testing.assert_array_equal(there.gradient, whole.gradient[places])
    np.testing.assert_array_equal(there.curvature, whole.curvature[places])
    assert whole.marginals is not None
    of_all = problem.diagonal(whole.marginals)
    np.testing.assert_allclose(block.diagonal(there.marginals), of_all[places], atol=1e-12)
    assert block.penalty.value(w) == pytest.approx(problem.penalty.restrict(places).value(w))
    found = block.screen(Weights(w, np.arange(len(w)), len(w)), 0.3)
    assert found.features.tolist() == np.flatnonzero(np.abs(whole.gradient[places]) > 0.3).tolist()
    np.testing.assert_allclose(found.gradient, whole.gradient[places][found.features], atol=1e-10)
    some = block.restrict(np.arange(0, len(places), 2))
    fewer = fixed.copy()
    fewer[places] = 0.0
    fewer[places[::2]] = w[::2]
    assert some.evaluate(w[::2]).loss == pytest.approx(problem.evaluate(fewer).loss, rel=1e-12)
    assert block.with_penalty(L2(3.0)).penalty == L2(3.0)


def test_the_last_evaluation_of_a_block_is_not_made_twice() -> None:
    problem = TOYS["plain"].problem("log", L1(0.2))
    block = Block.of(problem, np.ones(problem.n_features), np.array([0, 3]))
    w = np.array([0.5, -0.5])
    block.evaluate(w)
    for again, cost in ((block.all_weights(w), 0), (block.all_weights(2 * w), 1)):
        there, used = block.everywhere(again, None)
        assert used == cost
        np.testing.assert_array_equal(there.gradient, problem.evaluate(again).gradient)


@every_toy
def test_a_smooth_problem_by_blocks_and_at_once(toy: Toy) -> None:
    problem = toy.problem("log", L2(0.5))
    blocks = solve(GaussSeidel(unit=8, tol=1e-6), problem, max_iter=20_000)
    assert blocks.objective == pytest.approx(solve(LBFGS(tol=1e-8), problem).objective, rel=1e-8)


def test_settings() -> None:
    with pytest.raises(ParsimonError, match="optimises at least 1 feature at a time, not 0"):
        GaussSeidel(unit=0)
