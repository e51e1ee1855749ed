"""Small problems with the hinge loss, for the solvers of max-margin Markov networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.problem import InMemoryProblem
from parsimon.solvers import Monitor, Result, Weights, drive
from toy_problems import make_toy

TOYS = {
    "plain": make_toy(11, lengths=(3, 1, 0, 3, 2)),
    "real values": make_toy(12, lengths=(3, 2, 2, 4), real=True),
    "seen pairs": make_toy(13, lengths=(3, 3, 1), candidates="seen"),
    "weighted": make_toy(14, lengths=(2, 3, 2), weighted=True),
    "no transitions": make_toy(15, lengths=(3, 2), n_pair=0),
    "trees": make_toy(16, lengths=(4, 1, 0, 3, 3), trees=True),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
PRICES = np.array([[0.0, 0.5, 2.0], [1.0, 0.0, 0.1], [3.0, 1.5, 0.0]])
COSTS = {"hamming": 1.0, "table": PRICES}


def solve(solver: Any, problem: InMemoryProblem, iterations: int = 20_000) -> Result:
    start = Weights.zeros(problem.n_features)
    return drive(solver, problem, start, Monitor(max_iter=iterations))


def checked(problem: InMemoryProblem, result: Result) -> float:
    """The objective, which must be what its weights have."""
    assert problem.objective(result.weights.dense()) == pytest.approx(result.objective, rel=1e-9, abs=1e-12)
    return result.objective
