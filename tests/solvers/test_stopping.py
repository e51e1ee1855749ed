"""Every solver notices the time limit, the limit of iterations and the first Ctrl-C, whatever the data look like.

No seconds are measured. Passes over the data are counted, and the clock is a fake one that jumps after so many.
"""

from __future__ import annotations

import os
import signal
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from flat_problems import FlatToy, flat_toy
from group_toys import crossing, thirds
from parsimon.designs.pairs import TreeDesign
from parsimon.penalties import L1, L2, GroupLasso, OverlappingGroupLasso
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    SOLVERS,
    Adaptive,
    Event,
    Monitor,
    OneSlack,
    Result,
    Status,
    Subgradient,
    Weights,
    driver,
)
from parsimon.solvers.settings import validation_interval, with_settings
from parsimon.structures import Chain
from parsimon.structures.flat import Flat
from toy_problems import Toy, make_toy

LATER = 1000.0  # seconds; the time limit is half of that
# Of what is done after a stop was asked for: the rest of a pass, a pass that goes with it (for the objective, or all
# features), and the objectives of where the solver is and of where it began.
MOST_PASSES = 4.0


def columns_times(toy: Toy, factor: float) -> Toy:
    """The same observations with values so many times as large."""
    rows = toy.observations.node
    assert rows.value is not None
    node = replace(rows, value=factor * rows.value)
    return replace(toy, observations=replace(toy.observations, node=node))


def flat_times(toy: FlatToy, factor: float) -> FlatToy:
    return replace(toy, X=sparse.csr_matrix(factor * toy.X))


CHAINS = make_toy(30, lengths=(4, 3, 5, 2, 4, 3, 5, 4), n_node=8, real=True)
FLAT = flat_toy(3)


def chains(loss: str, make_penalty: Callable[[int], Any]) -> Callable[[float], Any]:
    def make(factor: float) -> Any:
        toy = columns_times(CHAINS, factor)
        return toy.problem(loss, make_penalty(toy.index.n_features))

    return make


def vectors(make_penalty: Callable[[Groups], Any]) -> Callable[[float], Any]:
    return lambda factor: flat_times(FLAT, factor).problem(make_penalty(FLAT.groups), bias=False)


PROBLEMS: dict[str, Callable[[float], Any]] = {
    "lbfgs": chains("log", lambda n: L2(0.01)),
    "proximal-newton": vectors(lambda groups: L1(0.1)),
    "working-set": chains("log", lambda n: L1(0.05)),
    "owlqn": chains("log", lambda n: L1(0.05)),
    "admm": vectors(lambda groups: OverlappingGroupLasso(0.1, groups)),
    "block-working-set": chains("log", lambda n: GroupLasso(0.05, thirds(n))),
    "bcd": chains("log", lambda n: L1(0.05)),
    "fista": chains("log", lambda n: OverlappingGroupLasso(0.05, crossing(n))),
    "grafting-light": chains("log", lambda n: L1(0.05)),
    "grafting": chains("log", lambda n: L1(0.05)),
    "gauss-seidel": chains("log", lambda n: L1(0.05)),
    "frank-wolfe": chains("hinge", lambda n: L2(0.01)),
    "smoothing": chains("hinge", lambda n: L1(0.05)),
    "subgradient": chains("hinge", lambda n: L1(0.05)),
    "cutting-plane": chains("hinge", lambda n: L1(0.05)),
    "em": chains("hinge", lambda n: L1(0.05)),
    "one-slack": chains("hinge", lambda n: L2(0.01)),
    "projected-subgradient": chains("hinge", lambda n: L1(0.05)),
    "mira": chains("hinge", lambda n: L1(0.05)),
    "sgd": chains("log", lambda n: L1(0.05)),
    "sgd-l1": chains("log", lambda n: L1(0.05)),
}
COMPILED = {"bcd", "mira", "sgd", "sgd-l1"}  # their passes are not seen by what counts
INSIDE = {
    "em, one-slack": (Adaptive(tol=1e-9, inner=OneSlack()), PROBLEMS["em"]),
    "em, subgradient": (Adaptive(tol=1e-9, inner=Subgradient(window=500)), PROBLEMS["em"]),
}
FACTORS = [1.0, 30.0]


def tight(name: str) -> Any:
    """A solver that would run for long."""
    if name in COMPILED - {"bcd"}:
        return with_settings(SOLVERS[name](), epochs=10_000)
    return SOLVERS[name](tol=1e-13)


SEEN_FROM_OUTSIDE = {
    **{name: (tight(name), PROBLEMS[name]) for name in SOLVERS if name not in COMPILED},
    **INSIDE,
}
every_factor = pytest.mark.parametrize("factor", FACTORS, ids=["plain", "columns × 30"])
every_solver = pytest.mark.parametrize("name", SEEN_FROM_OUTSIDE)


