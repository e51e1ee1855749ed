"""FISTA: its steps lower a bound, its momentum stops where it points uphill, and other ways to the same optimum."""

from __future__ import annotations

import numpy as np
import pytest

from group_toys import crossing
from parsimon.penalties import L1, ElasticNet, L1Ball, OverlappingGroupLasso
from parsimon.solvers import FISTA, Status, WorkingSet
from parsimon.solvers.fista import Lipschitz, Place, proximal_step, with_momentum
from solver_toys import TOYS, ended, every_toy, solve
from toy_problems import Toy


@every_toy
@pytest.mark.parametrize("begin", [1e-4, 1.0, 100.0])
def test_a_step_minimises_a_parabola_that_lies_above_the_loss(toy: Toy, begin: float) -> None:
    random = np.random.default_rng(0)
    problem = toy.problem("log", ElasticNet(0.3, 0.1))
    y = random.normal(size=problem.n_features)
    ahead, steps, lipschitz = Place(y, *problem.loss_and_gradient(y)), np.ones(len(y)), Lipschitz(begin)
    new, step, used = ended(proximal_step(problem, ahead, steps, lipschitz))
    assert new is not None
    np.testing.assert_allclose(step, steps / lipschitz.value)
    assert lipschitz.value == begin * 2 ** (used - 1)  # doubled until the parabola lay above the loss

    def above(x: np.ndarray) -> float:
        return float(ahead.loss + ahead.gradient @ (x - y) + 0.5 * (x - y) @ ((x - y) / step))

    assert problem.loss_and_gradient(new.x)[0] <= above(new.x) + 1e-9
    lowest = above(new.x) + problem.penalty.value(new.x)
    for _ in range(50):
        other = new.x + 10.0 ** random.integers(-4, 1) * random.normal(size=len(y))
        assert above(other) + problem.penalty.value(other) >= lowest - 1e-9


def test_momentum_goes_on_downhill_and_stops_uphill() -> None:
    problem = TOYS["plain"].problem("log", L1(0.3))
    x = np.zeros(problem.n_features)
    here = Place(x, *problem.loss_and_gradient(x))
    step = np.full(len(x), 0.05)
    new = Place(x - step * here.gradient, *problem.loss_and_gradient(x - step * here.gradient))
    ahead, t, used = with_momentum(problem, here, here, new, step, 2.0)
    next_t = (1 + np.sqrt(17)) / 2
    assert (t, used) == (next_t, 1)
    np.testing.assert_allclose(ahead.x, new.x + (2.0 - 1) / next_t * (new.x - here.x))
    assert ahead.loss == pytest.approx(problem.loss_and_gradient(ahead.x)[0])
    beyond = Place(2 * new.x, here.loss, here.gradient)  # a y from which the step has gone back
    back, t, used = with_momentum(problem, here, beyond, new, step, 2.0)
    assert (back, t, used) == (new, 1.0, 0)


@every_toy
def test_a_ball_with_the_norm_of_the_solution_has_the_same_solution(toy: Toy) -> None:
    """min loss + l1‖w‖₁ and min loss over ‖w‖₁ ≤ r, with r the norm of the first one's solution."""
    penalised = solve(WorkingSet(tol=1e-9), toy.problem("log", L1(0.4)))
    radius = float(np.abs(penalised.weights.values).sum())
    ball = toy.problem("log", L1Ball(radius))
    found = solve(FISTA(tol=1e-9), ball, max_iter=20_000)
    assert np.abs(found.weights.values).sum() <= radius * (1 + 1e-9)
    assert found.objective + 0.4 * radius == pytest.approx(penalised.objective, rel=1e-8)


def test_what_was_learnt_of_the_curvature_is_kept() -> None:
    problem = TOYS["real values"].problem("log", L1(0.3))
    memory = Lipschitz(1e-6)
    *_, last = FISTA(tol=1e-6).iterate(problem, solve(FISTA(tol=1e-1), problem).weights, memory)
    assert last.status is Status.CONVERGED
    assert memory.value > 1e-3
    memory.carry(np.arange(3), np.arange(5))
    assert memory.value > 1e-3


def test_momentum_is_worth_its_evaluations() -> None:
    """Plain proximal gradient steps with the same constant have not come as near when FISTA has converged."""
    toy = TOYS["real values"]
    problem = toy.problem("log", OverlappingGroupLasso(0.1, crossing(toy.index.n_features)))
    result = solve(FISTA(tol=1e-6), problem, max_iter=20_000)
    x, lipschitz = np.zeros(problem.n_features), Lipschitz()
    steps = problem.penalty.even_steps(1 / (problem.evaluate(x, curvature=True).curvature + 1.0))
    for _ in range(len(result.history)):
        new, _, _ = ended(proximal_step(problem, Place(x, *problem.loss_and_gradient(x)), steps, lipschitz))
        assert new is not None
        x = new.x
    assert problem.objective(x) > result.objective * (1 + 1e-9)
