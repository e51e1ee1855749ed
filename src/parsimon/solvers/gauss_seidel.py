"""Gauss–Seidel (Shevade & Keerthi 2003): the features that violate their optimality condition most, and only those.

All other weights stay where they are while the worst few are optimised. Features that are not zero go first: only when
none of them violates its condition is a feature that is zero taken. (Shevade & Keerthi take one at a time; as in Zhu,
Lao & Xing 2010, `unit` of them.)
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.base import Penalty, never_dropped
from parsimon.problem import Evaluation, Marginals, Problem, Screened
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
from parsimon.solvers.grafting import extended, inner_solver, selected
from parsimon.solvers.problem_views import ProblemView
from parsimon.solvers.working_set import InnerSolver, View, look_at_all
from parsimon.weights import Weights

PATIENCE = 20  # steps on a block, after which the driver may look at the clock
SOLVED = 0.5  # of what the whole problem is solved to: how well each block is


@dataclass(frozen=True)
class GaussSeidel:
    """Optimises `unit` features (or groups) at a time, the others being fixed.

    Converges when the optimality conditions of all features and the duality gap do (`solvers/convergence.py`).
    """

    unit: int = 50
    tol: float = 1e-4
    inner: InnerSolver | None = None
    name: ClassVar[str] = "gauss-seidel"

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ParsimonError(f"Gauss–Seidel optimises at least 1 feature at a time, not {self.unit}.")

    @property
    def requires(self) -> Requires:
        """A smooth loss, and a violation for every feature or group."""
        norms = (NORMS_IF_GROUPS,) if self.inner is None else ()  # for the inner solver of groups
        return (SMOOTH_LOSS, SINGLE_OR_GROUPS, ELASTIC_OR_GROUPS, PROX, *norms)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every block, or more often; `kkt` and `gap` cover all features, where these were evaluated."""
        inner = self.inner or inner_solver(problem.penalty)
        weights = extended(start.nonzero(), never_dropped(problem.penalty, problem.n_features))
        view, evaluations = look_at_all(problem, weights, 1.0), 1
        goal, more = goal_of(problem, self.tol, weights.values, view.largest)
        evaluations, before = evaluations + more, np.inf
        while True:
            done = Status.CONVERGED if view.reached(goal) else None
            if done is None and not view.objective < before:
                done = Status.STALLED
            before = view.objective
            phase, n = f"{len(weights.values):,} features", len(weights.values)
            seen = Iterate(weights, before, evaluations, view.largest, view.gap, phase, done, selected=n)
            yield seen
            if done is not None:
                return
            assert weights.features is not None
            new = np.setdiff1d(selected(view, weights, self.unit), weights.features)
            weights = extended(weights, new)
            aim = goal.aim(view.largest)
            weights, evaluations = yield from self._sweep(problem, inner, seen, weights, new, view, aim)
            view, evaluations = look_at_all(problem, weights, 1.0), evaluations + 1

    def _sweep(
        self,
        problem: Problem,
        inner: InnerSolver,
        seen: Iterate,
        weights: Weights,
        new: IntArray,
        view: View,
        aim: float,
    ) -> Generator[Iterate, None, tuple[Weights, int]]:
        """Optimises blocks, the new features first, until no condition is violated or no block helps."""
        assert weights.features is not None
        narrow, evaluations = problem.restrict(weights.features), seen.evaluations
        there = Evaluation(view.loss, view.gradient_of(weights.features), narrow.diagonal(view.marginals))
        block: IntArray = np.searchsorted(weights.features, new)
        if not len(block):
            block = self._worst(narrow, weights, there.gradient, aim)
        objective, falls = seen.objective, True
        while len(block) and falls:
            free = Block.of(narrow, weights.values, block)
            step = yield from self._solve_block(free, inner, there, seen, weights, evaluations, aim)
            weights = replace(weights, values=free.all_weights(step.weights.values))
            there, more = free.everywhere(weights.values, there.curvature)
            evaluations += step.evaluations + more
            block = self._worst(narrow, weights, there.gradient, aim)
            reached = there.loss + narrow.penalty.value(weights.values)
            objective, falls = reached, reached < objective
        return weights, evaluations

    def _solve_block(
        self,
        free: Block,
        inner: InnerSolver,
        there: Evaluation,
        seen: Iterate,
        weights: Weights,
        evaluations: int,
        aim: float,
    ) -> Generator[Iterate, None, Iterate]:
        """The inner solver's steps on a block; returns the last."""
        places = free.places
        assert there.curvature is not None
        known = Evaluation(there.loss, there.gradient[places], there.curvature[places])
        first = Weights(weights.values[places], None, len(places))
        rest = free.seen.penalty.value(free.all_weights(np.zeros(len(places))))
        number = 0
        for step in inner.iterate(free, first, inner.new_memory(), known):
            moved = replace(weights, values=free.all_weights(step.weights.values))
            if not step.whole:
                yield step.within(moved)
                continue
            number += 1
            solved = step.kkt is not None and step.kkt <= SOLVED * aim
            ended = solved or step.status is not None
            if not ended and number % PATIENCE:
                yield step.within(moved)
            else:
                now = replace(seen, weights=moved, objective=step.objective + rest, kkt=None)
                yield replace(now, evaluations=evaluations + step.evaluations, gap=None)
            if ended:
                break
        return step

    def _worst(self, narrow: Problem, weights: Weights, gradient: Array, aim: float) -> IntArray:
        """Of the features at hand, those (or their groups) whose conditions are violated most."""
        violation = narrow.penalty.group_violation(weights.values, gradient)
        worst = np.argsort(-violation, kind="stable")[: self.unit]
        worst = worst[violation[worst] > aim]
        groups = narrow.penalty.groups
        places: IntArray = np.sort(worst) if groups is None else groups.features_of(worst)
        return places