@dataclass
class Passes:
    """Counts passes over the data, and calls for a stop after some."""

    n_instances: int
    when: float = np.inf
    ask: Callable[[], None] = lambda: None
    visits: int = 0
    asked: bool = False
    after: int = field(default=0)  # visits after a stop was asked for

    def visit(self, n: int) -> None:
        self.visits += n
        if self.asked:
            self.after += n
        elif self.visits >= self.when * self.n_instances:
            self.asked = True
            self.ask()

    @property
    def passes_after(self) -> float:
        return self.after / self.n_instances


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Passes:
    """Counts what the structures of chains and of single labels are asked, and passes that are one call of the core."""
    passes = Passes(1)

    def counted(method: Any) -> Any:
        def call(self: Any, *arguments: Any, **named: Any) -> Any:
            passes.visit(self.n_instances)
            return method(self, *arguments, **named)

        return call

    for structure in (Chain, Flat):
        for name in ("argmax", "marginals"):
            monkeypatch.setattr(structure, name, counted(getattr(structure, name)))
    monkeypatch.setattr(InMemoryProblem, "_evaluate_compiled", counted(InMemoryProblem._evaluate_compiled))

    def screened(self: Any, batches: Any, *arguments: Any) -> Any:
        passes.visit(sum(structure.n_instances for _, structure, _ in batches))
        return screen_together(self, batches, *arguments)

    screen_together = TreeDesign.screen_together
    monkeypatch.setattr(TreeDesign, "screen_together", screened)
    return passes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the driver sees."""
    now = [0.0]
    monkeypatch.setattr(driver, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))
    return now


def run(solver: Any, problem: Any, **watch: Any) -> Result:
    start = Weights.zeros(problem.n_features)
    return driver.drive(solver, problem, start, Monitor(started=0.0, **watch))


def check_stopped(problem: Any, result: Result, count: Passes, passes: int, wanted: Status) -> None:
    """Stopped for the reason given and soon, with weights whose objective is what is said.

    Newton's method may have converged before so many passes.
    """
    if not count.asked and passes >= 20:
        assert result.status in (Status.CONVERGED, Status.STALLED)
        return
    needed = count.passes_after
    assert result.status is wanted
    assert needed <= MOST_PASSES
    assert problem.objective(result.weights.dense()) == pytest.approx(result.objective, rel=1e-9)
    assert result.history[-1].objective == result.objective
    assert result.objective <= problem.objective(np.zeros(problem.n_features)) * (1 + 1e-9)


# Early, when steps are still being sought, and when the solver is well on its way.
@pytest.mark.parametrize("passes", [1, 7, 20])
@every_factor
@every_solver
def test_the_time_limit_is_noticed_within_a_pass(
    name: str, factor: float, passes: int, count: Passes, clock: list[float]
) -> None:
    solver, make = SEEN_FROM_OUTSIDE[name]
    problem = make(factor)
    count.n_instances, count.when = problem.n_instances, passes
    count.ask = lambda: clock.__setitem__(0, LATER)
    result = run(solver, problem, time_limit=LATER / 2)
    check_stopped(problem, result, count, passes, Status.TIME)


@pytest.mark.parametrize("passes", [2, 13])
@every_factor
@every_solver
def test_the_first_ctrl_c_is_noticed_within_a_pass(
    name: str, factor: float, passes: int, count: Passes
) -> None:
    solver, make = SEEN_FROM_OUTSIDE[name]
    problem = make(factor)
    count.n_instances, count.when = problem.n_instances, passes
    count.ask = lambda: os.kill(os.getpid(), signal.SIGINT)
    result = run(solver, problem)
    check_stopped(problem, result, count, passes, Status.INTERRUPTED)


@every_factor
@pytest.mark.parametrize("name", SOLVERS)
def test_no_iteration_is_begun_after_the_last_that_is_allowed(
    name: str, factor: float, count: Passes
) -> None:
    problem = PROBLEMS[name](factor)
    count.n_instances = problem.n_instances

    def watch(event: Event) -> None:
        count.asked = event.iteration == 2

    result = run(tight(name), problem, max_iter=2, callbacks=[watch])
    assert result.status is Status.ITERATIONS
    assert len(result.history) == 3
    assert count.after == 0


@every_factor
@pytest.mark.parametrize("name", sorted(COMPILED))
@pytest.mark.parametrize("how", ["time", "Ctrl-C"])
def test_solvers_whose_passes_are_compiled_stop_after_the_present_one(
    name: str, factor: float, how: str, clock: list[float]
) -> None:
    def ask(event: Event) -> None:
        if event.iteration == 3 and how == "time":
            clock[0] = LATER
        elif event.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    result = run(tight(name), PROBLEMS[name](factor), time_limit=LATER / 2, callbacks=[ask])
    assert result.status is (Status.TIME if how == "time" else Status.INTERRUPTED)
    assert len(result.history) in (4, 5)


@pytest.mark.parametrize("name", ["em", "cutting-plane", "smoothing", "frank-wolfe"])
def test_solvers_with_few_long_iterations_are_scored_after_each(name: str) -> None:
    assert validation_interval(SOLVERS[name]()) == 1
