"""States of online learners: those that learners give are taken, and anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from parsimon.penalties import ElasticNet
from parsimon.problem import Problem
from parsimon.solvers import SGDL1, Online, Weights, drive
from parsimon.solvers.base import Iterate
from parsimon.solvers.learner_state import RUNNING, SUMMED, Layout
from parsimon.weights import DamagedState
from solver_toys import set_up
from toy_problems import make_toy

PROBLEM = set_up(make_toy(0), lambda n: ElasticNet(0.01, 0.0))
SOLVERS = {"running": (RUNNING, Online(3)), "summed": (SUMMED, SGDL1(3))}


def problem() -> Problem:
    return PROBLEM


def given(name: str) -> tuple[Layout, Any, Iterate]:
    """What a learner gives after its first epoch."""
    layout, solver = SOLVERS[name]
    return layout, solver, next(iter(solver.iterate(problem(), Weights.zeros(problem().n_features))))


def state_of(name: str) -> dict[str, Any]:
    weights = given(name)[2].weights
    assert weights.state is not None
    return {key: np.array(values) for key, values in weights.state().items()}


@pytest.mark.parametrize("name", SOLVERS)
def test_what_a_learner_gives_is_taken(name: str) -> None:
    layout, state = SOLVERS[name][0], state_of(name)
    arrays = layout.checked(state, problem().n_features)
    assert all(array is state[key] for key, array in zip(layout.names, arrays, strict=True))


def anywhere(change: Callable[[Any], Any]) -> list[tuple[str, str, Callable[[Any], Any]]]:
    return [(name, key, change) for name, (layout, _) in SOLVERS.items() for key in layout.names]


def put(value: float, at: int = 0) -> Callable[[Any], Any]:
    def change(values: Any) -> Any:
        values = values.copy()
        values[at] = value
        return values

    return change


WRONG = [
    *anywhere(lambda values: values.astype(np.float32)),
    *anywhere(lambda values: values[:-1]),
    *anywhere(lambda values: values.reshape(1, -1)),
    *(
        ("running", key, put(value))
        for key in ("values", "drifts", "blocks")
        for value in (np.nan, np.inf, 1e200)
    ),
    *(
        ("running", "blocks", put(value, at))
        for at, value in ((0, 0.0), (0, -1.0), (2, -1.0), (3, -1.0), (4, -1.0))
    ),
    *(
        ("running", "counts", put(value, at))
        for at, value in ((0, -1), (0, 2**62), (1, 2), (-4, -1), (-3, -1))
    ),
    *(("running", "counts", put(value, at)) for at, value in ((-3, 2**62), (-2, 2), (-1, -1), (-4, 1))),
    *(("summed", key, put(value)) for key in ("sums", "penalty") for value in (np.nan, np.inf, 1e200)),
    *(("summed", "penalty", put(value, at)) for at, value in ((0, -1.0), (1, 0.0), (1, 2.0))),
    *(("summed", "rounds", put(value)) for value in (-1, 1)),
    *(
        (name, "features", put(value, at))
        for name in SOLVERS
        for at, value in ((0, -1), (-1, 2**40), (0, 2**40))
    ),
]


@pytest.mark.parametrize(("name", "key", "change"), WRONG)
def test_what_no_learner_gives_is_refused(name: str, key: str, change: Callable[[Any], Any]) -> None:
    state, (_, solver) = state_of(name), SOLVERS[name]
    state[key] = change(state[key])
    start = Weights(np.zeros(0), np.zeros(0, np.int64), problem().n_features, lambda: state)
    with pytest.raises(DamagedState, match=r"the learner .*\.$"):
        drive(solver, problem(), start)


def test_the_state_of_another_solver_is_refused() -> None:
    for one, other in (("running", "summed"), ("summed", "running")):
        with pytest.raises(DamagedState, match="of another solver"):
            SOLVERS[one][0].checked(state_of(other), problem().n_features)
