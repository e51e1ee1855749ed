"""Working sets: solve on the features that matter, look at all others only now and then.

With an L1 or a group penalty almost every weight is zero at the optimum. So an inner solver works on a small set of
features; from time to time the gradient of *all* features shows which of the others (or which groups of them)
violate their optimality condition, and the worst of them come in. When none is left, the whole problem is solved,
and the largest violation is the certificate.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import ElasticPenalty, Penalty, never_dropped
from parsimon.penalties.groups import Groups
from parsimon.problem import Evaluation, Marginals, Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import (
    ELASTIC_OR_GROUPS,
    SEPARABLE,
    SINGLE_OR_GROUPS,
    Capability,
    Requires,
)
from parsimon.solvers.certificate import has_finite_conjugate, lower_bound
from parsimon.solvers.convergence import Goal, goal_of
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.proximal_quasi_newton import ProximalQuasiNewton
from parsimon.solvers.settings import UsesThreads
from parsimon.weights import Weights

ROUGHLY = 0.1  # the first sets are solved until violations are this share of the largest over all features:
NEARLY = 0.7  # they will change anyway; later ones to this share of what the whole problem is solved to
NEAR = 10  # times the violations at convergence: from there on, the mean of iterates is looked at
ROUNDING = 4 * float(np.finfo(float).eps)  # of an objective: a smaller gain is none


class InnerMemory(Protocol):
    """What an inner solver has learnt of the curvature."""

    def carry(self, old: IntArray, new: IntArray) -> None:
        """From one set of features to another."""
        ...


class InnerSolver(Protocol):
    """A solver that can go on where it stopped, on another set of features."""

    @property
    def requires(self) -> tuple[Capability[Any], ...]:
        """What it needs."""
        ...

    def new_memory(self) -> Any:
        """An empty memory, of the solver's own kind: an `InnerMemory`."""
        ...

    def iterate(
        self, problem: Problem, start: Weights, memory: Any = None, known: Evaluation | None = None
    ) -> Iterator[Iterate]:
        """As every solver; `known` is the evaluation at the start, if the caller has it."""
        ...


class Subproblem(NamedTuple):
    """The problem on a working set, and what is known where its solver starts."""

    problem: Problem
    features: IntArray  # the working set
    n_features: int  # in all
    start: Weights
    known: Evaluation

    @classmethod
    def of(cls, problem: Problem, weights: Weights, view: View, features: IntArray) -> Subproblem:
        """The problem of these features (ascending), of which a view of all features knows the gradient."""
        narrow = problem.restrict(features)
        start = Weights(weights.at(features), None, len(features))
        known = Evaluation(view.loss, view.gradient_of(features), view.curvature_in(narrow))
        return cls(narrow, features, problem.n_features, start, known)

    def lifted(self, weights: Weights) -> Weights:
        """Weights of the working set as weights of all features."""
        return Weights(weights.values, self.features, self.n_features)


@dataclass
class Mean:
    """The mean of the iterates on a working set, in which the n-th counts n times: the first ones are further off."""

    count: int = 0
    _sum: Weights | None = None

    def take(self, weights: Weights) -> None:
        """One more; all of them are of the same features."""
        self.count += 1
        if self._sum is None:
            self._sum = replace(weights, values=np.zeros(len(weights.values)))
        self._sum.values[:] += self.count * weights.values

    @property
    def weights(self) -> Weights:
        """The mean."""
        assert self._sum is not None
        return replace(self._sum, values=self._sum.values / (self.count * (self.count + 1) / 2)).nonzero()


