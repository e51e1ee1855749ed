"""The settings that several solvers have in common: which solver has which, and how they are set.

A solver has a setting if it has an attribute of that name; nothing has to be inherited.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from parsimon.penalties.groupings import FeatureDescriptions
from parsimon.solvers.base import Solver

S = TypeVar("S", bound=Solver)

VALIDATE_EVERY = 5  # iterations between two scores of a development set, for solvers that do not say


@runtime_checkable
class HasTolerance(Protocol):
    """Runs until it has converged to a tolerance."""

    tol: float


@runtime_checkable
class CountsEpochs(Protocol):
    """Runs for so many epochs; None: until it has converged."""

    epochs: int | None


@runtime_checkable
class MayResume(Protocol):
    """Says whether a fit may go on from its weights and state alone. A solver that does not say so may."""

    @property
    def resumable(self) -> bool:
        """Whether the result is the same, wherever the solver was stopped and started again."""
        ...


@runtime_checkable
class HasSeed(Protocol):
    """Takes instances in a random order."""

    seed: int


@runtime_checkable
class UsesThreads(Protocol):
    """Uses threads of its own, besides those of the evaluation."""

    threads: int


@runtime_checkable
class AddsUnits(Protocol):
    """Selects so many features at a time."""

    unit: int


@runtime_checkable
class HasValidationInterval(Protocol):
    """Sets after how many of its iterations a development set should be scored."""

    validate_every: int


@runtime_checkable
class BindsGroups(Protocol):
    """Knows groups by name, which have to be found among the features."""

    def bind(self, features: FeatureDescriptions) -> Self:
        """The same solver with the groups found."""
        ...


def with_settings(solver: S, **settings: Any) -> S:
    """The same solver with other settings. It must be a dataclass, as all solvers of the library are."""
    return replace(solver, **settings)  # type: ignore[type-var]


def epochs_of(solver: Solver) -> int | None:
    """How many epochs a solver runs; None if it does not count them."""
    return solver.epochs if isinstance(solver, CountsEpochs) else None


def counts_epochs(solver: Solver) -> bool:
    """Whether a limit of iterations is a number of epochs."""
    return isinstance(solver, CountsEpochs)


def tolerance_of(solver: Solver) -> float | None:
    """The tolerance of a solver; None if it has none."""
    return solver.tol if isinstance(solver, HasTolerance) else None


def is_resumable(solver: Solver) -> bool:
    """Whether a fit may go on from where a checkpoint has kept it."""
    return solver.resumable if isinstance(solver, MayResume) else True


def validation_interval(solver: Solver) -> int:
    """After how many iterations a development set is scored."""
    return solver.validate_every if isinstance(solver, HasValidationInterval) else VALIDATE_EVERY
