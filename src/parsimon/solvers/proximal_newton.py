"""Proximal Newton with coordinate descent: newGLMNET (Yuan, Ho & Lin 2012), for scores that are linear in features.

At every step the loss is replaced by its quadratic model at w, with the second derivative D of each score,

    min_δ  g·δ + ½ (Xδ)ᵀ D (Xδ) + Ω(w + δ),

which coordinate descent solves roughly on the features (or groups of them) that are not zero or want to leave zero;
then a line search, which needs no pass over the data, because scores move along X δ.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsimon._core import descend_coordinates, dot
from parsimon.arrays import Array, BoolArray
from parsimon.problem import Coordinates, LinearPoint, Problem
from parsimon.solvers.base import Iterate, Status, paused, residual
from parsimon.solvers.capabilities import (
    COORDINATES,
    ELASTIC_OR_GROUPS,
    PROX,
    SEPARATED,
    SINGLE_OR_BLOCKS,
    SMOOTH_LOSS,
    SPLIT,
    Requires,
)
from parsimon.solvers.convergence import goal_of
from parsimon.weights import Weights

SUFFICIENT = 1e-2  # the share of the predicted decrease that a step must bring
SWEEPS = 50
ROUNDING = 1e-13  # of an objective
SMALLEST_SHARE = 1e-10  # of a step; the line search gives up below it

_Int64: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Point:
    """Weights, and the loss with its derivatives at their margins."""

    w: Array
    there: LinearPoint

    @classmethod
    def at(cls, scores: Coordinates, w: Array, margins: Array) -> Point:
        """Evaluates the loss."""
        return cls(w, scores.at(margins))

    @property
    def loss(self) -> float:
        """Σ loss."""
        return self.there.loss

    @property
    def gradient(self) -> Array:
        """By features."""
        return self.there.gradient

    @property
    def margins(self) -> Array:
        """Xw."""
        return self.there.margins


def newton_step(
    problem: Problem, now: Point, violation: Array, tol: float
) -> Generator[None, None, Point | None]:
    """A better point, or None where no step decreases the objective at this precision; pauses after each trial."""
    scores, penalty = COORDINATES.of(problem), problem.penalty
    delta, moved = direction(problem, now, violation, tol)
    before = penalty.value(now.w)
    promised = dot(now.gradient, delta) + penalty.value(now.w + delta) - before
    if abs(promised) <= ROUNDING * (
        now.loss + before
    ):  # too small for the objective to show, so violations decide
        new = Point.at(scores, now.w + delta, now.margins + moved)
        better = residual(penalty, new.w, new.gradient) < residual(penalty, now.w, now.gradient)
        return new if better else None
    share = 1.0
    while promised < 0 and share > SMALLEST_SHARE:
        w = now.w + share * delta if share < 1 else now.w + delta
        new = Point.at(scores, w, now.margins + share * moved)
        if new.loss + penalty.value(w) - now.loss - before <= SUFFICIENT * share * promised:
            return new
        yield
        share /= 2
    return None


def direction(problem: Problem, now: Point, violation: Array, tol: float) -> tuple[Array, Array]:
    """δ, which roughly minimises the quadratic model on the active features or groups, and Xδ."""
    scores, form = COORDINATES.of(problem), SEPARATED.of(problem).separated(problem.n_features)
    active = (now.w != 0) | (violation > 0)
    groups = active_groups(problem, active)
    delta, moved = np.zeros(problem.n_features), np.zeros_like(now.margins)
    descend_coordinates(
        scores.map,
        scores.second_derivatives(now.there),
        now.gradient,
        form.l1,
        form.bend,
        form.centre,
        np.flatnonzero(active),
        *groups,
        now.w,
        tol,
        SWEEPS,
        delta,
        moved,
    )
    return delta, moved


def active_groups(problem: Problem, active: BoolArray) -> tuple[_Int64, _Int64, Array]:
    """The groups with an active member: bounds, members and strengths; their members are no longer single features."""
    if problem.penalty.groups is None or problem.penalty.strength == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    split = SPLIT.of(problem).split(len(active))
    member, sizes = split.member.astype(np.int64), np.diff(split.ptr)
    held = np.repeat(split.strength > 0, sizes)
    some = np.zeros(len(sizes), bool)
    some[np.repeat(np.arange(len(sizes)), sizes)[active[member] & held]] = True
    chosen = np.repeat(some, sizes)
    active[member[held]] = False
    start = np.concatenate([[0], np.cumsum(sizes[some])]).astype(np.int64)
    return start, member[chosen], split.strength[some]


@dataclass(frozen=True)
class ProximalNewton:
    """Newton steps on a quadratic model, with an L1 norm or disjoint groups, to a tolerance."""

    tol: float = 1e-4
    inner: float = 0.02  # coordinate descent ends when steps are this share of the first sweep's
    name: ClassVar[str] = "proximal-newton"
    requires: ClassVar[Requires] = (
        SMOOTH_LOSS,
        SINGLE_OR_BLOCKS,
        ELASTIC_OR_GROUPS,
        COORDINATES,
        PROX,
        SEPARATED,
    )

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every Newton step."""
        scores, w = COORDINATES.of(problem), start.dense().copy()
        now = Point.at(scores, w, scores.margins(w))
        evaluations, goal = 1, None
        while True:
            violation = problem.penalty.violation(now.w, now.gradient)
            kkt = residual(problem.penalty, now.w, now.gradient)
            if goal is None:
                goal, more = goal_of(problem, self.tol, w, kkt)
                evaluations += more
            weights = Weights(now.w, None, problem.n_features)
            status = Status.CONVERGED if goal.reached(kkt) else None
            here = Iterate(
                weights,
                now.loss + problem.penalty.value(now.w),
                evaluations,
                kkt=kkt,
                phase=self.name,
                status=status,
            )
            yield here
            if status is not None:
                return
            new = yield from paused(newton_step(problem, now, violation, self.inner), here.within())
            evaluations += 1
            if new is None:
                yield replace(here, evaluations=evaluations, status=Status.STALLED)
                return
            now = new