@dataclass(frozen=True)
class WorkingSet:
    """Solves over growing and shrinking sets of features with an inner solver.

    Every set holds the non-zero features and the steepest of the others, those above `slack` of the threshold at
    which they would come in, up to a size: `sizes` for the first sets, afterwards the last of them, and always twice
    as many as are non-zero. The first sets are solved roughly, the later ones nearly to the end, each with at most so
    many steps. Converges when the optimality conditions of all features and the duality gap do (`convergence.py`).

    Near the end, the mean of a set's iterates is looked at as well, for a lower bound on the objective: any weights
    give one, and the mean has a much better one than the last iterate, whose gradient still goes back and forth across
    the thresholds of thousands of features (see docs/numerics.md).
    """

    tol: float = 1e-4
    inner: InnerSolver = field(default_factory=lambda: ProximalQuasiNewton(tol=0.0))
    sizes: tuple[int, ...] = (20_000, 100_000)
    steps: tuple[int, ...] = (6, 25, 30, 40, 60, 200)
    slack: float = 0.8
    new_groups: int = 10
    threads: int = 1  # of the inner solver
    name: ClassVar[str] = "working-set"

    @property
    def requires(self) -> Requires:
        """What the inner solver needs, and a violation for every feature or group."""
        return (*self.inner.requires, SINGLE_OR_GROUPS, ELASTIC_OR_GROUPS)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every inner step, and with a certificate after every look at all features."""
        weights = start.nonzero()
        if self.threads > 1 and isinstance(self.inner, UsesThreads):
            threaded: InnerSolver = replace(self.inner, threads=self.threads)  # type: ignore[type-var]
            yield from replace(self, inner=threaded, threads=1).iterate(problem, start)
            return
        memory: InnerMemory = self.inner.new_memory()
        features, goal, mean = weights.features, None, Mean()
        evaluations = rounds = 0
        floor = -np.inf  # no weights have an objective below it
        fresh = True  # nothing is known of the curvature
        while True:
            view = look_at_all(problem, weights, self.slack)
            evaluations += 1
            if goal is None:
                goal, more = goal_of(problem, self.tol, weights.values, view.largest)
                evaluations += more
            floor = max(floor, view.floor)
            if view.largest <= NEAR * goal.violation and mean.count > 1:
                floor = max(floor, look_at_all(problem, mean.weights, self.slack).floor)
                evaluations += 1
            view = view.above(floor)
            certified = view.certificate(weights, evaluations)
            if view.reached(goal):
                yield replace(certified, status=Status.CONVERGED)
                return
            yield certified
            chosen = self.choose(view, weights, rounds)
            assert features is not None
            inner = ROUGHLY * view.largest if rounds < len(self.sizes) else NEARLY * view.aim(goal)
            inside = Subproblem.of(problem, weights, view, chosen)
            del view  # it is as large as all features
            memory.carry(features, chosen)
            features, mean = chosen, Mean()
            last = yield from self._solve(inside, memory, inner, rounds, evaluations, mean)
            evaluations, weights = last.evaluations, last.weights.nonzero()
            del inside  # no two restricted problems, and none beside a look at all features
            rounds += 1
            if last.objective < certified.objective - ROUNDING * abs(certified.objective):
                fresh = False
            elif fresh:
                yield replace(certified, evaluations=evaluations, status=Status.STALLED)
                return
            else:  # what was learnt of the curvature may have misled: once more without it
                memory, fresh = self.inner.new_memory(), True

    def _solve(
        self, inside: Subproblem, memory: InnerMemory, goal: float, rounds: int, before: int, mean: Mean
    ) -> Generator[Iterate, None, Iterate]:
        """The inner solver's steps on a working set, after so many evaluations; returns the last."""
        most = self.steps[min(rounds, len(self.steps) - 1)]
        phase = f"{len(inside.features):,} features"
        number = -1
        for step in self.inner.iterate(inside.problem, inside.start, memory, inside.known):
            if not step.whole:
                yield step.within(inside.lifted(step.weights))
                continue
            number += 1
            now = replace(
                step,
                weights=inside.lifted(step.weights),
                kkt=None,
                evaluations=before + step.evaluations,
                status=None,
                phase=phase,
            )
            if number:
                mean.take(now.weights)
                yield now
            if step.status is not None or number >= most or (step.kkt is not None and step.kkt <= goal):
                break
        return now

    def choose(self, view: View, weights: Weights, rounds: int) -> IntArray:
        """The non-zero features and the steepest of the others, ascending; or their groups, as wholes."""
        active = weights.features
        assert active is not None
        if isinstance(view, GroupView):
            return view.with_groups(active, self.new_groups)
        assert isinstance(view, FeatureView)
        size = max(self.sizes[min(rounds, len(self.sizes) - 1)], 2 * len(active))
        return view.with_steepest(active, size - len(active))


@dataclass(frozen=True)
class View:
    """The optimality conditions of all features at some weights."""

    loss: float
    objective: float
    largest: float
    gap: float | None
    tight: bool  # whether the gap goes to zero with the square of violations; else it goes with the largest
    marginals: Marginals = field(repr=False)

    @property
    def floor(self) -> float:
        """A lower bound on the objective of all weights."""
        return -np.inf if self.gap is None else self.objective - self.gap

    def above(self, floor: float) -> Self:
        """The same with another lower bound."""
        return self if floor == -np.inf else replace(self, gap=self.objective - floor)

    def reached(self, goal: Goal) -> bool:
        """Whether weights have converged."""
        return goal.reached(self.largest, self.gap if self.tight else None, self.objective)

    def aim(self, goal: Goal) -> float:
        """What to bring violations down to next."""
        return goal.aim(self.largest)

    def certificate(self, weights: Weights, evaluations: int) -> Iterate:
        """An iterate with these weights and their certificate."""
        phase = "all features"
        return Iterate(weights, self.objective, evaluations, kkt=self.largest, gap=self.gap, phase=phase)

    def gradient_of(self, features: IntArray) -> Array:
        """The gradient of the loss by some features (ascending) that were looked at."""
        raise NotImplementedError

    def curvature_in(self, narrow: Problem) -> Array | None:
        """The diagonal of the Hessian in a restricted problem; None where it is better evaluated anew."""
        return narrow.diagonal(self.marginals)


