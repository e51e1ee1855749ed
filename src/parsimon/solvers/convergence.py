"""What "converged" means, in the same way for all solvers and penalties.

Weights have converged to a tolerance `tol` when

    1. no feature (or group) violates its optimality condition by more than 100 tol ρ, where ρ is the strength of the
       penalty, at which features come in: with the default of 1e-4, by more than 1 % of it; and
    2. where a lower bound on the objective is known, the objective is at most `tol` of itself above it.

From w = 0 on, the largest violation there takes the place of ρ if it is smaller: with a strength near or above that
which leaves nothing, what is not penalised still has to be learnt. Where the penalty is smooth there is no ρ; a
thousandth of the largest violation at w = 0 takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.base import residual
from parsimon.weights import Weights

VIOLATIONS = (
    100.0  # violations may be so many times `tol` of the strength: objectives are closer than conditions
)
FARTHEST = (
    0.1  # of the violations there are, to which an inner solver brings them before all features are looked at
)
OF_FIRST = (
    1e-3  # what stands for the strength of a smooth penalty, as a share of the largest violation at w = 0
)


@dataclass(frozen=True)
class Goal:
    """How large violations may be at convergence, and how large the gap, as a share of the objective."""

    violation: float
    gap: float

    def reached(self, violation: float, gap: float | None = None, objective: float = 0.0) -> bool:
        """Whether weights have converged. Without a gap, none is known."""
        return violation <= self.violation and (gap is None or gap <= self.gap * abs(objective))

    def aim(self, violation: float, gap: float | None = None, objective: float = 0.0) -> float:
        """What to bring violations down to: the goal, or less where only the gap is too large.

        The gap goes with the square of violations, if it is tight; but no further at a time than to a tenth of them.
        """
        if violation > self.violation:
            return self.violation
        if gap is None or gap <= 0:
            return violation / 2
        return violation * min(0.5, max(FARTHEST, math.sqrt(self.gap * abs(objective) / gap)))


def goal_of(problem: Problem, tol: float, start: Array, first: float) -> tuple[Goal, int]:
    """The goal of a fit, and how many evaluations it took to know it; `first` is the largest violation at the start."""
    measure, evaluations = problem.penalty.threshold, 0
    if not start.any():
        measure = min(measure, first) if measure > 0 else OF_FIRST * first
    elif measure == 0 and tol > 0:
        measure, evaluations = OF_FIRST * scale_at_zero(problem), 1
    return Goal(VIOLATIONS * tol * measure, tol), evaluations


def expected_end(problem: Problem, tol: float | None, start: Weights) -> Callable[[float], float] | None:
    """From the first violation of a fit to that at which it converges; None where that cannot be known."""
    strength = problem.penalty.threshold
    if tol is None or (strength == 0 and start.n_active):
        return None
    if start.n_active:
        return lambda first: VIOLATIONS * tol * strength
    return lambda first: goal_of(problem, tol, np.zeros(0), first)[0].violation


def scale_at_zero(problem: Problem) -> float:
    """The largest violation of the optimality conditions at w = 0, the measure where there is no strength."""
    zero = np.zeros(problem.n_features)
    _, gradient = problem.loss_and_gradient(zero)
    return residual(problem.penalty, zero, gradient)
