"""Which solver: the one that was named, or the first that fits the problem."""

from __future__ import annotations

from dataclasses import fields

from parsimon.errors import ParsimonError
from parsimon.problem import Problem
from parsimon.solvers.base import Solver, check_compatible
from parsimon.solvers.registry import SOLVERS


def choose_solver(solver: str | Solver, problem: Problem, tol: float | None = None) -> Solver:
    """A solver by name, the one given, or with ``auto`` the first that fits; refused if it cannot work."""
    able = {name: make() for name, make in SOLVERS.items()}
    if not isinstance(solver, str):
        check_compatible(solver, problem, able)
        return solver
    if solver == "auto":
        fitting = [name for name, kind in able.items() if kind.requires.missing(problem) is None]
        solver = fitting[0] if fitting else "subgradient"
    elif solver not in SOLVERS:
        raise ParsimonError(f"there is no solver called {solver!r}; choose from auto, {', '.join(SOLVERS)}.")
    chosen = able[solver]
    if tol is not None:
        if "tol" not in {f.name for f in fields(chosen)}:  # type: ignore[arg-type]
            raise ParsimonError(
                f"the solver {solver} runs for so many epochs and has no tolerance; leave it out."
            )
        chosen = SOLVERS[solver](tol=tol)
    check_compatible(chosen, problem, able, solver)
    return chosen
