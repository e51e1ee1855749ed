"""What is refused before any data are read: solvers that cannot do what was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsimon.penalties import Penalty
    from parsimon.solvers import Solver


def check_solver(solver: str | Solver, loss: str, penalty: Penalty, tol: float | None) -> Solver:
    """The solver; refused if it cannot minimise this loss with this penalty."""
    from parsimon.losses import get_loss
    from parsimon.penalties import GroupLasso, Groups
    from parsimon.problem import InMemoryProblem
    from parsimon.solvers import choose_solver

    if isinstance(penalty, GroupLasso):  # on no feature at all: enough to see which solvers can deal with it
        penalty = replace(penalty, groups=Groups.from_lists([], 0))
    return choose_solver(solver, InMemoryProblem((), get_loss(loss), penalty, 0), tol)
