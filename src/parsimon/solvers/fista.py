"""FISTA: accelerated proximal gradient for a smooth loss and any penalty that has a proximal operator.

    x⁺ = prox(y − (s/L) ∇f(y)),    y⁺ = x⁺ + (t − 1)/t⁺ · (x⁺ − x),    t⁺ = (1 + √(1 + 4t²))/2

(Beck & Teboulle 2009), with backtracking on L and a restart whenever the momentum points uphill (O'Donoghue &
Candès 2015). The steps s are the inverse of the Hessian's diagonal, as far as the penalty allows different steps:
within a group all are alike, or its proximal operator would have no closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import IntArray
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Known, Requires, Status, residual, scale_at_zero
from parsimon.weights import Weights


@dataclass
class Lipschitz:
    """The constant that backtracking has found; it survives a change of working set."""

    value: float = 1.0

    def carry(self, old: IntArray, new: IntArray) -> None:
        """It is one number for all features."""


@dataclass(frozen=True)
class FISTA:
    """Proximal gradient steps with momentum."""

    tol: float = 1e-5
    name: ClassVar[str] = "fista"
    requires: ClassVar[Requires] = Requires(smooth_loss=True)

    def new_memory(self) -> Lipschitz:
        """What is learnt of the curvature."""
        return Lipschitz()

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: Lipschitz | None = None,
        known: Known | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known`: loss and gradient at the start, if somebody has them already."""
        lipschitz = self.new_memory() if memory is None else memory
        penalty = problem.penalty
        x = start.dense().copy()
        if known is None or known.curvature is None:
            known = Known(*problem.second_order(x))
        assert known.curvature is not None
        loss, gradient = known.loss, known.gradient
        objective = loss + penalty.value(x)
        steps = penalty.even_steps(1.0 / (known.curvature + 1.0))
        evaluations = 1
        kkt = residual(penalty, x, gradient)
        scale = kkt
        if self.tol > 0 and x.any():
            scale, evaluations = scale_at_zero(problem), evaluations + 1
        y, loss_y, gradient_y, t = x, loss, gradient, 1.0
        while True:
            status = Status.CONVERGED if kkt <= self.tol * scale else None
            weights = Weights(x, None, problem.n_features)
            now = Iterate(weights, objective, evaluations, kkt=kkt, phase=self.name, status=status)
            yield now
            if status is not None:
                return
            while True:
                step = steps / lipschitz.value
                new = penalty.prox(y - step * gradient_y, step)
                new_loss, new_gradient = problem.loss_and_gradient(new)
                evaluations += 1
                d = new - y
                bound = loss_y + dot(gradient_y, d) + 0.5 * dot(d, d / step)
                if new_loss <= bound + 1e-12 * abs(bound):
                    break
                lipschitz.value *= 2
                if lipschitz.value > 1e18:
                    yield replace(now, evaluations=evaluations, status=Status.STALLED)
                    return
            new_objective = new_loss + penalty.value(new)
            if new_objective > objective:
                if y is x:  # even a plain proximal step does not get any lower
                    yield replace(now, evaluations=evaluations, status=Status.STALLED)
                    return
                y, loss_y, gradient_y, t = x, loss, gradient, 1.0  # the momentum went too far
                lipschitz.value *= 0.8
                continue
            uphill = dot((y - new) / step, new - x) > 0
            next_t = 1.0 if uphill else (1 + np.sqrt(1 + 4 * t * t)) / 2
            beta = 0.0 if uphill else (t - 1) / next_t
            before, x, loss, gradient, objective, t = x, new, new_loss, new_gradient, new_objective, next_t
            kkt = residual(penalty, x, gradient)
            y, loss_y, gradient_y = x, loss, gradient
            if beta > 0:
                y = x + beta * (x - before)
                loss_y, gradient_y = problem.loss_and_gradient(y)
                evaluations += 1
