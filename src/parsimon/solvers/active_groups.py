"""Group penalties: proximal gradient finds the groups that are not zero, quasi-Newton the weights within them.

‖w_m‖₂ has its only kink at w_m = 0. Once it is known which groups are not zero, the objective is smooth in their
weights, and L-BFGS gets to its minimum in a fraction of the steps that proximal gradient needs. (With an L1 part
it is smooth within orthants, and OWL-QN does.) Proximal steps in between let groups go and come; the optimality
conditions of all groups are the stopping rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Known, Requires, Status, residual, scale_at_zero
from parsimon.solvers.fista import FISTA, Lipschitz
from parsimon.solvers.lbfgs import Everywhere, InverseHessian, quasi_newton
from parsimon.solvers.owlqn import Orthants
from parsimon.solvers.working_set import WorkingSet
from parsimon.weights import Weights


@dataclass(frozen=True)
class AwayFromZero:
    """A group penalty where no group is zero: differentiable, but for its L1 part."""

    whole: Any

    def value(self, w: Array) -> float:
        """Ω(w)."""
        return float(self.whole.value(w))

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of Σ_m d_m ‖w_m‖ + l2/2 ‖w‖²; nothing for a group that has become zero."""
        groups = self.whole.groups
        norms = groups.norms(w)
        pull = np.divide(
            self.whole.strength * groups.weight, norms, out=np.zeros_like(norms), where=norms > 0
        )
        out: Array = self.whole.smooth_gradient(w) + groups.spread(pull) * w
        return out


@dataclass(frozen=True)
class ActiveGroups:
    """Turns of proximal gradient and of quasi-Newton; for group penalties with 2-norms, overlapping or not.

    `proximal` and `newton` are the most steps of each in a turn, `memory` the pairs that quasi-Newton keeps.
    """

    tol: float = 1e-5
    proximal: int = 12
    newton: int = 60
    memory: int = 20
    name: ClassVar[str] = "active-groups"
    requires: ClassVar[Requires] = Requires(smooth_loss=True, groups=True)

    def new_memory(self) -> Lipschitz:
        """What proximal gradient learns of the curvature."""
        return Lipschitz()

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: Lipschitz | None = None,
        known: Known | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known`: loss and gradient at the start, if somebody has them already."""
        learnt = self.new_memory() if memory is None else memory
        weights = Weights(start.dense(), None, problem.n_features)
        scale, evaluations, before = -1.0, 0, np.inf
        while True:
            first = FISTA(tol=0.0).iterate(problem, weights, learnt, known)
            used = 0
            for number, step in enumerate(first):
                kkt = np.inf if step.kkt is None else step.kkt
                if scale < 0:
                    scale = scale_at_zero(problem) if self.tol > 0 and weights.values.any() else kkt
                done = Status.CONVERGED if kkt <= self.tol * scale else None
                weights, used = step.weights, step.evaluations
                yield replace(step, evaluations=evaluations + used, phase=self.name, status=done)
                if done is not None:
                    return
                if number >= self.proximal or step.status is not None:
                    break
            evaluations += used
            if getattr(problem.penalty, "norm", 2) != 2:  # an L∞ norm has kinks everywhere
                known = None
                continue
            for number, step in enumerate(self._within(problem, weights)):
                weights, used = step.weights, step.evaluations
                if number:
                    yield replace(step, evaluations=evaluations + used)
            evaluations += used
            known = Known(*problem.second_order(weights.values))
            evaluations += 1
            kkt = residual(problem.penalty, weights.values, known.gradient)
            objective = known.loss + problem.penalty.value(weights.values)
            status = Status.CONVERGED if kkt <= self.tol * scale else None
            if status is None and not objective < before:
                status = Status.STALLED
            before = objective
            yield Iterate(weights, objective, evaluations, kkt=kkt, phase=self.name, status=status)
            if status is not None:
                return

    def _within(self, problem: Problem, weights: Weights) -> Iterator[Iterate]:
        """Quasi-Newton among the features of groups that are not zero, until one nearly is."""
        penalty: Any = problem.penalty
        w = weights.values
        alive = np.flatnonzero((penalty.groups.norms(w) > 0) | (penalty.groups.weight == 0))
        features = np.union1d(np.flatnonzero(w), penalty.groups.features_of(alive)).astype(np.int64)
        narrow = problem.restrict(features)
        smooth = AwayFromZero(narrow.penalty)
        region = Orthants(penalty.l1) if penalty.l1 > 0 else Everywhere()
        first = penalty.groups.norms(w)
        begin = Weights(w[features], None, len(features))
        problem_there = replace(narrow, penalty=smooth)  # type: ignore[arg-type]
        steps = quasi_newton(
            problem_there, begin, region, InverseHessian(self.memory), tol=0.0, name=self.name
        )
        for number, step in enumerate(steps):
            values = np.zeros(problem.n_features)
            values[features] = step.weights.values
            yield replace(step, weights=Weights(values, None, problem.n_features), kkt=None, status=None)
            vanishing = penalty.groups.norms(values)[alive] < 1e-3 * first[alive]
            if step.status is not None or number >= self.newton or np.any(vanishing & (first[alive] > 0)):
                return


def working_set_groups(tol: float = 1e-5) -> WorkingSet:
    """Working sets of whole groups."""
    return WorkingSet(tol=tol, inner=ActiveGroups(tol=0.0), steps=(50, 100, 200, 500))
