"""Proximal subgradient with per-coordinate steps (AdaGrad; Duchi, Hazan & Singer 2011), for any loss.

The hinge and perceptron losses have corners, so quasi-Newton methods do not apply. Here every weight has a step
that falls with the gradients it has seen, the penalty is applied by its proximal operator, and the best iterate
is kept.

The perceptron's loss is smallest, and useless, at w = 0; only the direction of w means anything. For such a loss
the average of the iterates is what is learnt (Freund & Schapire 1999).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import PROX, SEPARABLE, Requires
from parsimon.weights import Weights

SHORTEST = 1e-9  # share of the step size that is tried


@dataclass(frozen=True)
class Subgradient:
    """w ← prox(w − η G^{−1/2} g), G the sum of squared gradients (AdaGrad).

    There is no optimality certificate: it stops when the best objective has not improved by `tol` (relative)
    in `window` iterations. If it never has, steps were too long (features may have large values): then it starts again
    with a tenth of them.
    """

    step: float = 0.5
    tol: float = 1e-4
    window: int = 20
    name: ClassVar[str] = "subgradient"
    requires: ClassVar[Requires] = (SEPARABLE, PROX)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the best iterate so far after every step."""
        w = start.dense().copy()
        seen = np.zeros_like(w)
        best, best_objective = w, np.inf
        reference, since = np.inf, 0
        evaluations, step, first = 0, self.step, np.inf
        total = np.zeros_like(w)
        while True:
            loss, gradient = problem.loss_and_gradient(w)
            objective = loss + problem.penalty.value(w)
            evaluations += 1
            first = objective if evaluations == 1 else first
            violation = problem.penalty.violation(w, gradient)
            if problem.loss.trivial_at_zero:
                total += w
                best = total / evaluations
                if evaluations > 1:
                    best_objective = min(best_objective, objective)
            elif objective < best_objective:
                best, best_objective = w, objective
            if not np.isfinite(reference) or best_objective < reference - self.tol * abs(reference):
                reference, since = best_objective, 0
            else:
                since += 1
            helpless = since >= self.window and best_objective >= first
            if helpless and step > SHORTEST * self.step and not problem.loss.trivial_at_zero:
                step, since, w, seen = 0.1 * step, 0, start.dense().copy(), np.zeros_like(w)
                continue
            status = Status.STALLED if since >= self.window else None
            if not violation.any() and objective <= best_objective:
                status = Status.CONVERGED
            weights = Weights(best, None, problem.n_features)
            yield Iterate(
                weights, min(best_objective, objective), evaluations, phase=self.name, status=status
            )
            if status is not None:
                return
            seen += gradient * gradient
            steps = step / np.sqrt(seen + 1e-8)
            w = problem.penalty.prox(w - steps * gradient, steps)
