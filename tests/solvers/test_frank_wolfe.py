"""Frank–Wolfe: the same optimum, and the same bits, however it goes through the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from max_margin_toys import TOYS, solve
from parsimon.penalties import L2
from parsimon.solvers import FrankWolfe
from toy_problems import by_cvxpy, make_toy


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