@dataclass(frozen=True)
class FeatureView(View):
    """For penalties on single weights. Knows the features with a large gradient, and those that are not zero."""

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
    """For penalties on groups: whole groups come in, but for what an L1 part keeps at zero within them."""

    gradient: Array = field(repr=False)  # of all features
    groups: Groups
    violation: Array  # of each group
    free: IntArray = field(repr=False)  # features that are in no group that could be dropped
    shallow: IntArray = field(repr=False)  # those whose gradient is well below the strength of an L1 part

    def gradient_of(self, features: IntArray) -> Array:
        """The gradient of any features."""
        return self.gradient[features]

    def aim(self, goal: Goal) -> float:
        """What to bring violations down to next: the gap goes with their square, so it says how far that is."""
        return goal.aim(self.largest, self.gap if self.tight else None, self.objective)

    def curvature_in(self, narrow: Problem) -> Array | None:
        """None: an evaluation knows label pairs that hardly occur, which are in no group, for one."""
        return None

    def with_groups(self, active: IntArray, new: int) -> IntArray:
        """The features of all groups with an active feature, and of so many others that violate most."""
        mark = np.zeros(self.groups.n_features)
        mark[active] = 1.0
        inside = self.groups.norms(mark) > 0
        others = np.where(inside, 0.0, self.violation)
        steepest = np.argsort(-others, kind="stable")[:new]
        chosen = np.concatenate([np.flatnonzero(inside), steepest[others[steepest] > 0]])
        members = np.unique(np.concatenate([np.zeros(0), *map(self.groups.members, chosen.tolist())]))
        if len(self.shallow):
            members = np.setdiff1d(members, self.shallow, assume_unique=True)
        return np.unique(np.concatenate([self.free, active, members]).astype(np.int64))


def look_at_all(problem: Problem, weights: Weights, slack: float, narrow: Problem | None = None) -> View:
    """Objective, the largest violation over all features or groups, the candidates to come in, and a duality gap.

    `narrow` is the problem restricted to the features that have weights, if the caller has it.
    """
    if problem.penalty.groups is not None:
        return look_at_groups(problem, weights, slack)
    active = weights.features
    assert active is not None
    mine, l1 = problem.penalty.restrict(active), SEPARABLE.of(problem).l1_strength
    screened = problem.screen(weights, slack * l1, narrow)
    objective = screened.loss + mine.value(weights.values)
    others = ~np.isin(screened.features, active, assume_unique=True)
    known = np.concatenate([active, screened.features[others]])
    gradient = np.concatenate([screened.of_active, screened.gradient[others]])
    excess = np.abs(gradient) - (l1[known] if isinstance(l1, np.ndarray) and l1.ndim else l1)
    largest = max(
        float(np.max(mine.violation(weights.values, screened.of_active), initial=0.0)),
        float(np.max(excess[len(active) :], initial=0.0)),
    )
    order = np.argsort(known, kind="stable")
    known, gradient, excess = known[order], gradient[order], excess[order]
    a = screened.loss - dot(weights.values, screened.of_active)
    # Features that were not found do not reach the threshold, so they do not matter to the dual norm.
    gap = _gap(problem, objective, a, gradient, problem.penalty.restrict(known))
    tight = gap is not None and has_finite_conjugate(problem.penalty)
    return FeatureView(
        screened.loss, objective, largest, gap, tight, screened.marginals, known, gradient, excess
    )


def look_at_groups(problem: Problem, weights: Weights, slack: float) -> GroupView:
    """The same for a penalty on groups."""
    active, penalty, groups = weights.features, problem.penalty, problem.penalty.groups
    assert active is not None
    assert groups is not None
    there = problem.evaluate(weights, marginals=True)
    objective = there.loss + penalty.restrict(active).value(weights.values)
    a = there.loss - dot(weights.values, there.gradient[active])
    gap = _gap(problem, objective, a, there.gradient, penalty)
    w, free = weights.dense(), never_dropped(penalty, problem.n_features)
    violation = penalty.group_violation(w, there.gradient)
    largest = float(np.max(violation, initial=0.0))
    if len(free):  # features in no group count too: biases, for one
        largest = max(largest, float(np.max(penalty.violation(w, there.gradient)[free])))
    tight = gap is not None and has_finite_conjugate(penalty)
    l1 = penalty.l1 if isinstance(penalty, ElasticPenalty) else 0.0
    shallow = np.flatnonzero(np.abs(there.gradient) <= slack * l1) if l1 > 0 else np.zeros(0, np.int64)
    return GroupView(
        there.loss,
        objective,
        largest,
        gap,
        tight,
        there.marginals,
        there.gradient,
        groups,
        violation,
        free,
        shallow,
    )


def _gap(problem: Problem, objective: float, a: float, gradient: Array, penalty: Penalty) -> float | None:
    """How much lower the optimum can be, where that is known: a convex log loss, a penalty on all features."""
    if problem.loss.name != "log" or not problem.convex:
        return None
    bound = lower_bound(a, gradient, penalty)
    return objective - bound if bound > 0 else None


def working_set_owlqn(tol: float = 1e-4) -> WorkingSet:
    """Working sets on which OWL-QN works."""
    return WorkingSet(tol=tol, inner=OWLQN(tol=0.0), steps=(20, 60, 200))
