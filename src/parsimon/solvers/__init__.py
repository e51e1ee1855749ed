"""Solvers: w, gradient and Ω in, a better w out. One algorithm a file, one driver around all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from parsimon.errors import ParsimonError
from parsimon.problem import Problem
from parsimon.solvers.active_groups import ActiveGroups
from parsimon.solvers.adaptive import Adaptive
from parsimon.solvers.admm import ADMM
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
from parsimon.solvers.block_coordinate_descent import BlockCoordinateDescent
from parsimon.solvers.cutting_plane import CuttingPlane
from parsimon.solvers.driver import Monitor, Validation, drive
from parsimon.solvers.fista import FISTA
from parsimon.solvers.frank_wolfe import FrankWolfe
from parsimon.solvers.gauss_seidel import GaussSeidel
from parsimon.solvers.grafting import Grafting
from parsimon.solvers.lbfgs import LBFGS
from parsimon.solvers.one_slack import OneSlack
from parsimon.solvers.online import Budget, Decreasing, Online, PassiveAggressive
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.projected_subgradient import ProjectedSubgradient
from parsimon.solvers.proximal_newton import ProximalNewton
from parsimon.solvers.proximal_quasi_newton import ProximalQuasiNewton
from parsimon.solvers.sgd_l1 import SGDL1, Exponential
from parsimon.solvers.smoothing import Smoothing
from parsimon.solvers.subgradient import Subgradient
from parsimon.solvers.working_set import WorkingSet

__all__ = [
    "ADMM",
    "FISTA",
    "LBFGS",
    "OWLQN",
    "SGDL1",
    "SOLVERS",
    "ActiveGroups",
    "Adaptive",
    "BlockCoordinateDescent",
    "Budget",
    "CuttingPlane",
    "Decreasing",
    "Event",
    "Exponential",
    "FrankWolfe",
    "GaussSeidel",
    "Grafting",
    "Iterate",
    "Monitor",
    "OneSlack",
    "Online",
    "PassiveAggressive",
    "ProjectedSubgradient",
    "ProximalNewton",
    "ProximalQuasiNewton",
    "Requires",
    "Result",
    "Smoothing",
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


def _working_set_groups(tol: float = 1e-5) -> WorkingSet:
    return WorkingSet(tol=tol, inner=ActiveGroups(tol=0.0), steps=(50, 100, 200, 500))


def _grafting_light(tol: float = 1e-5) -> Grafting:
    return Grafting(tol=tol, steps=1)


def _mira() -> Online:
    return Online(step=PassiveAggressive())


# By name; `auto` takes the first that fits the problem. Solvers with working sets look at all features only now and
# then; they differ in what they do in between: proximal quasi-Newton, OWL-QN, or (for groups) proximal gradient and
# quasi-Newton in turn.
SOLVERS: dict[str, Callable[..., Solver]] = {
    "lbfgs": LBFGS,
    "proximal-newton": ProximalNewton,
    "working-set": WorkingSet,
    "owlqn": _working_set_owlqn,
    "admm": ADMM,
    "block-working-set": _working_set_groups,
    "bcd": BlockCoordinateDescent,
    "fista": FISTA,
    "grafting-light": _grafting_light,
    "grafting": Grafting,
    "gauss-seidel": GaussSeidel,
    "frank-wolfe": FrankWolfe,
    "smoothing": Smoothing,
    "subgradient": Subgradient,
    "cutting-plane": CuttingPlane,
    "em": Adaptive,
    "one-slack": OneSlack,
    "projected-subgradient": ProjectedSubgradient,
    "mira": _mira,
    "sgd": Online,
    "sgd-l1": SGDL1,
}


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
