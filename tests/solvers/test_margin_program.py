"""The linear program of an L1-M3N: against scipy on all its rows, with its dual, and as rows come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from parsimon.problem import Violated
from parsimon.solvers.margin_program import MarginProgram
from solver_toys import ended

N_FEATURES, N_INSTANCES = 9, 4


def some_rows(seed: int, n: int = 14) -> tuple[Any, Any, Any]:
    """The instance of every output, its cost, and what its features lack."""
    random = np.random.default_rng(seed)
    difference = random.normal(size=(n, N_FEATURES)) * (random.random((n, N_FEATURES)) < 0.5)
    return random.integers(N_INSTANCES, size=n), random.uniform(0.5, 3.0, n), difference


def as_found(instance: Any, cost: Any, difference: Any) -> Violated:
    """As a structure finds outputs, the features in two parts."""
    vectors = []
    for first, last in ((0, 4), (4, N_FEATURES)):
        part = difference[:, first:last]
        row, index = np.nonzero(part)
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(part)))])
        vectors.append((first, start, index.astype(np.int32), part[row, index]))
    return Violated(instance, cost, cost, vectors, loss=0.0)


def by_scipy(l1: Any, mass: Any, instance: Any, cost: Any, difference: Any) -> float:
    slack = np.eye(N_INSTANCES)[instance]
    rows = np.hstack([-difference, difference, -slack])
    found = linprog(
        np.concatenate([l1, l1, mass]), A_ub=rows, b_ub=-cost, bounds=(0, None), method="highs-ipm"
    )
    assert found.success
    return float(found.fun)


def objective(vertex: Any, l1: Any, mass: Any) -> float:
    return float(l1 @ np.abs(vertex.weights) + mass @ vertex.slack)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strength", [0.05, 0.4, 2.0])
def test_the_optimum_is_that_of_the_program_written_out(seed: int, strength: float) -> None:
    instance, cost, difference = some_rows(seed)
    random = np.random.default_rng(seed + 100)
    l1, mass = strength * random.uniform(0.5, 2.0, N_FEATURES), random.uniform(0.5, 2.0, N_INSTANCES)
    program = MarginProgram(l1, mass)
    assert program.add(as_found(instance, cost, difference), np.ones(len(cost), bool)) == len(cost)
    vertex = ended(program.solve())
    assert objective(vertex, l1, mass) == pytest.approx(
        by_scipy(l1, mass, instance, cost, difference), rel=1e-8
    )
    assert np.all(difference @ vertex.weights + vertex.slack[instance] >= cost - 1e-7)  # every margin is kept
    assert vertex.slack.min() >= 0
    # The dual: the same value, and no weight that is missing could help.
    assert vertex.offset == pytest.approx(objective(vertex, l1, mass), rel=1e-7)
    assert np.all(np.abs(vertex.pull) <= l1 + 1e-7)
    used = vertex.weights != 0
    np.testing.assert_allclose(vertex.pull[used], (np.sign(vertex.weights) * l1)[used], atol=1e-7)
    assert 0 < vertex.n_support <= len(cost)


def test_rows_may_come_a_few_at_a_time() -> None:
    instance, cost, difference = some_rows(10, 30)
    l1, mass = np.full(N_FEATURES, 0.1), np.ones(N_INSTANCES)
    program, values = MarginProgram(l1, mass), []
    for first in range(0, 30, 10):
        some = slice(first, first + 10)
        program.add(as_found(instance[some], cost[some], difference[some]), np.ones(10, bool))
        upto = slice(0, first + 10)
        values.append(objective(ended(program.solve()), l1, mass))
        assert values[-1] == pytest.approx(
            by_scipy(l1, mass, instance[upto], cost[upto], difference[upto]), rel=1e-8
        )
    assert values == sorted(values)


def test_an_output_is_there_only_once() -> None:
    found = as_found(*some_rows(1))
    program = MarginProgram(np.ones(N_FEATURES), np.ones(N_INSTANCES))
    wanted = np.arange(14) % 2 == 0
    assert program.add(found, wanted) == 7
    assert program.add(found, wanted) == 0
    assert program.add(found, np.ones(14, bool)) == 7
    assert program.n_rows == 14


def test_rows_that_are_slack_for_long_are_forgotten_and_change_nothing() -> None:
    instance, cost, difference = some_rows(2, 30)
    l1, mass = np.full(N_FEATURES, 0.2), np.ones(N_INSTANCES)
    program = MarginProgram(l1, mass)
    program.add(as_found(instance, cost, difference), np.ones(30, bool))
    before = ended(program.solve())
    program.forget(1)
    assert program.n_rows == 30  # they have been slack once only
    ended(program.solve())
    program.forget(1)
    assert before.n_support <= program.n_rows < 30
    after = ended(program.solve())
    assert objective(after, l1, mass) == pytest.approx(objective(before, l1, mass), rel=1e-9)
    forgotten = 30 - program.n_rows
    assert program.add(as_found(instance, cost, difference), np.ones(30, bool)) == forgotten
    assert objective(ended(program.solve()), l1, mass) == pytest.approx(objective(before, l1, mass), rel=1e-9)


def test_columns_that_were_there_before_their_rows() -> None:
    instance, cost, difference = some_rows(3)
    l1, mass = np.full(N_FEATURES, 0.1), np.ones(N_INSTANCES)
    program = MarginProgram(l1, mass)
    program.add_weights(np.array([0, 5]), np.array([1.0, -1.0]))
    program.add(as_found(instance, cost, difference), np.ones(14, bool))
    assert objective(ended(program.solve()), l1, mass) == pytest.approx(
        by_scipy(l1, mass, instance, cost, difference), rel=1e-8
    )


def test_without_rows_nothing_is_learnt() -> None:
    vertex = ended(MarginProgram(np.ones(N_FEATURES), np.ones(N_INSTANCES)).solve())
    assert not vertex.weights.any()
    assert not vertex.slack.any()
    assert (vertex.offset, vertex.n_support) == (0.0, 0)
