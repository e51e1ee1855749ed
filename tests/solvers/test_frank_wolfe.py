"""Frank–Wolfe: the same optimum, and the same bits, however it goes through the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from max_margin_toys import TOYS, every_toy, solve
from parsimon.penalties import L2
from parsimon.solvers import FrankWolfe, Status, Weights
from toy_problems import Toy, by_cvxpy, make_toy


def test_frank_wolfe_gives_the_same_bits_for_any_number_of_threads() -> None:
    toy = make_toy(16, lengths=(4, 3, 5, 2, 6, 3), real=True)
    found = [
        solve(FrankWolfe(tol=1e-4, chunk=4), toy.problem("hinge", L2(0.1), threads=threads))
        for threads in (1, 3)
    ]
    assert np.array_equal(found[0].weights.dense(), found[1].weights.dense())
    other = solve(FrankWolfe(tol=1e-4, seed=1), toy.problem("hinge", L2(0.1)))
    assert not np.array_equal(found[0].weights.dense(), other.weights.dense())


@pytest.mark.parametrize("chunk", [1, 2, 100])
@pytest.mark.parametrize("cached", [0, 5])
def test_how_frank_wolfe_goes_through_the_data_does_not_change_where_it_ends(chunk: int, cached: int) -> None:
    toy = TOYS["plain"]
    result = solve(
        FrankWolfe(tol=1e-5, chunk=chunk, cached=cached, idle=2, steps=3), toy.problem("hinge", L2(0.1))
    )
    assert result.objective == pytest.approx(by_cvxpy(toy, "hinge", L2(0.1)), rel=2e-5)


def test_instances_without_weight_or_tokens_change_nothing() -> None:
    toy = replace(make_toy(17, lengths=(3, 2, 3)), weights=np.array([1.0, 0.0, 1.0]))
    problem = toy.problem("hinge", L2(0.3))
    assert solve(FrankWolfe(tol=1e-6), problem).objective == pytest.approx(
        by_cvxpy(toy, "hinge", L2(0.3)), rel=1e-5
    )


@every_toy
def test_bounds_close_in_on_the_optimum(toy: Toy) -> None:
    problem, optimum = toy.problem("hinge", L2(0.2)), by_cvxpy(toy, "hinge", L2(0.2))
    events = solve(FrankWolfe(tol=1e-6), problem).history
    heights = np.array([event.objective for event in events])
    bounds = heights - np.array([event.gap for event in events])
    assert np.all(np.diff(heights) <= 0)
    assert np.all(np.diff(bounds) >= -1e-12)
    assert np.all(bounds <= optimum * (1 + 1e-7) + 1e-9)
    assert np.all(heights >= optimum * (1 - 1e-7) - 1e-9)


def test_another_penalty_keeps_the_outputs_that_are_known() -> None:
    """From where one M3N was learnt, the next begins nearer to its own optimum."""
    toy, solver = TOYS["real values"], FrankWolfe(tol=1e-6)
    first, second = toy.problem("hinge", L2(0.2)), toy.problem("hinge", L2(0.25))
    n = first.n_features
    dual = solver.begin(first, np.full(n, 1 / 0.2))
    list(solver.refine(first, dual))
    dual.set_penalty(np.full(n, 1 / 0.25))
    both = solver.refine(second, dual), solver.iterate(second, Weights.zeros(n))
    warm, cold = ([step for step in steps if step.whole] for steps in both)
    for steps in (warm, cold):
        assert steps[-1].objective == pytest.approx(by_cvxpy(toy, "hinge", L2(0.25)), rel=2e-6)
    assert warm[0].gap is not None
    assert cold[0].gap is not None
    assert warm[0].gap < 0.5 * cold[0].gap


def test_instances_that_share_a_feature_with_large_values_are_moved_together() -> None:
    """One at a time, they would need thousands of epochs. The bounds hold with the steps of all, too."""
    toy = make_toy(31, lengths=(4, 3, 5, 2, 4, 3, 5, 4), n_node=8, real=True)
    rows = toy.observations.node
    assert rows.value is not None
    node = replace(rows, value=np.where(rows.index == 0, 1000.0, 1.0) * rows.value)
    toy = replace(toy, observations=replace(toy.observations, node=node))
    problem, optimum = toy.problem("hinge", L2(0.2)), by_cvxpy(toy, "hinge", L2(0.2))
    result = solve(FrankWolfe(tol=1e-4), problem, 1000)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(optimum, rel=2e-4)
    heights = np.array([event.objective for event in result.history])
    bounds = heights - np.array([event.gap for event in result.history])
    assert np.all(np.diff(heights) <= 0)
    assert np.all(np.diff(bounds) >= -1e-9)
    assert np.all(bounds <= optimum * (1 + 1e-6))
