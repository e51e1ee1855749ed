"""Working sets: solve on the features that matter, look at all others only now and then.

With an L1 penalty almost every weight is zero at the optimum. So an inner solver works on a small set of features;
from time to time the gradient of *all* features shows which of the others violate their optimality condition,
and the worst of them come in. When none is left, the whole problem is solved, and the largest violation is
the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Requires, Status, Weights
from parsimon.solvers.owlqn import OWLQN

BLOCK = 1 << 20  # features whose violations are computed at a time


@dataclass(frozen=True)
class WorkingSet:
    """Solves over growing and shrinking sets of features with an inner solver.

    Every set holds the non-zero features and the worst violators, `growth` times as many as are non-zero and at
    least `smallest`. It is solved until its largest violation is `inner` times what it was for all features.
    Converges when no feature violates its optimality condition by more than `tol` times the worst at w = 0.
    """

    tol: float = 1e-5
    inner: float = 0.3
    smallest: int = 20_000
    growth: float = 2.0
    memory: int = 10
    solver: type[OWLQN] = OWLQN
    name: ClassVar[str] = "working-set"
    requires: ClassVar[Requires] = Requires(smooth_loss=True, separable_penalty=True)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every inner step, and with a certificate after every look at all features."""
        weights = start.nonzero()
        evaluations = 0
        scale = None
        while True:
            view = look_at_all(problem, weights)
            evaluations += 1
            if scale is None:
                scale = view.largest if not len(weights.values) else largest_at_zero(problem)
            converged = view.largest <= self.tol * scale
            yield Iterate(
                weights,
                view.objective,
                evaluations,
                kkt=view.largest,
                gap=view.gap,
                phase="all features",
                status=Status.CONVERGED if converged else None,
            )
            if converged:
                return
            chosen = self.choose(view, weights)
            goal = max(self.inner * view.largest, 0.5 * self.tol * scale)
            steps = 0
            inner = self.solver(memory=self.memory, tol=0.0)
            for step in inner.iterate(problem.restrict(chosen), Weights(weights.at(chosen), None, len(chosen))):
                weights = Weights(step.weights.values, chosen, problem.n_features)
                steps = step.evaluations
                if step.status is Status.STALLED:
                    break
                yield replace(
                    step, weights=weights, kkt=None, gap=None, evaluations=evaluations + steps, status=None,
                    phase=f"{len(chosen)} features",
                )
                if step.kkt is not None and step.kkt <= goal:
                    break
            evaluations += steps
            if steps <= 1:
                yield replace(
                    Iterate(weights, view.objective, evaluations, kkt=view.largest, gap=view.gap), status=Status.STALLED
                )
                return
            weights = weights.nonzero()

    def choose(self, view: View, weights: Weights) -> IntArray:
        """The non-zero features and the worst violators among the others, ascending."""
        active = weights.features if weights.features is not None else np.arange(weights.n_features)
        room = max(self.smallest, int(self.growth * len(active))) - len(active)
        others = ~np.isin(view.violators, active, assume_unique=True)
        candidates, by_how_much = view.violators[others], view.violations[others]
        if len(candidates) > room:
            candidates = candidates[np.argpartition(-by_how_much, room - 1)[:room]]
        return np.union1d(active, candidates)


@dataclass(frozen=True)
class View:
    """The optimality conditions of all features at some weights."""

    objective: float
    largest: float
    gap: float | None
    violators: IntArray = field(repr=False)
    violations: Array = field(repr=False)


def look_at_all(problem: Problem, weights: Weights) -> View:
    """Objective, violations of all features and, for an L1 part, a duality gap.

    The gap: let p be the model's distribution over outputs, g = ∇L(w) and θ = min(1, l1/‖g‖∞). The mixture θp + (1−θ)gold
    is feasible in the dual (maximum entropy under |Φᵀ(μ − gold)| ≤ l1), and by concavity its entropy is at least θ times
    p's, which is L(w) − w·g. So the optimum is at least θ (L(w) − w·g).
    """
    dense = weights.dense()
    loss, gradient = problem.loss_and_gradient(dense)
    objective = loss + problem.penalty.value(dense)
    strength = getattr(problem.penalty, "l1", 0.0)
    features: list[IntArray] = []
    violations: list[Array] = []
    steepest = 0.0
    for first in range(0, problem.n_features, BLOCK):
        part = np.arange(first, min(first + BLOCK, problem.n_features))
        violation = problem.penalty.restrict(part).violation(dense[part], gradient[part])
        found = np.flatnonzero(violation)
        features.append(part[found])
        violations.append(violation[found])
        steepest = max(steepest, float(np.max(np.abs(gradient[part]), initial=0.0)))
    gap = None
    if strength > 0 and problem.loss.name == "log" and getattr(problem.penalty, "weight", None) is None:
        theta = min(1.0, strength / steepest) if steepest else 1.0
        gap = objective - theta * (loss - dot(dense, gradient))
    everything = np.concatenate(violations) if violations else np.zeros(0)
    return View(
        objective,
        float(np.max(everything, initial=0.0)),
        gap,
        np.concatenate(features) if features else np.zeros(0, np.int64),
        everything,
    )


def largest_at_zero(problem: Problem) -> float:
    """The largest violation at w = 0: the scale of the problem."""
    return look_at_all(problem, Weights.zeros(problem.n_features)).largest

