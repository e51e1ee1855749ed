"""FISTA: accelerated proximal gradient for a smooth loss and any penalty that has a proximal operator.

    x⁺ = prox(y − (s/L) ∇f(y)),    y⁺ = x⁺ + (t − 1)/t⁺ · (x⁺ − x),    t⁺ = (1 + √(1 + 4t²))/2

(Beck & Teboulle 2009), with backtracking on L and a restart whenever the momentum points uphill (O'Donoghue &
Candès 2015). The steps s are the inverse of the Hessian's diagonal, as far as the penalty allows different steps:
within a group all are alike, or its proximal operator would have no closed form.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.base import Iterate, Status, paused, residual
from parsimon.solvers.capabilities import PROX, SMOOTH_LOSS, Requires
from parsimon.solvers.convergence import goal_of
from parsimon.weights import Weights

ROUNDING = 1e-12  # of a loss
LARGEST = 1e18  # of L: steps that short move nothing
RELAXED = 0.8  # L may have grown too much where the momentum went too far


@dataclass
class Lipschitz:
    """The constant that backtracking has found; it survives a change of working set."""

    value: float = 1.0

    def carry(self, old: IntArray, new: IntArray) -> None:
        """It is one number for all features."""


@dataclass(frozen=True)
class Place:
    """A point, and the loss there."""

    x: Array
    loss: float
    gradient: Array


@dataclass(frozen=True)
class FISTA:
    """Proximal gradient steps with momentum."""

    tol: float = 1e-4
    name: ClassVar[str] = "fista"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, PROX)

    def new_memory(self) -> Lipschitz:
        """What is learnt of the curvature."""
        return Lipschitz()

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: Lipschitz | None = None,
        known: Evaluation | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known` is the evaluation at the start, if the caller has it."""
        lipschitz = self.new_memory() if memory is None else memory
        penalty, x, evaluations = problem.penalty, start.dense().copy(), 1
        if known is None or known.curvature is None:
            known = problem.evaluate(x, curvature=True)
        assert known.curvature is not None
        here = Place(x, known.loss, known.gradient)
        objective, steps = here.loss + penalty.value(x), penalty.even_steps(1.0 / (known.curvature + 1.0))
        kkt = residual(penalty, x, here.gradient)
        goal, more = goal_of(problem, self.tol, x, kkt)
        evaluations += more
        ahead, t = here, 1.0  # y and its momentum
        while True:
            status = Status.CONVERGED if goal.reached(kkt) else None
            weights = Weights(here.x, None, problem.n_features)
            now = Iterate(weights, objective, evaluations, kkt=kkt, phase=self.name, status=status)
            yield now
            if status is not None:
                return
            trying = proximal_step(problem, ahead, steps, lipschitz)
            new, step, used = yield from paused(trying, now.within())
            evaluations += used
            reached = np.inf if new is None else new.loss + penalty.value(new.x)
            # No step is short enough, or even a plain proximal step does not get any lower.
            if new is None or (reached > objective and ahead is here):
                yield replace(now, evaluations=evaluations, status=Status.STALLED)
                return
            if reached > objective:  # the momentum went too far
                ahead, t = here, 1.0
                lipschitz.value *= RELAXED
                continue
            ahead, t, used = with_momentum(problem, here, ahead, new, step, t)
            evaluations += used
            here, objective = new, reached
            kkt = residual(penalty, here.x, here.gradient)


def proximal_step(
    problem: Problem, ahead: Place, steps: Array, lipschitz: Lipschitz
) -> Generator[None, None, tuple[Place | None, Array, int]]:
    """x⁺ with f(x⁺) ≤ f(y) + ∇f(y)·d + ½ Σ_k d_k²/step_k, d = x⁺ − y (Beck & Teboulle 2009, eq. 2.5).

    L is doubled until that holds, with a pause each time. Returns the step and the number of evaluations, too; None if
    L has become too large.
    """
    used = 0
    while True:
        step = steps / lipschitz.value
        x = problem.penalty.prox(ahead.x - step * ahead.gradient, step)
        new = Place(x, *problem.loss_and_gradient(x))
        used += 1
        d = x - ahead.x
        bound = ahead.loss + dot(ahead.gradient, d) + 0.5 * dot(d, d / step)
        if new.loss <= bound + ROUNDING * abs(bound):
            return new, step, used
        lipschitz.value *= 2
        if lipschitz.value > LARGEST:
            return None, step, used
        yield


def with_momentum(
    problem: Problem, here: Place, ahead: Place, new: Place, step: Array, t: float
) -> tuple[Place, float, int]:
    """The next y and t, and the number of evaluations; without momentum if that has begun to point uphill."""
    if dot((ahead.x - new.x) / step, new.x - here.x) > 0:
        return new, 1.0, 0
    next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
    beta = (t - 1) / next_t
    if not beta > 0:
        return new, next_t, 0
    y = new.x + beta * (new.x - here.x)
    return Place(y, *problem.loss_and_gradient(y)), next_t, 1
