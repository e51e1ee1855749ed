"""L-BFGS: quasi-Newton with limited memory (Nocedal 1980; Liu & Nocedal 1989), for smooth problems."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.base import Iterate, Status, paused
from parsimon.solvers.capabilities import PROX, SEPARABLE, SMOOTH_LOSS, SMOOTH_PENALTY, Requires
from parsimon.solvers.convergence import goal_of
from parsimon.weights import Weights

SMALLEST = 1e-300  # norm of a slope by which something is divided
POSITIVE = 1e-12  # a pair is of use if s·y is more than this share of y·y: there is curvature along it


class InverseHessian:
    """The inverse Hessian that the last few steps s and changes of gradient y have shown."""

    def __init__(self, memory: int) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=memory)

    def __len__(self) -> int:
        return len(self._pairs)

    def carry(self, old: IntArray, new: IntArray) -> None:
        """From one set of features to another; nothing is known of features that are new.

        Pairs along which the curvature is not positive any more, for want of features that were dropped, are forgotten.
        """
        if not self._pairs:
            return
        at = np.minimum(np.searchsorted(old, new), len(old) - 1)
        kept = old[at] == new
        pairs = [(np.where(kept, s[at], 0.0), np.where(kept, y[at], 0.0)) for s, y, _ in self._pairs]
        self.clear()
        for s, y in pairs:
            self.update(s, y)

    def clear(self) -> None:
        """Forgets everything."""
        self._pairs.clear()

    def update(self, s: Array, y: Array) -> None:
        """Takes in a pair, unless the curvature along it is not positive."""
        sy = dot(s, y)
        if sy > POSITIVE * dot(y, y):
            self._pairs.append((s, y, 1.0 / sy))

    def times(self, v: Array) -> Array:
        """H v, by the two-loop recursion (Nocedal & Wright 2006, algorithm 7.4)."""
        q = v.copy()
        coefficients = []
        for s, y, rho in reversed(self._pairs):
            a = rho * dot(s, q)
            q -= a * y
            coefficients.append(a)
        if self._pairs:
            _, y, rho = self._pairs[-1]
            q *= 1.0 / (rho * dot(y, y))
        for (s, y, rho), a in zip(self._pairs, reversed(coefficients), strict=True):
            q += (a - rho * dot(y, q)) * s
        return q


def backtrack(
    evaluate: Callable[[float], tuple[float, Array, Array]],
    objective: float,
    slope: Callable[[Array], float],
    step: float,
    *,
    decrease: float = 1e-4,
    smallest: float = 1e-12,
) -> Generator[None, None, tuple[float, Array, Array, int] | None]:
    """Halves the step until the objective falls enough: F(w') ≤ F(w) + decrease · slope(w').

    `evaluate(step)` gives objective, point and gradient there. Returns them with the number of evaluations, or
    ``None`` when no step will do; pauses after each that will not.
    """
    tried = 0
    while step > smallest:
        value, point, gradient = evaluate(step)
        tried += 1
        if np.isfinite(value) and value <= objective + decrease * slope(point):
            return value, point, gradient, tried
        yield
        step *= 0.5
    return None


class Everywhere:
    """Where weights may go when the objective is smooth: anywhere."""

    def slope(self, w: Array, gradient: Array) -> Array:
        """The gradient."""
        return gradient

    def align(self, direction: Array, slope: Array) -> Array:
        """As it is, unless it does not go downhill."""
        return direction if dot(direction, slope) < 0 else -slope

    def keep(self, point: Array, w: Array, slope: Array) -> Array:
        """As it is."""
        return point


class Region(Protocol):
    """Where the objective is smooth around a point, and what that means for a step."""

    def slope(self, w: Array, gradient: Array) -> Array:
        """What to descend along."""
        ...

    def align(self, direction: Array, slope: Array) -> Array:
        """A direction that goes downhill."""
        ...

    def keep(self, point: Array, w: Array, slope: Array) -> Array:
        """The nearest point within the region around w."""
        ...


def quasi_newton(
    problem: Problem,
    start: Weights,
    region: Region,
    memory: InverseHessian,
    *,
    tol: float,
    name: str,
    known: Evaluation | None = None,
) -> Iterator[Iterate]:
    """Quasi-Newton steps within regions in which the objective is smooth. Yields after every step.

    Converges when no slope is larger than `convergence.goal_of` says. `known` is the evaluation at the start, if the
    caller has it.
    """
    terms, w = SmoothTerms(problem), start.dense().copy()
    objective, gradient = terms.evaluate(w) if known is None else terms.at(w, known.loss, known.gradient)
    evaluations = int(known is None)
    slope = region.slope(w, gradient)
    largest = float(np.max(np.abs(slope), initial=0.0))
    goal, more = goal_of(problem, tol, w, largest)
    evaluations += more
    status = Status.CONVERGED if goal.reached(largest) else None
    while True:
        weights = Weights(w, None, problem.n_features)
        now = Iterate(weights, objective, evaluations, kkt=largest, phase=name, status=status)
        yield now
        if status is not None:
            return
        found = yield from paused(search_line(terms, region, memory, w, objective, slope), now.within())
        if found is None:
            if len(memory):  # start afresh from the steepest slope
                memory.clear()
            else:
                status = Status.STALLED
            continue
        value, point, new_gradient, tried = found
        evaluations += tried
        falls, objective = value < objective, value
        memory.update(point - w, new_gradient - gradient)
        w, gradient = point, new_gradient
        slope = region.slope(w, gradient)
        largest = float(np.max(np.abs(slope)))
        status = Status.CONVERGED if goal.reached(largest) else None if falls else Status.STALLED


@dataclass(frozen=True)
class SmoothTerms:
    """The objective, and the gradient of what is smooth in it."""

    problem: Problem

    def at(self, w: Array, loss: float, gradient: Array) -> tuple[float, Array]:
        """From Σ loss and its gradient."""
        penalty = self.problem.penalty
        return loss + penalty.value(w), gradient + penalty.smooth_gradient(w)

    def evaluate(self, w: Array) -> tuple[float, Array]:
        """One evaluation."""
        return self.at(w, *self.problem.loss_and_gradient(w))


def search_line(
    terms: SmoothTerms, region: Region, memory: InverseHessian, w: Array, objective: float, slope: Array
) -> Generator[None, None, tuple[float, Array, Array, int] | None]:
    """A point along the quasi-Newton direction, kept within the region, where the objective falls enough."""
    direction = region.align(-memory.times(slope), slope)
    first = 1.0 if len(memory) else 1.0 / max(np.sqrt(dot(slope, slope)), SMALLEST)

    def along(step: float) -> tuple[float, Array, Array]:
        point = region.keep(w + step * direction, w, slope)
        value, gradient = terms.evaluate(point)
        return value, point, gradient

    return backtrack(along, objective, lambda point: dot(slope, point - w), first)


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS with a backtracking line search.

    Converges when no partial derivative is larger than `tol` / 10 of the largest one at w = 0.
    """

    memory: int = 10
    tol: float = 1e-4
    name: ClassVar[str] = "lbfgs"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, SMOOTH_PENALTY, SEPARABLE, PROX)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every step."""
        memory = InverseHessian(self.memory)
        yield from quasi_newton(problem, start, Everywhere(), memory, tol=self.tol, name=self.name)
