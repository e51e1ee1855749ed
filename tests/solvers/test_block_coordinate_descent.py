"""Block coordinate descent against solvers that look at all features at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L2, ElasticNet
from parsimon.solvers import (
    BlockCoordinateDescent,
    Monitor,
    Status,
    Weights,
    WorkingSet,
    choose_solver,
    drive,
)
from toy_problems import Toy, make_toy

TOYS = {
    "plain": make_toy(0),
    "real values": make_toy(1, real=True),
    "seen pairs": make_toy(2, candidates="seen"),
    "weighted": make_toy(3, weighted=True),
    "no transitions": make_toy(4, n_pair=0),
    "five labels": make_toy(5, n_labels=5),
}


def solve(toy: Toy, solver: Any, penalty: Any, start: Weights | None = None) -> Any:
    problem = toy.problem("log", penalty)
    return drive(solver, problem, start or Weights.zeros(problem.n_features), Monitor(max_iter=2000))


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("penalty", [ElasticNet(l1=0.3, l2=0.01), ElasticNet(l1=0.1), L2(0.5)], ids=repr)
def test_the_same_optimum_as_working_sets(name: str, penalty: Any) -> None:
    toy = TOYS[name]
    found = solve(toy, BlockCoordinateDescent(tol=1e-8), penalty)
    assert found.status is Status.CONVERGED
    if penalty.l1:
        wanted = solve(toy, WorkingSet(tol=1e-9), penalty)
        assert found.objective == pytest.approx(wanted.objective, rel=1e-9)
        np.testing.assert_allclose(found.weights.dense(), wanted.weights.dense(), atol=1e-4)
    else:
        problem = toy.problem("log", penalty)
        _, gradient = problem.loss_and_gradient(found.weights.dense())
        assert np.abs(gradient + penalty.smooth_gradient(found.weights.dense())).max() < 1e-4


def test_active_sweeps_lead_to_the_same_place() -> None:
    few = solve(TOYS["plain"], BlockCoordinateDescent(tol=1e-8, active_sweeps=0), ElasticNet(l1=0.2))
    many = solve(TOYS["plain"], BlockCoordinateDescent(tol=1e-8, active_sweeps=5), ElasticNet(l1=0.2))
    assert few.objective == pytest.approx(many.objective, rel=1e-10)


def test_a_start_is_taken_up() -> None:
    toy, penalty = TOYS["plain"], ElasticNet(l1=0.2, l2=0.1)
    first = solve(toy, BlockCoordinateDescent(tol=1e-8), penalty)
    again = solve(toy, BlockCoordinateDescent(tol=1e-7), penalty, first.weights)
    assert len(again.history) == 1
    assert again.objective == pytest.approx(first.objective, rel=1e-10)


def test_it_ends_after_so_many_sweeps() -> None:
    result = solve(TOYS["plain"], BlockCoordinateDescent(epochs=2, tol=0.0), ElasticNet(l1=0.2))
    assert result.status is Status.DONE
    assert [event.phase for event in result.history].count("all blocks") == 3  # the start, and twice


def test_scores_too_far_apart_for_scaled_sums() -> None:
    """Started where sums must be taken in logs, it still finds its way back."""
    toy, penalty = TOYS["five labels"], ElasticNet(l1=0.3, l2=0.01)
    rng = np.random.default_rng(0)
    n = toy.problem("log", penalty).n_features
    far = Weights(400.0 * rng.normal(size=n), None, n)
    begun, sweep, *_ = itertools.islice(BlockCoordinateDescent().iterate(toy.problem("log", penalty), far), 2)
    assert begun.objective == pytest.approx(toy.problem("log", penalty).objective(far.values))
    assert sweep.objective < begun.objective


@pytest.mark.parametrize(
    ("loss", "penalty", "words"),
    [
        ("hinge", ElasticNet(l1=0.1), "the log loss"),
        ("log", ElasticNet(l1=0.1).exempt(np.array([0]), TOYS["plain"].index.n_features), "biases included"),
    ],
)
def test_what_it_cannot_do_is_refused(loss: str, penalty: Any, words: str) -> None:
    with pytest.raises(ParsimonError, match=words):
        choose_solver("bcd", TOYS["plain"].problem(loss, penalty))


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"caution": 0.5}])
def test_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParsimonError):
        BlockCoordinateDescent(**wrong)
