"""Solvers improve weights, given a problem. One file per algorithm, one driver for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.solvers.active_groups import ActiveGroups as ActiveGroups
    from parsimon.solvers.adaptive import Adaptive as Adaptive
    from parsimon.solvers.admm import ADMM as ADMM
    from parsimon.solvers.base import Event as Event
    from parsimon.solvers.base import Iterate as Iterate
    from parsimon.solvers.base import Result as Result
    from parsimon.solvers.base import Solver as Solver
    from parsimon.solvers.base import Status as Status
    from parsimon.solvers.base import check_compatible as check_compatible
    from parsimon.solvers.block_coordinate_descent import BlockCoordinateDescent as BlockCoordinateDescent
    from parsimon.solvers.capabilities import Capability as Capability
    from parsimon.solvers.choice import choose_solver as choose_solver
    from parsimon.solvers.choice import set_up_solver as set_up_solver
    from parsimon.solvers.cutting_plane import CuttingPlane as CuttingPlane
    from parsimon.solvers.driver import Monitor as Monitor
    from parsimon.solvers.driver import Validation as Validation
    from parsimon.solvers.driver import drive as drive
    from parsimon.solvers.fista import FISTA as FISTA
    from parsimon.solvers.frank_wolfe import FrankWolfe as FrankWolfe
    from parsimon.solvers.gauss_seidel import GaussSeidel as GaussSeidel
    from parsimon.solvers.grafting import Grafting as Grafting
    from parsimon.solvers.lbfgs import LBFGS as LBFGS
    from parsimon.solvers.one_slack import OneSlack as OneSlack
    from parsimon.solvers.online import Budget as Budget
    from parsimon.solvers.online import Decreasing as Decreasing
    from parsimon.solvers.online import Online as Online
    from parsimon.solvers.online import PassiveAggressive as PassiveAggressive
    from parsimon.solvers.owlqn import OWLQN as OWLQN
    from parsimon.solvers.projected_subgradient import ProjectedSubgradient as ProjectedSubgradient
    from parsimon.solvers.proximal_newton import ProximalNewton as ProximalNewton
    from parsimon.solvers.proximal_quasi_newton import ProximalQuasiNewton as ProximalQuasiNewton
    from parsimon.solvers.registry import SOLVERS as SOLVERS
    from parsimon.solvers.sgd_l1 import SGDL1 as SGDL1
    from parsimon.solvers.sgd_l1 import Exponential as Exponential
    from parsimon.solvers.smoothing import Smoothing as Smoothing
    from parsimon.solvers.subgradient import Subgradient as Subgradient
    from parsimon.solvers.working_set import WorkingSet as WorkingSet
    from parsimon.weights import Weights as Weights

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "parsimon.weights": ("Weights",),
        "active_groups": ("ActiveGroups",),
        "adaptive": ("Adaptive",),
        "admm": ("ADMM",),
        "base": ("Event", "Iterate", "Result", "Solver", "Status", "check_compatible"),
        "block_coordinate_descent": ("BlockCoordinateDescent",),
        "capabilities": ("Capability",),
        "choice": ("choose_solver", "set_up_solver"),
        "cutting_plane": ("CuttingPlane",),
        "driver": ("Monitor", "Validation", "drive"),
        "fista": ("FISTA",),
        "frank_wolfe": ("FrankWolfe",),
        "gauss_seidel": ("GaussSeidel",),
        "grafting": ("Grafting",),
        "lbfgs": ("LBFGS",),
        "one_slack": ("OneSlack",),
        "online": ("Budget", "Decreasing", "Online", "PassiveAggressive"),
        "owlqn": ("OWLQN",),
        "projected_subgradient": ("ProjectedSubgradient",),
        "proximal_newton": ("ProximalNewton",),
        "proximal_quasi_newton": ("ProximalQuasiNewton",),
        "registry": ("SOLVERS",),
        "sgd_l1": ("SGDL1", "Exponential"),
        "smoothing": ("Smoothing",),
        "subgradient": ("Subgradient",),
        "working_set": ("WorkingSet",),
    },
)
