"""Solvers: w, gradient and Ω in, a better w out. One algorithm a file, one driver around all of them."""

from __future__ import annotations

from parsimon.errors import ParsimonError
from parsimon.problem import Problem
from parsimon.solvers.base import (
    Event,
    Iterate,
    Requires,
    Result,
    Solver,
    Status,
    Weights,
    check_compatible,
)
from parsimon.solvers.driver import Monitor, Validation, drive
from parsimon.solvers.lbfgs import LBFGS
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.subgradient import Subgradient
from parsimon.solvers.working_set import WorkingSet

__all__ = [
    "LBFGS",
    "OWLQN",
    "SOLVERS",
    "Event",
    "Iterate",
    "Monitor",
    "Requires",
    "Result",
    "Solver",
    "Status",
    "Subgradient",
    "Validation",
    "Weights",
    "WorkingSet",
    "choose_solver",
    "drive",
]

# By name; `auto` takes the first that fits the problem.
SOLVERS: dict[str, type[LBFGS] | type[OWLQN] | type[WorkingSet] | type[Subgradient]] = {
    solver.name: solver for solver in (LBFGS, WorkingSet, OWLQN, Subgradient)
}


def choose_solver(solver: str | Solver, problem: Problem, tol: float | None = None) -> Solver:
    """A solver by name, the one given, or with ``auto`` the first that fits; refused if it cannot work."""
    if not isinstance(solver, str):
        check_compatible(solver, problem, SOLVERS)
        return solver
    settings = {} if tol is None else {"tol": tol}
    if solver == "auto":
        chosen = next(kind for kind in SOLVERS.values() if kind.requires.missing(problem) is None)(**settings)
    elif solver in SOLVERS:
        chosen = SOLVERS[solver](**settings)
    else:
        raise ParsimonError(f"there is no solver called {solver!r}; choose from auto, {', '.join(SOLVERS)}.")
    check_compatible(chosen, problem, SOLVERS)
    return chosen
