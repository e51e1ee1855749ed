"""OWL-QN: orthant-wise limited-memory quasi-Newton (Andrew & Gao 2007), for a smooth loss and an L1 penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Requires, Status, Weights, scale_at_zero
from parsimon.solvers.lbfgs import InverseHessian, backtrack


def pseudo_gradient(w: Array, gradient: Array, l1: float | Array) -> Array:
    """The steepest one-sided slope of smooth + l1·|w| (Andrew & Gao 2007, eq. 4).

    Where w ≠ 0 it is the derivative; at w = 0, the derivative to the side on which the objective falls, or 0.
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(w != 0, gradient + l1 * np.sign(w), at_zero)


@dataclass(frozen=True)
class OWLQN:
    """Orthant-wise quasi-Newton.

    Within an orthant (a choice of signs) the objective is smooth: an L-BFGS direction is taken from the pseudo-
    gradient, kept in line with it, and the line search is projected back into the orthant, so that weights
    that would change sign become exactly zero.
    """

    memory: int = 10
    tol: float = 1e-5
    name: ClassVar[str] = "owlqn"
    requires: ClassVar[Requires] = Requires(smooth_loss=True, separable_penalty=True)

    def new_memory(self) -> InverseHessian:
        """What is learnt of the curvature."""
        return InverseHessian(self.memory)

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: InverseHessian | None = None,
        known: tuple[float, Array] | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step; converges when no violation is larger than `tol` times the largest at w = 0.

        `known`: loss and gradient at the start, if somebody has them already.
        """
        penalty: Any = problem.penalty
        l1 = penalty.l1_strength

        def evaluate(w: Array) -> tuple[float, Array]:
            loss, gradient = problem.loss_and_gradient(w)
            gradient += penalty.smooth_gradient(w)
            return loss + penalty.value(w), gradient

        w = start.dense().copy()
        if known is None:
            objective, gradient = evaluate(w)
        else:
            objective, gradient = known[0] + penalty.value(w), known[1] + penalty.smooth_gradient(w)
        evaluations = int(known is None)
        hessian = self.new_memory() if memory is None else memory
        slope = pseudo_gradient(w, gradient, l1)
        largest = scale = float(np.max(np.abs(slope), initial=0.0))
        if self.tol > 0 and w.any():
            scale = scale_at_zero(problem)
            evaluations += 1
        status = Status.CONVERGED if largest <= self.tol * scale else None
        while True:
            weights = Weights(w, None, problem.n_features)
            yield Iterate(weights, objective, evaluations, kkt=largest, phase=self.name, status=status)
            if status is not None:
                return
            direction = -hessian.times(slope)
            direction[direction * slope >= 0] = 0.0
            orthant = np.where(w != 0, np.sign(w), -np.sign(slope))
            first = 1.0 if len(hessian) else 1.0 / np.sqrt(dot(slope, slope))

            def along(
                step: float, w: Array = w, d: Array = direction, orthant: Array = orthant
            ) -> tuple[float, Array, Array]:
                point = w + step * d
                point[point * orthant <= 0] = 0.0
                value, gradient = evaluate(point)
                return value, point, gradient

            def decrease(point: Array, w: Array = w, slope: Array = slope) -> float:
                return dot(slope, point - w)

            found = backtrack(along, objective, decrease, first)
            if found is None:
                if len(hessian):  # start afresh from the steepest slope
                    hessian = InverseHessian(self.memory)
                else:
                    status = Status.STALLED
                continue
            value, point, new_gradient, tried = found
            evaluations += tried
            falls = value < objective
            objective = value
            hessian.update(point - w, new_gradient - gradient)
            w, gradient = point, new_gradient
            slope = pseudo_gradient(w, gradient, l1)
            largest = float(np.max(np.abs(slope)))
            status = Status.CONVERGED if largest <= self.tol * scale else None if falls else Status.STALLED
