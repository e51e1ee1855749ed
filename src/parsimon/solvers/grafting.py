"""Grafting (Perkins, Lacker & Theiler 2003) and Grafting-Light (Zhu, Lao & Xing 2010): features come in one by one.

Both keep a set S of selected features and go back and forth between two things: to make the objective smaller over S,
and to add the features (or groups of features) outside S that violate their optimality condition most, |∂_k L| > λ.
Grafting minimises over S before it looks for more; Grafting-Light takes a single quasi-Newton step. As the step's
gradient is needed anyway, looking at all features costs it nothing more, and where a gradient is expensive (inference
in a Markov random field is) it needs a fraction of Grafting's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.base import Penalty, never_dropped
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.active_groups import ActiveGroups
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import (
    ELASTIC_OR_GROUPS,
    NORMS_IF_GROUPS,
    PROX,
    SINGLE_OR_GROUPS,
    SMOOTH_LOSS,
    Requires,
)
from parsimon.solvers.convergence import goal_of
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.problem_views import ProblemView
from parsimon.solvers.working_set import (
    NEARLY,
    FeatureView,
    GroupView,
    InnerMemory,
    InnerSolver,
    View,
    look_at_all,
)
from parsimon.weights import Weights


@dataclass(frozen=True)
class Grafting:
    """Selects `unit` features (or groups) at a time, and takes so many `steps` in between; None: until S is solved.

    Converges when the optimality conditions of all features and the duality gap do (`solvers/convergence.py`).
    The inner solver is OWL-QN, or for penalties on groups proximal gradient and quasi-Newton in turn.
    """

    unit: int = 50
    steps: int | None = None
    tol: float = 1e-4
    inner: InnerSolver | None = None
    name: ClassVar[str] = "grafting"

    def __post_init__(self) -> None:
        if self.unit < 1 or (self.steps is not None and self.steps < 1):
            raise ParsimonError(
                f"grafting selects at least 1 feature at a time and takes at least 1 step in between, not "
                f"{self.unit} and {self.steps}."
            )

    @property
    def requires(self) -> Requires:
        """A smooth loss, and a violation for every feature or group."""
        norms = (NORMS_IF_GROUPS,) if self.inner is None else ()  # for the inner solver of groups
        return (SMOOTH_LOSS, SINGLE_OR_GROUPS, ELASTIC_OR_GROUPS, PROX, *norms)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every step; `kkt` and `gap` cover all features, where these were evaluated."""
        inner = self.inner or inner_solver(problem.penalty)
        memory = inner.new_memory()
        weights = extended(start.nonzero(), never_dropped(problem.penalty, problem.n_features))
        now = Grafted(weights, look_at_all(problem, weights, 1.0), evaluations=1)
        goal, more = goal_of(problem, self.tol, weights.values, now.view.largest)
        now.evaluations += more
        while True:
            converged = now.view.reached(goal)
            chosen = selected(now.view, now.weights, self.unit)
            stalled = now.ended and len(chosen) == len(now.weights.values)
            status = Status.CONVERGED if converged else Status.STALLED if stalled else None
            yield now.seen(status)
            if status is not None:
                return
            assert now.weights.features is not None
            memory.carry(now.weights.features, chosen)
            now.weights, now.ever = extended(now.weights, chosen), np.union1d(now.ever, chosen)
            yield from self._minimise(problem, inner, memory, now, goal.aim(now.view.largest))

    def _minimise(
        self, problem: Problem, inner: InnerSolver, memory: InnerMemory, now: Grafted, aim: float
    ) -> Iterator[Iterate]:
        """Steps on S until there is something to select."""
        features = now.weights.features
        assert features is not None
        narrow = Watched.of(problem, features) if self.steps else problem.restrict(features)
        first = Weights(now.weights.values, None, len(features))
        view, before = now.view, now.evaluations
        known = Evaluation(view.loss, view.gradient_of(features), narrow.diagonal(view.marginals))
        number = -1
        for step in inner.iterate(narrow, first, memory, known):
            if not step.whole:
                yield step.within(now.weights)
                continue
            number += 1
            if number == 0:
                continue
            now.weights = replace(now.weights, values=step.weights.values)
            now.evaluations = before + step.evaluations
            now.ended = step.status is not None
            solved = step.kkt is not None and step.kkt <= NEARLY * aim
            if not (now.ended or (number % self.steps == 0 if self.steps else solved)):
                yield replace(now.seen(), objective=step.objective, kkt=None, gap=None)
                continue
            looked = narrow.view_at(now.weights.values) if isinstance(narrow, Watched) else None
            now.view = looked or look_at_all(problem, now.weights, 1.0)
            now.evaluations += looked is None
            before += looked is None
            if now.ended or solved or now.view.largest <= aim or news(now.view, now.weights):
                return
            yield now.seen()


