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
from parsimon.problem import Problem
from parsimon.solvers.active_groups import ActiveGroups
from parsimon.solvers.base import Iterate, Known, Requires, Status
from parsimon.solvers.owlqn import OWLQN
from parsimon.solvers.working_set import FeatureView, GroupView, InnerSolver, View, look_at_all
from parsimon.weights import Weights


@dataclass(frozen=True)
class Grafting:
    """Selects `unit` features (or groups) at a time, and takes so many `steps` in between; None: until S is solved.

    Converges when no feature at all violates its optimality condition by more than `tol` times the worst at w = 0.
    The inner solver is OWL-QN, or for penalties on groups proximal gradient and quasi-Newton in turn.
    """

    unit: int = 50
    steps: int | None = None
    tol: float = 1e-5
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
        """A smooth loss, and violations that tell features or groups apart."""
        return Requires(smooth_loss=True, separable_or_groups=True)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every step; `kkt` and `gap` are of all features, where all were looked at."""
        inner = self.inner or inner_solver(problem.penalty)
        weights, features = start.nonzero(), never_dropped(problem.penalty, problem.n_features)
        weights = extended(weights, features)
        memory, ever = inner.new_memory(), np.zeros(0, np.int64)
        view, evaluations = look_at_all(problem, weights, 1.0), 1
        scale = view.largest
        if weights.values.any():
            scale, evaluations = look_at_all(problem, Weights.zeros(problem.n_features), 1.0).largest, 2
        ended = False  # the inner solver has nothing more to do on S

        def seen(status: Status | None = None) -> Iterate:
            kkt, gap, n = view.largest, view.gap, len(ever)
            phase = f"{len(weights.values):,} features"
            return Iterate(weights, view.objective, evaluations, kkt, gap, phase, status, selected=n)

        while True:
            converged = view.largest <= self.tol * scale
            chosen = selected(view, weights, self.unit)
            stalled = ended and len(chosen) == len(weights.values)
            yield seen(Status.CONVERGED if converged else Status.STALLED if stalled else None)
            if converged or stalled:
                return
            assert weights.features is not None
            memory.carry(weights.features, chosen)
            weights, ever = extended(weights, chosen), np.union1d(ever, chosen)
            narrow = Watched.of(problem, chosen) if self.steps else problem.restrict(chosen)
            first = Weights(weights.values, None, len(chosen))
            known = Known(view.loss, view.gradient_of(chosen), narrow.diagonal(view.marginals))
            before = evaluations
            for number, step in enumerate(inner.iterate(narrow, first, memory, known)):
                if number == 0:
                    continue
                weights = replace(weights, values=step.weights.values)
                evaluations = before + step.evaluations
                ended = step.status is not None
                solved = step.kkt is not None and step.kkt <= 0.7 * self.tol * scale
                if not (ended or (number % self.steps == 0 if self.steps else solved)):
                    yield replace(seen(), objective=step.objective, kkt=None, gap=None)
                    continue
                looked = narrow.view_at(weights.values) if isinstance(narrow, Watched) else None
                view = looked or look_at_all(problem, weights, 1.0)
                evaluations += looked is None
                before += looked is None
                if ended or solved or view.largest <= self.tol * scale or news(view, weights):
                    break
                yield seen()


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
class Watched(Problem):
    """A problem restricted to some features, of which every gradient tells about all features too."""

    whole: Problem
    features: IntArray
    last: list[tuple[Array, View]] = field(default_factory=list, repr=False)  # where it was evaluated last

    @classmethod
    def of(cls, problem: Problem, features: IntArray) -> Watched:
        """The problem of these features (ascending)."""
        narrow = problem.restrict(features)
        return cls(narrow.batches, narrow.loss, narrow.penalty, narrow.n_features, problem, features)

    def loss_and_gradient(self, w: Array) -> tuple[float, Array]:
        """Σ loss and the gradient of the features at hand; what is seen of the others is kept."""
        view = look_at_all(self.whole, Weights(w, self.features, self.whole.n_features), 1.0, self)
        self.last[:] = [(w.copy(), view)]
        return view.loss, view.gradient_of(self.features)

    def view_at(self, w: Array) -> View | None:
        """What was seen at these weights, if they were the last ones."""
        return self.last[0][1] if self.last and np.array_equal(self.last[0][0], w) else None

    def restrict(self, features: IntArray) -> Problem:
        """Of fewer features; nobody watches."""
        return self.whole.restrict(self.features[features])


def grafting_light(tol: float = 1e-5) -> Grafting:
    """Grafting with one step between selections (Zhu, Lao & Xing 2010)."""
    return Grafting(tol=tol, steps=1)
