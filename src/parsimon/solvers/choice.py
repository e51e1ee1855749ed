"""Which solver: the one that was named, or the first that fits the problem; and how it is set up."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

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


def set_up_solver(
    solver: str | Solver,
    problem: Problem,
    *,
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: int = 0,
    n_threads: int = 1,
    unit: int | None = None,
    features: Any = None,
) -> Solver:
    """The solver for a problem, with what it can use of these settings.

    Online learners run `max_iter` epochs. A solver that was given as an object keeps its own seed. Groups that a
    solver knows by name (those of a budget) are found among the `features`.
    """
    chosen = choose_solver(solver, problem, tol)
    settings: dict[str, Any] = {"threads": n_threads}
    if max_iter is not None:
        settings["epochs"] = max_iter
    if isinstance(solver, str):
        settings["seed"] = random_state
    if unit is not None:
        if not hasattr(chosen, "unit"):
            raise ParsimonError(f"the solver {chosen.name} adds no units of features; leave out unit.")
        settings["unit"] = unit
    known = {f.name for f in fields(chosen)}  # type: ignore[arg-type]
    chosen = replace(chosen, **{name: value for name, value in settings.items() if name in known})  # type: ignore[type-var]
    return chosen.bind(features) if hasattr(chosen, "bind") and features is not None else chosen