@dataclass
class Grafted:
    """Where grafting stands."""

    weights: Weights  # of S
    view: View  # of all features, when they were last looked at
    evaluations: int
    ever: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # all that was ever selected
    ended: bool = False  # the inner solver has nothing more to do on S

    def seen(self, status: Status | None = None) -> Iterate:
        """The weights with what is known of all features."""
        phase = f"{len(self.weights.values):,} features"
        kkt, gap, n = self.view.largest, self.view.gap, len(self.ever)
        return Iterate(
            self.weights, self.view.objective, self.evaluations, kkt, gap, phase, status, selected=n
        )


def inner_solver(penalty: Penalty) -> InnerSolver:
    """Steps that go with a penalty."""
    return OWLQN(tol=0.0) if penalty.groups is None else ActiveGroups(tol=0.0)


def extended(weights: Weights, features: IntArray) -> Weights:
    """The same weights with more features, whose weights are zero."""
    assert weights.features is not None
    all_of_them = np.union1d(weights.features, features)
    return Weights(weights.at(all_of_them), all_of_them, weights.n_features)


def selected(view: View, weights: Weights, unit: int) -> IntArray:
    """S and the features, or the groups, that violate their optimality condition most; ascending."""
    assert weights.features is not None
    if isinstance(view, GroupView):
        return view.with_groups(weights.features, unit)
    assert isinstance(view, FeatureView)
    return view.with_steepest(weights.features, unit)


def news(view: View, weights: Weights) -> bool:
    """Whether there is something to select."""
    return len(selected(view, weights, 1)) > len(weights.values)


@dataclass(frozen=True)
class Watched(ProblemView):
    """A problem restricted to some features; each evaluation also records a view of all features."""

    whole: Problem
    features: IntArray
    last: list[tuple[Array, View]] = field(default_factory=list, repr=False)  # where it was evaluated last

    @classmethod
    def of(cls, problem: Problem, features: IntArray) -> Watched:
        """The problem of these features (ascending)."""
        return cls(problem.restrict(features), problem, features)

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        """Loss and gradient of these features; the view of all features is kept."""
        if curvature or marginals or isinstance(w, Weights):
            return self.seen.evaluate(w, curvature=curvature, marginals=marginals)
        view = look_at_all(self.whole, Weights(w, self.features, self.whole.n_features), 1.0, self.seen)
        self.last[:] = [(w.copy(), view)]
        return Evaluation(view.loss, view.gradient_of(self.features))

    def view_at(self, w: Array) -> View | None:
        """What was seen at these weights, if they were the last ones."""
        return self.last[0][1] if self.last and np.array_equal(self.last[0][0], w) else None

    def restrict(self, features: IntArray) -> Problem:
        """Of fewer features, and not watched."""
        return self.whole.restrict(self.features[features])


def grafting_light(tol: float = 1e-4) -> Grafting:
    """Grafting with one step between selections (Zhu, Lao & Xing 2010)."""
    return Grafting(tol=tol, steps=1)