@dataclass(frozen=True)
class Block(ProblemView):
    """A problem in which only some of the weights are free. `seen` is the problem of all of them."""

    penalty_of_free: Penalty
    fixed: Array  # all weights
    places: IntArray  # which of them are free
    last: list[tuple[Array, Evaluation]] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, narrow: Problem, w: Array, places: IntArray) -> Block:
        """The weights at these places are free."""
        return cls(narrow, narrow.penalty.restrict(places), w, places)

    @property
    def penalty(self) -> Penalty:
        """Of the free weights."""
        return self.penalty_of_free

    @property
    def n_features(self) -> int:
        """How many weights are free."""
        return len(self.places)

    def all_weights(self, w: Array) -> Array:
        """With the given ones in their places."""
        out = self.fixed.copy()
        out[self.places] = w
        return out

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        """Σ loss and its derivatives by the free weights; the gradient by the others is kept."""
        everything = self.all_weights(w.dense() if isinstance(w, Weights) else w)
        there = self.seen.evaluate(everything, curvature=curvature, marginals=marginals)
        if not curvature:
            self.last[:] = [(everything, there)]
        diagonal = None if there.curvature is None else there.curvature[self.places]
        return Evaluation(there.loss, there.gradient[self.places], diagonal, there.marginals)

    def everywhere(self, w: Array, curvature: Array | None) -> tuple[Evaluation, int]:
        """Σ loss and its gradient by all weights, with a curvature; whether (0 or 1) that took an evaluation."""
        if self.last and np.array_equal(self.last[0][0], w):
            return replace(self.last[0][1], curvature=curvature), 0
        return replace(self.seen.evaluate(w), curvature=curvature), 1

    def diagonal(self, marginals: Marginals) -> Array:
        """Of the free weights."""
        return self.seen.diagonal(marginals)[self.places]

    def screen(self, weights: Weights, threshold: float | Array, narrow: Problem | None = None) -> Screened:
        """A block has few features, and all of them are looked at."""
        assert weights.features is not None
        there = self.evaluate(weights, marginals=True)
        found = np.flatnonzero(np.abs(there.gradient) > threshold)
        of_active = there.gradient[weights.features]
        return Screened(there.loss, found, there.gradient[found], of_active, there.marginals)

    def restrict(self, features: IntArray) -> Problem:
        """Fewer of them are free; the others of the block are zero."""
        zeros = self.fixed.copy()
        zeros[self.places] = 0.0
        return Block.of(self.seen, zeros, self.places[features])

    def with_penalty(self, penalty: Penalty) -> Problem:
        """The same block with another penalty of the free weights."""
        return replace(self, penalty_of_free=penalty)
