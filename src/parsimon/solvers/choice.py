"""Choosing a solver: the one that was named, or the first that fits the problem; and setting it up."""

from __future__ import annotations

from parsimon.errors import ParsimonError
from parsimon.penalties.groupings import FeatureDescriptions
from parsimon.problem import Problem
from parsimon.solvers.base import Solver, check_compatible, fitting
from parsimon.solvers.registry import SOLVERS
from parsimon.solvers.settings import (
    AddsUnits,
    BindsGroups,
    CountsEpochs,
    HasSeed,
    HasTolerance,
    UsesThreads,
    with_settings,
)


def choose_solver(solver: str | Solver, problem: Problem, tol: float | None = None) -> Solver:
    """A solver by name, the one given, or with ``auto`` the first that fits; refused if it cannot work."""
    if not isinstance(solver, str):
        check_compatible(solver, problem, SOLVERS)
        return solver
    if solver == "auto":
        solver = next(fitting(SOLVERS, problem), "subgradient")
    elif solver not in SOLVERS:
        raise ParsimonError(f"there is no solver called {solver!r}; choose from auto, {', '.join(SOLVERS)}.")
    chosen = SOLVERS[solver]()
    if tol is not None:
        if not isinstance(chosen, HasTolerance):
            raise ParsimonError(
                f"the solver {solver} runs for so many epochs and has no tolerance; leave it out."
            )
        chosen = SOLVERS[solver](tol=tol)
    check_compatible(chosen, problem, SOLVERS, solver)
    return chosen


def set_up_solver(
    solver: str | Solver,
    problem: Problem,
    *,
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: int = 0,
    n_threads: int = 1,
    unit: int | None = None,
    features: FeatureDescriptions | None = None,
) -> Solver:
    """The solver for a problem, with what it can use of these settings.

    Online learners run `max_iter` epochs. A solver that was given as an object keeps its own seed. Groups that a
    solver knows by name (those of a budget) are found among the `features`.
    """
    chosen = choose_solver(solver, problem, tol)
    if isinstance(chosen, UsesThreads):
        chosen = with_settings(chosen, threads=n_threads)
    if max_iter is not None and isinstance(chosen, CountsEpochs):
        chosen = with_settings(chosen, epochs=max_iter)
    if isinstance(solver, str) and isinstance(chosen, HasSeed):
        chosen = with_settings(chosen, seed=random_state)
    if unit is not None:
        if not isinstance(chosen, AddsUnits):
            raise ParsimonError(f"the solver {chosen.name} adds no units of features; leave out unit.")
        chosen = with_settings(chosen, unit=unit)
    if features is not None and isinstance(chosen, BindsGroups):
        chosen = chosen.bind(features)
    return chosen
