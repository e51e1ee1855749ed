"""Proximal Newton with coordinate descent: newGLMNET (Yuan, Ho & Lin 2012), for scores that are linear in features.

At every step the loss is replaced by its quadratic model at w, with the second derivative D of each score,

    min_δ  g·δ + ½ (Xδ)ᵀ D (Xδ) + Ω(w + δ),

which coordinate descent solves roughly on the features (or groups of them) that are not zero or want to leave zero;
then a line search, which needs no pass over the data, because scores move along X δ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from parsimon._core import descend_coordinates, dot
from parsimon.arrays import Array, BoolArray
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Requires, Status, residual, scale_at_zero
from parsimon.weights import Weights

SUFFICIENT = 1e-2  # the share of the predicted decrease that a step must bring
SWEEPS = 50
ROUNDING = 1e-13  # of an objective


@dataclass(frozen=True)
class Point:
    """Weights, the margins they give, and the loss there with its first two derivatives."""

    w: Array
    margins: Array  # Xw
    loss: float
    gradient: Array  # by features
    residual: Array  # by margins: μ − gold
    marginals: Array

    @classmethod
    def at(cls, problem: Problem, w: Array, margins: Array) -> Point:
        """Evaluates the loss."""
        (batch,) = problem.batches
        design: Any = batch.design
        loss, parts, marginals = problem.loss.with_marginals(
            batch.structure, design.parts(margins), batch.gold
        )
        gradient = np.zeros(problem.n_features)
        residual = design.columns(parts)
        design.map.pullback(residual, gradient, design.threads)
        return cls(w, margins, loss, gradient, residual, marginals)


def newton_step(problem: Problem, now: Point, violation: Array, tol: float) -> Point | None:
    """A better point, or None where no step decreases the objective at this precision."""
    (batch,) = problem.batches
    design: Any = batch.design
    penalty: Any = problem.penalty
    curvature = design.columns(problem.loss.variances(batch.structure, now.marginals))
    active = (now.w != 0) | (violation > 0)
    groups = active_groups(penalty, active)
    form = penalty.separated(problem.n_features)
    delta, moved = np.zeros(problem.n_features), np.zeros_like(now.margins)
    descend_coordinates(
        design.map,
        curvature,
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
    before = penalty.value(now.w)
    promised = dot(now.gradient, delta) + penalty.value(now.w + delta) - before
    if abs(promised) <= ROUNDING * (now.loss + before):  # objectives can no longer tell, but violations can
        new = Point.at(problem, now.w + delta, now.margins + moved)
        better = residual(penalty, new.w, new.gradient) < residual(penalty, now.w, now.gradient)
        return new if better else None
    share = 1.0
    while promised < 0 and share > 1e-10:
        w = now.w + share * delta if share < 1 else now.w + delta
        new = Point.at(problem, w, now.margins + share * moved)
        if new.loss + penalty.value(w) - now.loss - before <= SUFFICIENT * share * promised:
            return new
        share /= 2
    return None


def active_groups(penalty: Any, active: BoolArray) -> tuple[Any, Any, Array]:
    """The groups with an active member: bounds, members and strengths; their members are no longer single features."""
    if penalty.groups is None or penalty.strength == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    split = penalty.split(len(active))
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
    """Newton steps on a quadratic model, with an L1 norm or disjoint groups, to `tol` times the violation at w = 0."""

    tol: float = 1e-5
    inner: float = 1e-3  # coordinate descent ends when steps are this share of the first sweep's
    name: ClassVar[str] = "proximal-newton"
    requires: ClassVar[Requires] = Requires(smooth_loss=True, separable_or_blocks=True, coordinates=True)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every Newton step."""
        design: Any = problem.batches[0].design
        w = start.dense().copy()
        now = Point.at(problem, w, design.margins(w))
        evaluations, scale = 1, None
        while True:
            violation = problem.penalty.violation(now.w, now.gradient)
            kkt = residual(problem.penalty, now.w, now.gradient)
            if scale is None:
                scale = scale_at_zero(problem) if np.any(w) else kkt
            weights = Weights(now.w, None, problem.n_features)
            status = Status.CONVERGED if kkt <= self.tol * scale else None
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
            new = newton_step(problem, now, violation, self.inner)
            evaluations += 1
            if new is None:
                yield replace(here, evaluations=evaluations, status=Status.STALLED)
                return
            now = new
