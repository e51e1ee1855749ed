"""What every solver is: a generator of iterates. The driver (`drive`) owns the loop around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.forms import bound, count, line, list_of, number, optional, record
from parsimon.penalties.base import Penalty
from parsimon.problem import Problem
from parsimon.solvers.capabilities import Capability, first_missing
from parsimon.weights import Weights

T = TypeVar("T")


class Status(Enum):
    """Why a solver stopped."""

    CONVERGED = "converged: the optimality conditions hold to the tolerance asked for"
    STALLED = "stalled: no step decreases the objective any more at this precision"
    ITERATIONS = "stopped at the limit of iterations"
    DONE = "done: all epochs were run"
    TIME = "stopped at the time limit"
    DEVELOPMENT = "stopped early: the development score no longer improves"
    INTERRUPTED = "interrupted: this is the best model so far"

    @property
    def stopped_early(self) -> bool:
        """Whether the time limit or Ctrl-C ended the training, so that nothing more should begin."""
        return self in (Status.TIME, Status.INTERRUPTED)


@dataclass(frozen=True)
class Iterate:
    """Where a solver is after a step. `kkt` is only given when it covers all features.

    An iterate that is not `whole` is where a solver is within a step: its objective may be that of another problem. It
    is yielded after every pass over the data, so that the driver can look at the clock and for Ctrl-C.
    """

    weights: Weights
    objective: float
    evaluations: int
    kkt: float | None = None
    gap: float | None = None
    phase: str = ""
    status: Status | None = None
    instantiated: tuple[int, ...] = ()  # how many weights existed, along the way
    selected: int | None = None  # how many features were ever looked at more closely
    support: int | None = (
        None  # outputs that the weights are made of: those with a multiplier that is not zero
    )
    relevance: Array | None = field(
        default=None, repr=False
    )  # the norm of every group's copies of its weights
    whole: bool = True

    def within(self, weights: Weights | None = None) -> Iterate:
        """The same within a step, perhaps with other weights."""
        return replace(self, weights=weights or self.weights, whole=False, status=None)


def paused(work: Generator[None, None, T], here: Iterate) -> Generator[Iterate, None, T]:
    """Work within a step, which pauses now and then: wherever it does, where the solver is is yielded."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: T = end.value
            return value
        yield here


@dataclass(frozen=True)
class Event:
    """One line of a training history."""

    iteration: int
    seconds: float
    objective: float
    active: int
    evaluations: int
    phase: str = ""
    kkt: float | None = None
    gap: float | None = None
    dev: float | None = None
    instantiated: tuple[int, ...] = ()
    selected: int | None = None
    support: int | None = None

    @classmethod
    def from_dict(cls, fields: Any, place: str = "an event") -> Event:
        """From its fields, as they come out of JSON; a `ValueError` says what is wrong with them."""
        checked = EVENT(fields, place)
        return cls(**{**checked, "instantiated": tuple(checked["instantiated"])})


EVENT = record(
    {
        "iteration": count,
        "seconds": number,
        "objective": number,
        "active": count,
        "evaluations": count,
        "phase": line,
        "kkt": optional(bound),
        "gap": optional(bound),
        "dev": optional(number),
        "instantiated": list_of(count),
        "selected": optional(count),
        "support": optional(count),
    },
    closed=True,
)


def thin_history(history: list[Event], most: int = 200) -> list[dict[str, Any]]:
    """A history short enough for a model file, and without times."""
    history = [event for event in history if math.isfinite(event.objective)]
    every = max(1, len(history) // most)
    return [
        {
            k: round(v, 6) if isinstance(v, float) else v
            for k, v in vars(event).items()
            if k != "seconds" and v not in (None, "", math.inf)
        }
        for i, event in enumerate(history)
        if i % every == 0 or i == len(history) - 1
    ]


@dataclass(frozen=True)
class Result:
    """What a solver found."""

    weights: Weights
    status: Status
    objective: float
    kkt: float | None = None
    gap: float | None = None
    history: list[Event] = field(default_factory=list)
    support: int | None = None
    relevance: Array | None = field(default=None, repr=False)  # as of an iterate

    def to_dict(self) -> dict[str, Any]:
        """How training ended, for a model file."""
        return {
            "status": self.status.value,
            "objective": self.objective,
            "kkt": self.kkt,
            "gap": self.gap,
            "iterations": len(self.history),
            "history": thin_history(self.history),
        }


def residual(penalty: Penalty, w: Array, gradient: Array) -> float:
    """The largest violation of the optimality conditions: of a weight, or of a group (then its 2-norm)."""
    if penalty.groups is None:
        return float(np.max(penalty.violation(w, gradient), initial=0.0))
    worst = float(np.max(penalty.group_violation(w, gradient), initial=0.0))
    if penalty.groups.covers:
        return worst
    return max(worst, float(np.max(penalty.violation(w, gradient), initial=0.0)))


class Solver(Protocol):
    """An algorithm. It never sees text or labels, keeps no state between calls and has no loop limits of its own."""

    name: ClassVar[str]

    @property
    def requires(self) -> tuple[Capability[Any], ...]:
        """What it needs of a problem, in the order in which it is refused (`parsimon.solvers.capabilities`)."""
        ...

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields ever better iterates; ends after one whose `status` is set.

        If a step takes more than a pass over the data, it yields iterates that are not `whole` in between.
        """
        ...


def fitting(solvers: Mapping[str, Callable[[], Solver]], problem: Problem) -> Iterator[str]:
    """The names of the solvers that a problem has everything for, each made when it is looked at."""
    return (name for name, make in solvers.items() if first_missing(make().requires, problem) is None)


def check_compatible(
    solver: Solver, problem: Problem, others: Mapping[str, Callable[[], Solver]], name: str | None = None
) -> None:
    """Refuses, in one sentence, a combination that cannot work. `others` are solvers to name in their place."""
    loss = problem.loss
    if loss.oracle not in problem.oracles:
        raise ParsimonError(
            f"the {loss.name} loss needs {loss.oracle.value}, which this structure does not have."
        )
    if not loss.partial_labels and not problem.labels_known:
        raise ParsimonError(
            f"the {loss.name} loss needs every label, but some are missing; "
            "use the log loss for partially labelled sequences."
        )
    missing = first_missing(solver.requires, problem)
    if missing is not None:
        able = list(fitting(others, problem))
        advice = f"use {' or '.join(able)}" if able else "no solver of this library will do for it"
        raise ParsimonError(f"the solver {name or solver.name} needs {missing}; {advice}.")
