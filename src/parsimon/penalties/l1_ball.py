"""The L1 ball: Ω(w) = 0 if ‖w‖₁ ≤ radius, else ∞; and the thresholds by which L1 balls are projected on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import BasePenalty, check_strengths
from parsimon.penalties.elastic_net import soft_threshold

SLACK = 1e-9  # a projection ends on the sphere only up to rounding


@dataclass(frozen=True)
class L1Ball(BasePenalty):
    """All weights together are at most `radius` in absolute value (Duchi et al. 2008; Zhu et al. 2009).

    Its main strength is the radius: the *smaller*, the sparser.

    >>> import numpy as np
    >>> from parsimon.penalties import L1Ball
    >>> L1Ball(2.0).prox(np.array([3.0, -2.0, 0.5]), 1.0)
    array([ 1.5, -0.5,  0. ])
    """

    radius: float

    def __post_init__(self) -> None:
        check_strengths(radius=self.radius)

    @property
    def projection(self) -> bool:
        """Yes: on the ball."""
        return True

    @property
    def strength(self) -> float:
        """`radius`."""
        return self.radius

    @property
    def threshold(self) -> float:
        """There is none: the radius says how large weights are, not slopes."""
        return 0.0

    def value(self, w: Array) -> float:
        """0 inside (and within a relative 1e-9 of it), infinite outside."""
        return 0.0 if np.abs(w).sum() <= self.radius * (1 + SLACK) else float("inf")

    def prox(self, v: Array, step: float | Array) -> Array:
        """The nearest point of the ball, whatever the step: a soft threshold that leaves a norm of `radius`."""
        size = np.abs(v)
        if size.sum() <= self.radius:
            return v.copy()
        threshold = simplex_thresholds(size, np.array([0, len(v)]), np.array([self.radius]))
        return soft_threshold(v, float(threshold[0]))

    def violation(self, w: Array, gradient: Array) -> Array:
        """|−g − nearest point of the normal cone|; the cone has t·sign(w_k) where w_k ≠ 0, [−t, t] elsewhere, t ≥ 0.

        Inside the ball that is t = 0, outside there is no such point. The best t makes the derivative of the squared
        distance zero: t = (Σ −g_k sign(w_k) + Σ |g_k|) / count, the first sum over w_k ≠ 0, the second over those zero
        weights with |g_k| > t. From t = 0 on, fewer and fewer of these remain (as in `simplex_thresholds`).
        """
        norm = float(np.abs(w).sum())
        if norm > self.radius * (1 + SLACK):
            return np.full(len(w), np.inf)
        if self.radius == 0:
            return np.zeros(len(w))
        zero = w == 0
        t = 0.0
        if norm >= self.radius * (1 - SLACK):
            pull = -float(np.sum(gradient * np.sign(w)))
            count, rest = len(w) - np.count_nonzero(zero), np.abs(gradient[zero])
            while True:
                rest = rest[rest > t]
                better = (pull + float(rest.sum())) / (count + len(rest))
                if not better > t:
                    break
                t = better
        return np.where(zero, np.maximum(np.abs(gradient) - t, 0.0), np.abs(gradient + t * np.sign(w)))

    def polar(self, gradient: Array) -> float:
        """0 or infinite: a ball, however small, pulls nothing towards its centre."""
        return float("inf") if self.radius > 0 and np.any(gradient) else 0.0

    def dual_norm(self, gradient: Array) -> float:
        """Infinite: no radius but 0 makes sure that w = 0 is optimal."""
        return float("inf")

    def conjugate(self, z: Array) -> float:
        """radius·‖z‖_∞."""
        return self.radius * float(np.max(np.abs(z), initial=0.0))

    def restrict(self, features: IntArray) -> L1Ball:
        """Itself: the other weights are zero."""
        return self

    def scaled(self, strength: float) -> L1Ball:
        """Another radius."""
        return replace(self, radius=strength)


def simplex_thresholds(x: Array, ptr: IntArray, radius: Array) -> Array:
    """θ_m with Σ_k max(x_k − θ_m, 0) = radius_m over each segment m of x.

    max(x − θ, 0) is then the projection on the simplex of that radius, and with max(θ, 0) and |x| it is that on the L1
    ball. If only the entries above θ were there, θ would be (their sum − radius) / their number: this starts with
    all entries and drops those at or below θ until none is (Michelot 1986), in all segments at once. A few rounds over
    fewer and fewer entries, instead of the sorting of Duchi et al. 2008.
    """
    out = np.zeros(len(ptr) - 1)
    count = np.diff(ptr)
    open_ = np.flatnonzero(count)  # segments that are not done
    count, x = count[open_], x[ptr[0] : ptr[-1]]
    while len(open_):
        start = np.cumsum(count) - count
        theta = (np.add.reduceat(x, start) - radius[open_]) / count
        above = x > np.repeat(theta, count)
        left = np.add.reduceat(above, start, dtype=np.int64)
        more = (left < count) & (left > 0)  # none above: all are equal and the radius is lost in rounding
        out[open_] = theta
        x = x[above & np.repeat(more, count)]
        open_, count = open_[more], left[more]
    return out
