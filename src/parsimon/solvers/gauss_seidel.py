"""Gauss–Seidel (Shevade & Keerthi 2003): the features that violate their optimality condition most, and only those.

All other weights stay where they are while the worst few are optimised. Features that are not zero go first: only when
none of them violates its condition is a feature that is zero taken. (Shevade & Keerthi take one at a time; as in Zhu,
Lao & Xing 2010, `unit` of them.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.base import never_dropped
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Known, Requires, Status
from parsimon.solvers.grafting import extended, inner_solver, selected
from parsimon.solvers.working_set import InnerSolver, look_at_all
from parsimon.weights import Weights

PATIENCE = 20  # steps on a block, after which others may look at the clock


@dataclass(frozen=True)
class GaussSeidel:
    """Optimises `unit` features (or groups) at a time, the others being fixed.

    Converges when no feature at all violates its optimality condition by more than `tol` times the worst at w = 0.
    """

    unit: int = 50
    tol: float = 1e-5
    inner: InnerSolver | None = None
    name: ClassVar[str] = "gauss-seidel"

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ParsimonError(f"Gauss–Seidel optimises at least 1 feature at a time, not {self.unit}.")

    @property
    def requires(self) -> Requires:
        """A smooth loss, and violations that tell features or groups apart."""
        return Requires(smooth_loss=True, separable_or_groups=True)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every block, or now and then; `kkt` and `gap` are of all features, where all were looked at."""
        inner = self.inner or inner_solver(problem.penalty)
        weights = extended(start.nonzero(), never_dropped(problem.penalty, problem.n_features))
        view, evaluations = look_at_all(problem, weights, 1.0), 1
        scale, before = view.largest, np.inf
        if weights.values.any():
            scale, evaluations = look_at_all(problem, Weights.zeros(problem.n_features), 1.0).largest, 2
        while True:
            done = Status.CONVERGED if view.largest <= self.tol * scale else None
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
            assert weights.features is not None
            narrow = problem.restrict(weights.features)
            loss, gradient = view.loss, view.gradient_of(weights.features)
            diagonal = narrow.diagonal(view.marginals)
            block: IntArray = np.searchsorted(weights.features, new)
            if not len(block):
                block = self._worst(narrow, weights, gradient, scale)
            objective, falls = before, True
            while len(block) and falls:
                free = Block.of(narrow, weights.values, block)
                first = Weights(weights.values[block], None, len(block))
                known = Known(loss, gradient[block], diagonal[block])
                rest = narrow.penalty.value(free.all_weights(np.zeros(len(block))))
                for number, step in enumerate(inner.iterate(free, first, inner.new_memory(), known), start=1):
                    solved = step.kkt is not None and step.kkt <= 0.5 * self.tol * scale
                    ended = solved or step.status is not None
                    weights = replace(weights, values=free.all_weights(step.weights.values))
                    if ended or number % PATIENCE == 0:
                        now = replace(seen, weights=weights, objective=step.objective + rest, kkt=None)
                        yield replace(now, evaluations=evaluations + step.evaluations, gap=None)
                    if ended:
                        break
                loss, gradient, more = free.everywhere(weights.values)
                evaluations += step.evaluations + more
                block = self._worst(narrow, weights, gradient, scale)
                reached = loss + narrow.penalty.value(weights.values)
                objective, falls = reached, reached < objective
            view, evaluations = look_at_all(problem, weights, 1.0), evaluations + 1

    def _worst(self, narrow: Problem, weights: Weights, gradient: Array, scale: float) -> IntArray:
        """Of the features at hand, those (or their groups) whose conditions are violated most."""
        violation = narrow.penalty.group_violation(weights.values, gradient)
        worst = np.argsort(-violation, kind="stable")[: self.unit]
        worst = worst[violation[worst] > self.tol * scale]
        groups = narrow.penalty.groups
        places: IntArray = np.sort(worst) if groups is None else groups.features_of(worst)
        return places


@dataclass(frozen=True)
class Block(Problem):
    """A problem in which only some of the weights are free."""

    narrow: Problem
    fixed: Array  # all weights
    places: IntArray  # which of them are free
    last: list[tuple[Array, float, Array]] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, narrow: Problem, w: Array, places: IntArray) -> Block:
        """The weights at these places are free."""
        penalty = narrow.penalty.restrict(places)
        return cls(narrow.batches, narrow.loss, penalty, len(places), narrow, w, places)

    def all_weights(self, w: Array) -> Array:
        """With the given ones in their places."""
        out = self.fixed.copy()
        out[self.places] = w
        return out

    def loss_and_gradient(self, w: Array) -> tuple[float, Array]:
        """Σ loss and its gradient by the free weights; that by the others is kept."""
        everything = self.all_weights(w)
        loss, gradient = self.narrow.loss_and_gradient(everything)
        self.last[:] = [(everything, loss, gradient)]
        return loss, gradient[self.places]

    def everywhere(self, w: Array) -> tuple[float, Array, int]:
        """Σ loss and its gradient by all weights, and whether (0 or 1) it had to be computed for that."""
        if self.last and np.array_equal(self.last[0][0], w):
            return self.last[0][1], self.last[0][2], 0
        return *self.narrow.loss_and_gradient(w), 1

    def second_order(self, w: Array) -> tuple[float, Array, Array]:
        """Of the free weights, with the diagonal of the Hessian."""
        loss, gradient, diagonal = self.narrow.second_order(self.all_weights(w))
        return loss, gradient[self.places], diagonal[self.places]

    def restrict(self, features: IntArray) -> Problem:
        """Fewer of them are free; the others of the block are zero."""
        zeros = self.fixed.copy()
        zeros[self.places] = 0.0
        return Block.of(self.narrow, zeros, self.places[features])
