"""Working sets: solve on the features that matter, look at all others only now and then.

With an L1 or a group penalty almost every weight is zero at the optimum. So an inner solver works on a small set of
features; from time to time the gradient of *all* features shows which of the others (or which groups of them)
violate their optimality condition, and the worst of them come in. When none is left, the whole problem is solved,
and the largest violation is the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.losses import some_missing
from parsimon.penalties.base import never_dropped
from parsimon.penalties.groups import Groups
from parsimon.problem import Problem, Steep
from parsimon.solvers.base import Iterate, Known, Requires, Status
from parsimon.solvers.certificate import lower_bound
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.proximal_quasi_newton import ProximalQuasiNewton
from parsimon.weights import Weights

BLOCK = 1 << 20  # features whose violations are computed at a time


class InnerMemory(Protocol):
    """What an inner solver has learnt of the curvature."""

    def carry(self, old: IntArray, new: IntArray) -> None:
        """From one set of features to another."""
        ...


class InnerSolver(Protocol):
    """A solver that can go on where it stopped, on another set of features."""

    @property
    def requires(self) -> Requires:
        """What it needs."""
        ...

    def new_memory(self) -> Any:
        """An empty memory."""
        ...

    def iterate(
        self, problem: Problem, start: Weights, memory: Any = None, known: Known | None = None
    ) -> Iterator[Iterate]:
        """As every solver; `known` is loss and gradient at the start."""
        ...


@dataclass(frozen=True)
class WorkingSet:
    """Solves over growing and shrinking sets of features with an inner solver.

    Every set holds the non-zero features and the steepest of the others, those above `slack` of the threshold at
    which they would come in, up to a size: `sizes` for the first sets, afterwards the last of them, and always twice
    as many as are non-zero. The first sets are solved roughly, the later ones nearly to the end, each with at most so
    many steps. Converges when no feature at all violates its optimality condition by more than `tol` times the worst
    at w = 0.
    """

    tol: float = 1e-5
    inner: InnerSolver = field(default_factory=lambda: ProximalQuasiNewton(tol=0.0))
    sizes: tuple[int, ...] = (20_000, 100_000)
    steps: tuple[int, ...] = (6, 25, 30, 40, 60, 80)
    slack: float = 0.8
    new_groups: int = 10
    name: ClassVar[str] = "working-set"

    @property
    def requires(self) -> Requires:
        """What the inner solver needs, and violations that tell features or groups apart."""
        return replace(self.inner.requires, separable_or_groups=True)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every inner step, and with a certificate after every look at all features."""
        weights = start.nonzero()
        memory: InnerMemory = self.inner.new_memory()
        features = weights.features
        evaluations = round_number = 0
        fresh = True  # nothing is known of the curvature
        scale = None
        if len(weights.values):
            scale = look_at_all(problem, Weights.zeros(problem.n_features), self.slack).largest
        while True:
            view = look_at_all(problem, weights, self.slack)
            evaluations += 1
            scale = view.largest if scale is None else scale
            converged = view.largest <= self.tol * scale
            certified = Iterate(
                weights, view.objective, evaluations, kkt=view.largest, gap=view.gap, phase="all features"
            )
            yield replace(certified, status=Status.CONVERGED if converged else None)
            if converged:
                return
            chosen = self.choose(view, weights, round_number)
            assert features is not None
            memory.carry(features, chosen)
            features = chosen
            goal = 0.1 * view.largest if round_number < len(self.sizes) else 0.7 * self.tol * scale
            most = self.steps[min(round_number, len(self.steps) - 1)]
            used, best = 0, view.objective
            narrow = problem.restrict(chosen)
            first = Weights(weights.at(chosen), None, len(chosen))
            diagonal = narrow.diagonal(view.marginals)
            known = Known(view.loss, view.gradient_of(chosen), diagonal)
            del view
            for number, step in enumerate(self.inner.iterate(narrow, first, memory, known)):
                weights = Weights(step.weights.values, chosen, problem.n_features)
                used = step.evaluations
                if number:
                    phase = f"{len(chosen):,} features"
                    yield replace(
                        step,
                        weights=weights,
                        kkt=None,
                        evaluations=evaluations + used,
                        status=None,
                        phase=phase,
                    )
                if step.status is not None or number >= most or (step.kkt is not None and step.kkt <= goal):
                    break
            evaluations += used
            weights = weights.nonzero()
            round_number += 1
            if step.objective < best - 4 * np.finfo(float).eps * abs(best):  # rounding is no progress
                fresh = False
            elif fresh:
                yield replace(certified, evaluations=evaluations, status=Status.STALLED)
                return
            else:  # what was learnt of the curvature may have misled: once more without it
                memory, fresh = self.inner.new_memory(), True

    def choose(self, view: View, weights: Weights, round_number: int) -> IntArray:
        """The non-zero features and the steepest of the others, ascending; or their groups, as wholes."""
        active = weights.features
        assert active is not None
        if isinstance(view, GroupView):
            return view.with_groups(active, self.new_groups)
        assert isinstance(view, FeatureView)
        size = max(self.sizes[min(round_number, len(self.sizes) - 1)], 2 * len(active))
        return view.with_steepest(active, size - len(active))


