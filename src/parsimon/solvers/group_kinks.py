"""Where a penalty on groups is not smooth, and how proximal quasi-Newton minimises its model there.

    min_x  g·(x − w) + ½ (x − w)ᵀ B (x − w) + Σ_m λ_m ‖x_m‖₂ + Σ_k l1_k |x_k|

Sweeps over whole groups show which of them are zero: each goes to the minimum over its own weights in the metric's
diagonal, a root of one equation for ‖x_m‖ (Yuan & Lin 2006; for any diagonal, Qin, Scheinberg & Goldfarb 2013), or part
of the way. A Newton step among the weights that are left finds the minimum there, ‖·‖ being smooth away from zero.
It is all compiled (`core/learners/group_descent.hpp`), because a group may have hundreds of thousands of weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from parsimon._core import descend_groups
from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import Penalty
from parsimon.penalties.elastic_net import soft_threshold
from parsimon.penalties.groups import Groups
from parsimon.problem import Problem
from parsimon.solvers.base import residual
from parsimon.solvers.capabilities import DISJOINT_GROUPS, SPLIT

if TYPE_CHECKING:
    from parsimon.solvers.proximal_quasi_newton import CurvaturePairs

IN_MODEL = 0.9  # what is zero and has a gradient above this share of its threshold may move in a step
# The diagonal of B is at least so large where nothing holds a weight at zero, or this share of the largest violation.
# Weights of label bigrams that never occur fall until these are improbable. Their curvature is a thousandth then, and
# with a larger one steps are too short; but far from there, where curvatures change at each step, a small one is wrong.
LEAST_OF_FREE, OF_VIOLATION = 1e-3, 0.1
CLOSE, ROUNDS = 0.15, 6  # the model is minimised until this share of its slope is left, or for so many rounds


@dataclass(frozen=True)
class GroupKinks:
    """Σ_m λ_m ‖w_m‖ + Σ_k l1_k |w_k| over disjoint groups; a last group, with λ = 0, has all other weights."""

    penalty: Penalty
    groups: Groups  # those that have members; d_m is λ_m
    l1: Array
    l2: Array
    most_in_block: ClassVar[int] = 0

    @classmethod
    def of(cls, problem: Problem) -> GroupKinks:
        """Those of a problem's penalty."""
        DISJOINT_GROUPS.of(problem)
        n = problem.n_features
        split = SPLIT.of(problem).split(n)
        sizes = np.diff(split.ptr)
        loose = np.ones(n, bool)
        loose[split.member] = False
        rest = np.flatnonzero(loose)
        filled = np.append(np.flatnonzero(sizes), len(sizes)) if len(rest) else np.flatnonzero(sizes)
        ptr = np.concatenate([[0], np.cumsum(np.append(sizes, len(rest))[filled])]).astype(np.int64)
        member = np.concatenate([split.member, rest]).astype(np.int64)
        groups = Groups(ptr, member, np.append(split.strength, 0.0)[filled], n)
        l1, l2 = (
            np.broadcast_to(np.asarray(each, np.float64), n)
            for each in (split.net.l1_strength, split.net.l2_strength)
        )
        return cls(problem.penalty, groups, np.ascontiguousarray(l1), l2)

    def lift(self, violation: float) -> Array:
        """The L2 part, and one; or less for what nothing holds at zero, when little is violated."""
        held = (self.groups.spread(self.groups.weight) > 0) | (self.l1 > 0)
        least = min(1.0, max(LEAST_OF_FREE, OF_VIOLATION * violation))
        out: Array = self.l2 + np.where(held, 1.0, least)
        return out

    def rise(self, old: Array, new: Array) -> float:
        """By how much they are higher at new weights than at old ones."""
        groups = self.groups
        norms = groups.weight * (groups.norms(new) - groups.norms(old))
        return float(np.sum(norms) + (np.dot(self.l1, np.abs(new) - np.abs(old)) if self.l1.any() else 0.0))

    def largest_violation(self, w: Array, gradient: Array) -> float:
        """The largest of a group; `gradient` is that of all that is smooth."""
        return residual(self.penalty, w, gradient - self.penalty.smooth_gradient(w))

    def propose(self, w: Array, gradient: Array, diagonal: Array, pairs: CurvaturePairs) -> Array:
        """The step to the minimum of the model, over groups that are not zero or nearly want to leave zero."""
        start, member, strength = self._chosen(w, gradient)
        rank = 2 * len(pairs)
        middle = pairs.middle(diagonal) if rank else np.zeros((0, 0))
        inverse = np.linalg.inv(middle)
        d = np.zeros(len(w))
        descend_groups(
            gradient,
            pairs.damping * diagonal,
            np.zeros((len(w), 0)) if pairs.columns is None else pairs.columns,
            middle,
            (inverse + inverse.T) / 2,
            w,
            self.l1,
            start.astype(np.int64, copy=False),
            member.astype(np.int64, copy=False),
            strength,
            CLOSE,
            ROUNDS,
            d,
            pairs.threads,
        )
        return d

    def _chosen(self, w: Array, gradient: Array) -> tuple[IntArray, IntArray, Array]:
        """Bounds, members and strengths of groups in the model."""
        groups = self.groups
        assert groups.index is not None
        steep = soft_threshold(gradient, IN_MODEL * self.l1)
        inside = (
            (groups.norms(w) > 0) | (groups.norms(steep) > IN_MODEL * groups.weight) | (groups.weight == 0)
        )
        kept = np.repeat(inside, groups.sizes)
        if self.l1.any():
            kept &= ((w != 0) | (steep != 0) | (self.l1 == 0))[groups.index]
        elif np.all(inside):
            return groups.ptr, groups.index, groups.weight
        ptr = np.concatenate([[0], np.cumsum(kept)])[groups.ptr]
        return np.append(ptr[:-1][inside], ptr[-1]), groups.index[kept], groups.weight[inside]
