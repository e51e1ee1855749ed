"""Group penalties: proximal gradient finds the non-zero groups, quasi-Newton the weights within them.

‖w_m‖₂ has its only kink at w_m = 0. Once the non-zero groups are known, the objective is smooth in their
weights, and L-BFGS reaches its minimum in a fraction of the steps that proximal gradient needs. (With an L1 part
it is smooth within orthants, and OWL-QN does.) Proximal steps in between let groups go and come; the optimality
conditions of all groups are the stopping rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import BasePenalty, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.base import Iterate, Status, residual
from parsimon.solvers.capabilities import GROUP_NORMS, GROUPS, PROX, SMOOTH_LOSS, Requires
from parsimon.solvers.convergence import Goal, goal_of
from parsimon.solvers.fista import FISTA, Lipschitz
from parsimon.solvers.lbfgs import Everywhere, InverseHessian, quasi_newton
from parsimon.solvers.owlqn import Orthants
from parsimon.solvers.working_set import WorkingSet
from parsimon.weights import Weights

VANISHING = (
    1e-3  # a group whose norm has fallen to this share is left to proximal steps, which can make it zero
)


@dataclass(frozen=True)
class AwayFromZero(BasePenalty):
    """A group penalty where no group is zero: differentiable, but for its L1 part."""

    whole: Penalty

    @property
    def strength(self) -> float:
        """That of the group norms."""
        return self.whole.strength

    def value(self, w: Array) -> float:
        """Ω(w)."""
        return self.whole.value(w)

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of Σ_m d_m ‖w_m‖ + l2/2 ‖w‖²; zero for a group that has become zero."""
        groups: Groups | None = self.whole.groups
        assert groups is not None
        norms = groups.norms(w)
        pull = np.divide(
            self.whole.strength * groups.weight, norms, out=np.zeros_like(norms), where=norms > 0
        )
        return self.whole.smooth_gradient(w) + groups.spread(pull) * w

    def prox(self, v: Array, step: float | Array) -> Array:
        """That of the whole penalty."""
        return self.whole.prox(v, step)

    def violation(self, w: Array, gradient: Array) -> Array:
        """That of the whole penalty."""
        return self.whole.violation(w, gradient)

    def restrict(self, features: IntArray) -> AwayFromZero:
        """The penalty of some of the weights."""
        return AwayFromZero(self.whole.restrict(features))

    def scaled(self, strength: float) -> AwayFromZero:
        """The same with another strength."""
        return AwayFromZero(self.whole.scaled(strength))


@dataclass(frozen=True)
class ActiveGroups:
    """Alternates proximal gradient and quasi-Newton; for group penalties with 2-norms, overlapping or not.

    `proximal` and `newton` limit the steps of each in a turn; `memory` is how many pairs quasi-Newton keeps.
    """

    tol: float = 1e-4
    proximal: int = 12
    newton: int = 60
    memory: int = 20
    name: ClassVar[str] = "active-groups"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, GROUPS, GROUP_NORMS, PROX)

    def new_memory(self) -> Lipschitz:
        """What proximal gradient learns of the curvature."""
        return Lipschitz()

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: Lipschitz | None = None,
        known: Evaluation | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known` is the evaluation at the start, if the caller has it."""
        learnt = self.new_memory() if memory is None else memory
        weights = Weights(start.dense(), None, problem.n_features)
        goal, evaluations, before = None, 0, np.inf
        while True:
            used = 0
            number = -1
            for step in FISTA(tol=0.0).iterate(problem, weights, learnt, known):
                if not step.whole:
                    yield step
                    continue
                number += 1
                kkt = np.inf if step.kkt is None else step.kkt
                if goal is None:
                    goal, more = goal_of(problem, self.tol, weights.values, kkt)
                    evaluations += more
                done = Status.CONVERGED if goal.reached(kkt) else None
                weights, used = step.weights, step.evaluations
                yield replace(step, evaluations=evaluations + used, phase=self.name, status=done)
                if done is not None:
                    return
                if number >= self.proximal or step.status is not None:
                    break
            assert goal is not None
            evaluations += used
            if GROUP_NORMS.of(problem).norm != 2:  # an L∞ norm has kinks everywhere
                known = None
                continue
            number = -1
            for step in self._within(problem, weights):
                if not step.whole:
                    yield step
                    continue
                number += 1
                weights, used = step.weights, step.evaluations
                if number:
                    yield replace(step, evaluations=evaluations + used)
            evaluations += used + 1
            known = problem.evaluate(weights.values, curvature=True)
            now = self._judge(problem, weights, known, evaluations, goal, before)
            before = now.objective
            yield now
            if now.status is not None:
                return

    def _judge(
        self,
        problem: Problem,
        weights: Weights,
        known: Evaluation,
        evaluations: int,
        goal: Goal,
        before: float,
    ) -> Iterate:
        """The iterate at the end of a turn: stalled if the objective is not below the one `before`."""
        kkt = residual(problem.penalty, weights.values, known.gradient)
        objective = known.loss + problem.penalty.value(weights.values)
        status = Status.CONVERGED if goal.reached(kkt) else None
        if status is None and not objective < before:
            status = Status.STALLED
        return Iterate(weights, objective, evaluations, kkt=kkt, phase=self.name, status=status)

    def _within(self, problem: Problem, weights: Weights) -> Iterator[Iterate]:
        """Quasi-Newton on the features of the non-zero groups, until one of these groups nearly vanishes."""
        penalty = GROUP_NORMS.of(problem)
        w = weights.values
        alive = np.flatnonzero((penalty.groups.norms(w) > 0) | (penalty.groups.weight == 0))
        features = np.union1d(np.flatnonzero(w), penalty.groups.features_of(alive)).astype(np.int64)
        narrow = problem.restrict(features)
        smooth = AwayFromZero(narrow.penalty)
        region = Orthants(penalty.l1) if penalty.l1 > 0 else Everywhere()
        first = penalty.groups.norms(w)
        begin = Weights(w[features], None, len(features))
        steps = quasi_newton(
            narrow.with_penalty(smooth), begin, region, InverseHessian(self.memory), tol=0.0, name=self.name
        )
        number = -1
        for step in steps:
            values = np.zeros(problem.n_features)
            values[features] = step.weights.values
            if not step.whole:
                yield step.within(Weights(values, None, problem.n_features))
                continue
            number += 1
            yield replace(step, weights=Weights(values, None, problem.n_features), kkt=None, status=None)
            vanishing = penalty.groups.norms(values)[alive] < VANISHING * first[alive]
            if step.status is not None or number >= self.newton or np.any(vanishing & (first[alive] > 0)):
                return


def working_set_groups(tol: float = 1e-4) -> WorkingSet:
    """Working sets of whole groups."""
    return WorkingSet(tol=tol, inner=ActiveGroups(tol=0.0), steps=(50, 100, 200, 500))
