"""The solvers by name. Nothing is imported before a solver is made."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsimon.solvers.base import Solver


def _named(module: str, maker: str) -> Callable[..., Solver]:
    """What makes a solver, imported when it is called."""

    def make(**settings: Any) -> Solver:
        solver: Solver = getattr(import_module(f"parsimon.solvers.{module}"), maker)(**settings)
        return solver

    return make


# `auto` takes the first that fits the problem. Solvers with working sets look at all features only now and then; they
# differ in what they do in between: proximal quasi-Newton, OWL-QN, or (for groups that overlap) proximal gradient and
# quasi-Newton in turn.
SOLVERS: dict[str, Callable[..., Solver]] = {
    "lbfgs": _named("lbfgs", "LBFGS"),
    "proximal-newton": _named("proximal_newton", "ProximalNewton"),
    "working-set": _named("working_set", "WorkingSet"),
    "owlqn": _named("working_set", "working_set_owlqn"),
    "admm": _named("admm", "ADMM"),
    "block-working-set": _named("active_groups", "working_set_groups"),
    "bcd": _named("block_coordinate_descent", "BlockCoordinateDescent"),
    "fista": _named("fista", "FISTA"),
    "grafting-light": _named("grafting", "grafting_light"),
    "grafting": _named("grafting", "Grafting"),
    "gauss-seidel": _named("gauss_seidel", "GaussSeidel"),
    "frank-wolfe": _named("frank_wolfe", "FrankWolfe"),
    "smoothing": _named("smoothing", "Smoothing"),
    "subgradient": _named("subgradient", "Subgradient"),
    "cutting-plane": _named("cutting_plane", "CuttingPlane"),
    "em": _named("adaptive", "Adaptive"),
    "one-slack": _named("one_slack", "OneSlack"),
    "projected-subgradient": _named("projected_subgradient", "ProjectedSubgradient"),
    "mira": _named("online", "mira"),
    "sgd": _named("online", "Online"),
    "sgd-l1": _named("sgd_l1", "SGDL1"),
}
