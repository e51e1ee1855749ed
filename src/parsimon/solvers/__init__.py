"""Solvers: w, gradient and Ω in, a better w out. One algorithm a file, one driver around all of them."""

from __future__ import annotations

from collections.abc import Callable

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
from parsimon.solvers.proximal_quasi_newton import ProximalQuasiNewton
from parsimon.solvers.subgradient import Subgradient
from parsimon.solvers.working_set import WorkingSet

__all__ = [
    "LBFGS",
    "OWLQN",
    "SOLVERS",
    "Event",
    "Iterate",
    "Monitor",
    "ProximalQuasiNewton",
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


def _working_set_owlqn(tol: float = 1e-5) -> WorkingSet:
    return WorkingSet(tol=tol, inner=OWLQN(tol=0.0), steps=(20, 60, 200))


# By name; `auto` takes the first that fits the problem. Both solvers for L1 look at all features only now and
# then; they differ in what they do in between: proximal quasi-Newton, or OWL-QN.
SOLVERS: dict[str, Callable[..., Solver]] = {
    "lbfgs": LBFGS,
    "working-set": WorkingSet,
    "owlqn": _working_set_owlqn,
    "subgradient": Subgradient,
}


def choose_solver(solver: str | Solver, problem: Problem, tol: float | None = None) -> Solver:
    """A solver by name, the one given, or with ``auto`` the first that fits; refused if it cannot work."""
    able = {name: make() for name, make in SOLVERS.items()}
    if not isinstance(solver, str):
        check_compatible(solver, problem, able)
        return solver
    settings = {} if tol is None else {"tol": tol}
    if solver == "auto":
        fitting = [name for name, kind in able.items() if kind.requires.missing(problem) is None]
        solver = fitting[0] if fitting else "subgradient"
    elif solver not in SOLVERS:
        raise ParsimonError(f"there is no solver called {solver!r}; choose from auto, {', '.join(SOLVERS)}.")
    chosen = SOLVERS[solver](**settings)
    check_compatible(chosen, problem, able, solver)
    return chosen
