"""OWL-QN: orthant-wise limited-memory quasi-Newton (Andrew & Gao 2007), for a smooth loss and an L1 penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon import _core
from parsimon.arrays import Array
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.base import Iterate
from parsimon.solvers.capabilities import PROX, SEPARABLE, SMOOTH_LOSS, Requires
from parsimon.solvers.lbfgs import InverseHessian, quasi_newton
from parsimon.weights import Weights


def pseudo_gradient(w: Array, gradient: Array, l1: float | Array) -> Array:
    """The steepest one-sided slope of smooth + l1·|w| (Andrew & Gao 2007, eq. 4).

    Where w ≠ 0 it is the derivative; at w = 0, the derivative to the side on which the objective falls, or 0.
    """
    strengths = l1 if np.ndim(l1) else np.broadcast_to(np.asarray(l1, np.float64), w.shape)
    return _core.pseudo_gradient(w, gradient, np.ascontiguousarray(strengths))


@dataclass(frozen=True)
class Orthants:
    """Within an orthant (a choice of signs) an L1 norm is linear, so that the objective is smooth."""

    l1: float | Array

    def slope(self, w: Array, gradient: Array) -> Array:
        """The pseudo-gradient."""
        return pseudo_gradient(w, gradient, self.l1)

    def align(self, direction: Array, slope: Array) -> Array:
        """Coordinates that do not go downhill stay where they are."""
        return np.where(direction * slope >= 0, 0.0, direction)

    def keep(self, point: Array, w: Array, slope: Array) -> Array:
        """Weights that would change sign become exactly zero."""
        orthant = np.where(w != 0, np.sign(w), -np.sign(slope))
        return np.where(point * orthant <= 0, 0.0, point)


@dataclass(frozen=True)
class OWLQN:
    """Orthant-wise quasi-Newton.

    An L-BFGS direction is taken from the pseudo-gradient, kept in line with it, and the line search is projected
    back into the orthant.
    """

    memory: int = 10
    tol: float = 1e-4
    name: ClassVar[str] = "owlqn"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, SEPARABLE, PROX)

    def new_memory(self) -> InverseHessian:
        """What is learnt of the curvature."""
        return InverseHessian(self.memory)

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: InverseHessian | None = None,
        known: Evaluation | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known` is the evaluation at the start, if the caller has it."""
        hessian = self.new_memory() if memory is None else memory
        orthants = Orthants(SEPARABLE.of(problem).l1_strength)
        yield from quasi_newton(problem, start, orthants, hessian, tol=self.tol, name=self.name, known=known)
