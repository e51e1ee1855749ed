"""What every solver is: a generator of iterates. A driver (`drive`) owns the loop around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.problem import Problem


class Status(Enum):
    """Why a solver stopped."""

    CONVERGED = "converged: the optimality conditions hold to the tolerance asked for"
    STALLED = "stalled: no step decreases the objective any more at this precision"
    ITERATIONS = "stopped at the limit of iterations"
    TIME = "stopped at the time limit"
    DEVELOPMENT = "stopped early: the development score no longer improves"
    INTERRUPTED = "interrupted: this is the best model so far"


@dataclass(frozen=True)
class Weights:
    """A weight vector of which only some entries can be other than zero.

    ``features`` are ascending feature numbers, or ``None`` when ``values`` has all of them.
    """

    values: Array
    features: IntArray | None
    n_features: int

    @classmethod
    def zeros(cls, n_features: int) -> Weights:
        """No feature at all."""
        return cls(np.zeros(0), np.zeros(0, np.int64), n_features)

    @property
    def n_active(self) -> int:
        """How many weights are not zero."""
        return int(np.count_nonzero(self.values))

    def dense(self) -> Array:
        """All entries."""
        if self.features is None:
            return self.values
        w = np.zeros(self.n_features)
        w[self.features] = self.values
        return w

    def nonzero(self) -> Weights:
        """The same vector with its zeros left out."""
        kept = np.flatnonzero(self.values)
        features = kept if self.features is None else self.features[kept]
        return Weights(self.values[kept], features.astype(np.int64), self.n_features)

    def at(self, features: IntArray) -> Array:
        """The entries at the given (ascending) features."""
        if self.features is None:
            return self.values[features]
        out = np.zeros(len(features))
        if len(self.features):
            at = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
            known = self.features[at] == features
            out[known] = self.values[at[known]]
        return out


@dataclass(frozen=True)
class Iterate:
    """Where a solver stands after a step. `kkt` is only given when it holds for all features."""

    weights: Weights
    objective: float
    evaluations: int
    kkt: float | None = None
    gap: float | None = None
    phase: str = ""
    status: Status | None = None


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


@dataclass(frozen=True)
class Result:
    """What a solver found."""

    weights: Weights
    status: Status
    objective: float
    kkt: float | None = None
    gap: float | None = None
    history: list[Event] = field(default_factory=list)


@dataclass(frozen=True)
class Requires:
    """What a solver needs of a problem; checked before any work."""

    smooth_loss: bool = False
    smooth_penalty: bool = False
    separable_penalty: bool = False

    def missing(self, problem: Problem) -> str | None:
        """What the problem lacks, in words, or ``None``."""
        if self.smooth_loss and not problem.loss.smooth:
            return f"a smooth loss, and {problem.loss.name} is not"
        if self.smooth_penalty and not problem.penalty.smooth:
            return "a smooth penalty, and an L1 part is not"
        if self.separable_penalty and not problem.penalty.separable:
            return "a penalty that treats every weight by itself"
        return None


def scale_at_zero(problem: Problem) -> float:
    """The largest violation of the optimality conditions at w = 0, by which tolerances are measured."""
    zero = np.zeros(problem.n_features)
    _, gradient = problem.loss_and_gradient(zero)
    return float(np.max(problem.penalty.violation(zero, gradient), initial=0.0))


class Solver(Protocol):
    """An algorithm. It never sees text or labels, keeps no state between calls and has no loop limits of its own."""

    name: ClassVar[str]
    requires: ClassVar[Requires]

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Better and better iterates; ends after one whose `status` is set."""
        ...


def check_compatible(
    solver: Solver, problem: Problem, alternatives: dict[str, Solver], name: str | None = None
) -> None:
    """Refuses, in one sentence, a combination that cannot work."""
    missing = solver.requires.missing(problem)
    oracle = problem.loss.oracle
    for batch in problem.batches[:1]:
        if oracle not in batch.structure.oracles:
            raise ParsimonError(
                f"the {problem.loss.name} loss needs {oracle.value}, which this structure does not have."
            )
        if not problem.loss.partial_labels and any(np.any(b.gold < 0) for b in problem.batches):
            raise ParsimonError(
                f"the {problem.loss.name} loss needs every label, but some are missing; "
                "use the log loss for partially labelled sequences."
            )
    if missing is not None:
        able = [name for name, other in alternatives.items() if other.requires.missing(problem) is None]
        advice = f"use {' or '.join(able)}" if able else "no solver of this library will do for it"
        raise ParsimonError(f"the solver {name or solver.name} needs {missing}; {advice}.")
