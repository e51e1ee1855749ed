"""Max-margin Markov networks by cutting planes with one slack variable (Joachims, Finley & Yu 2009).

At any w' the sum of all losses is at least a + g·w, with g the gradient at w' and a what makes both equal there: a
plane that supports it from below. The maximum of the planes so far takes the place of the loss, plus the penalty
½ Σ_k b_k w_k². In the dual that is a quadratic program with one variable a plane,

    max_α a·α − ½ Σ_k (Σ_t α_t g_tk)²/b_k,    α ≥ 0, Σα = 1,    w = −(Σ_t α_t g_t)/b,

whose value is a lower bound on the minimum; the lowest objective met so far is the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import MARGIN_LOSS, PROX, SQUARES, Requires
from parsimon.solvers.simplex_qp import minimize_on_simplex
from parsimon.weights import Weights


@dataclass(frozen=True)
class OneSlack:
    """A plane for every pass over the data; stops when the gap is `tol` of the objective.

    Planes that have not counted for `idle` passes are forgotten.
    """

    tol: float = 1e-3
    idle: int = 50
    name: ClassVar[str] = "one-slack"
    requires: ClassVar[Requires] = (MARGIN_LOSS, PROX, SQUARES)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the best weights so far after every pass."""
        scale = 1 / np.broadcast_to(SQUARES.of(problem).l2_strength, problem.n_features)
        yield from self.refine(problem, scale, start.dense(), np.zeros((0, problem.n_features)), np.zeros(0))

    def refine(
        self, problem: Problem, scale: Array, w: Array, planes: Array, offsets: Array
    ) -> Iterator[Iterate]:
        """The same from planes that are known, at most one, with the penalty ½ Σ_k w_k²/scale_k.

        Where the scale is zero, so is the weight.
        """
        alpha, idle = np.ones(len(planes)), np.zeros(len(planes), int)
        gram = (planes * scale) @ planes.T
        best, passes, floor = None, 0, -np.inf
        while True:
            loss, gradient = problem.loss_and_gradient(w)
            passes += 1
            objective = loss + problem.penalty.value(w)
            if best is None or objective < best.objective:
                best = Iterate(Weights(w, None, problem.n_features), objective, passes)
            products = planes @ (scale * gradient)
            gram = np.block([[gram, products[:, None]], [products, np.sum(scale * gradient**2)]])
            planes = np.vstack([planes, gradient])
            offsets = np.append(offsets, loss - float(gradient @ w))
            idle = np.append(idle, 0)
            alpha = minimize_on_simplex(gram, offsets, np.append(alpha, 0.0) if len(alpha) else np.ones(1))
            w = -scale * (alpha @ planes)
            floor = max(floor, float(offsets @ alpha) - 0.5 * float(alpha @ gram @ alpha))
            gap = best.objective - floor
            status = Status.CONVERGED if gap <= self.tol * abs(best.objective) else None
            support = int(np.count_nonzero(alpha))
            yield Iterate(
                best.weights,
                best.objective,
                passes,
                gap=gap,
                phase=self.name,
                support=support,
                status=status,
            )
            if status is not None:
                return
            idle = np.where(alpha > 0, 0, idle + 1)
            kept = idle <= self.idle
            planes, offsets, alpha, idle = planes[kept], offsets[kept], alpha[kept], idle[kept]
            gram = gram[np.ix_(kept, kept)]