@dataclass(frozen=True)
class View:
    """The optimality conditions of all features at some weights."""

    loss: float
    objective: float
    largest: float
    gap: float | None
    marginals: list[Any] = field(repr=False)  # of labels, batch by batch

    def gradient_of(self, features: IntArray) -> Array:
        """The gradient of the loss by some features (ascending) that were looked at."""
        raise NotImplementedError


@dataclass(frozen=True)
class FeatureView(View):
    """For penalties on single weights. Only steep features are known, and those that are not zero."""

    known: IntArray = field(repr=False)  # ascending
    gradient: Array = field(repr=False)  # theirs
    excess: Array = field(repr=False)  # by how much it is above the strength of the L1 norm

    def gradient_of(self, features: IntArray) -> Array:
        """The gradient of known features."""
        return self.gradient[np.searchsorted(self.known, features)]

    def with_steepest(self, active: IntArray, room: int) -> IntArray:
        """The active features and so many others."""
        others = ~np.isin(self.known, active, assume_unique=True)
        candidates, steepness = self.known[others], self.excess[others]
        if len(candidates) > room:
            candidates = candidates[np.argpartition(-steepness, room - 1)[:room]] if room else candidates[:0]
        return np.union1d(active, candidates)


@dataclass(frozen=True)
class GroupView(View):
    """For penalties on groups: whole groups come in."""

    gradient: Array = field(repr=False)  # of all features
    groups: Groups
    violation: Array  # of each group
    free: IntArray = field(repr=False)  # features that are in no group that could be dropped

    def gradient_of(self, features: IntArray) -> Array:
        """The gradient of any features."""
        return self.gradient[features]

    def with_groups(self, active: IntArray, new: int) -> IntArray:
        """The features of all groups with an active feature, and of so many others that violate most."""
        mark = np.zeros(self.groups.n_features)
        mark[active] = 1.0
        inside = self.groups.norms(mark) > 0
        others = np.where(inside, 0.0, self.violation)
        steepest = np.argsort(-others, kind="stable")[:new]
        chosen = np.concatenate([np.flatnonzero(inside), steepest[others[steepest] > 0]])
        parts = [self.groups.members(int(m)) for m in chosen]
        return np.unique(np.concatenate([self.free, active, *parts]).astype(np.int64))


def look_at_all(problem: Problem, weights: Weights, slack: float, narrow: Problem | None = None) -> View:
    """Objective, the largest violation over all features or groups, who might come in, and a duality gap.

    `narrow` is the problem restricted to the features that have weights, if somebody has it already.
    """
    penalty: Any = problem.penalty
    if penalty.groups is not None:
        return look_at_groups(problem, weights)
    active = weights.features
    assert active is not None
    mine = penalty.restrict(active)
    steep = _steep(problem, weights, slack, narrow)
    objective = steep.loss + mine.value(weights.values)
    others = ~np.isin(steep.features, active, assume_unique=True)
    known = np.concatenate([active, steep.features[others]])
    gradient = np.concatenate([steep.of_active, steep.gradient[others]])
    excess = np.abs(gradient) - (
        penalty.l1_strength if penalty.weight is None else penalty.l1_strength[known]
    )
    largest = max(
        float(np.max(mine.violation(weights.values, steep.of_active), initial=0.0)),
        float(np.max(excess[len(active) :], initial=0.0)),
    )
    order = np.argsort(known, kind="stable")
    known, gradient, excess = known[order], gradient[order], excess[order]
    a = steep.loss - dot(weights.values, steep.of_active)
    # Features that are not steep do not reach the threshold, so they do not matter to the dual norm.
    gap = _gap(problem, objective, a, gradient, penalty.restrict(known))
    return FeatureView(steep.loss, objective, largest, gap, steep.marginals, known, gradient, excess)


def _steep(problem: Problem, weights: Weights, slack: float, narrow: Problem | None) -> Steep:
    """Features above `slack` of their threshold: by screening, or out of the gradient of all of them."""
    penalty: Any = problem.penalty
    active = weights.features
    assert active is not None
    if problem.can_screen and penalty.weight is None:
        return problem.steep(weights.values, active, slack * penalty.l1, narrow)
    marginals: list[Any] = []
    loss, gradient = problem.loss_and_full_gradient(weights.values, active, marginals)
    found = []
    for first in range(0, problem.n_features, BLOCK):
        part = slice(first, min(first + BLOCK, problem.n_features))
        threshold = penalty.l1_strength if penalty.weight is None else penalty.l1_strength[part]
        found.append(np.flatnonzero(np.abs(gradient[part]) > slack * threshold) + first)
    features = np.concatenate([np.zeros(0, np.int64), *found])
    return Steep(loss, features, gradient[features], gradient[active], marginals)


def look_at_groups(problem: Problem, weights: Weights) -> GroupView:
    """The same for a penalty on groups."""
    active = weights.features
    assert active is not None
    marginals: list[Any] = []
    loss, gradient = problem.loss_and_full_gradient(weights.values, active, marginals)
    penalty: Any = problem.penalty
    objective = loss + penalty.restrict(active).value(weights.values)
    gap = _gap(problem, objective, loss - dot(weights.values, gradient[active]), gradient, penalty)
    violation, free = (
        penalty.group_violation(weights.dense(), gradient),
        never_dropped(penalty, problem.n_features),
    )
    largest = float(np.max(violation, initial=0.0))
    if len(free):  # what no group has counts too: biases, for one
        of_free = penalty.violation(weights.dense(), gradient)[free]
        largest = max(largest, float(np.max(of_free)))
    return GroupView(loss, objective, largest, gap, marginals, gradient, penalty.groups, violation, free)


def _gap(problem: Problem, objective: float, a: float, gradient: Array, penalty: Any) -> float | None:
    """How much lower the optimum can be, where that is known: a convex loss, a penalty on all features."""
    # With missing labels the problem is not convex, and neither is what belief propagation takes for log Z.
    convex = all(batch.structure.exact and not some_missing(batch.gold) for batch in problem.batches)
    if problem.loss.name != "log" or not convex:
        return None
    bound = lower_bound(a, gradient, penalty)
    return objective - bound if bound > 0 else None


def working_set_owlqn(tol: float = 1e-5) -> WorkingSet:
    """Working sets on which OWL-QN works."""
    return WorkingSet(tol=tol, inner=OWLQN(tol=0.0), steps=(20, 60, 200))
