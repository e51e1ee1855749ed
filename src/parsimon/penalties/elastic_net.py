"""L1, L2 and their sum: Ω(w) = ρ1 ‖w‖₁ + (ρ2/2) ‖w‖²."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import BasePenalty, SeparableTerms, check_strengths, exempted


def soft_threshold(v: Array, threshold: float | Array) -> Array:
    """sign(v) max(|v| − threshold, 0): the proximal operator of the L1 norm."""
    out: Array = np.clip(v, -threshold, threshold)
    return np.subtract(v, out, out=out)


@dataclass(frozen=True)
class ElasticNet(BasePenalty):
    """Ω(w) = Σ_k c_k (l1 |w_k| + l2/2 b_k w_k²), with c_k = 1 unless `weight` says otherwise (0: not penalised).

    b_k = 1, unless `bend` says how much stronger or weaker the l2 part of each weight is. The strengths are Wapiti's ρ1
    and ρ2.

    >>> import numpy as np
    >>> from parsimon.penalties import ElasticNet
    >>> ElasticNet(l1=1.0, l2=2.0).value(np.array([3.0, -1.0]))
    14.0
    """

    l1: float = 0.0
    l2: float = 0.0
    weight: Array | None = field(default=None, repr=False, compare=False)
    bend: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_strengths(l1=self.l1, l2=self.l2)

    @property
    def smooth(self) -> bool:
        """True when there is no L1 part."""
        return self.l1 == 0

    @property
    def separable(self) -> bool:
        """Always."""
        return True

    @property
    def strength(self) -> float:
        """`l1`."""
        return self.l1

    @property
    def l1_strength(self) -> float | Array:
        """What |w_k| is multiplied by, for each weight or for all."""
        return self.l1 if self.weight is None else self.l1 * self.weight

    @property
    def l2_strength(self) -> float | Array:
        """What w_k²/2 is multiplied by."""
        l2 = self.l2 if self.weight is None else self.l2 * self.weight
        return l2 if self.bend is None else l2 * self.bend

    def value(self, w: Array) -> float:
        """l1 ‖w‖₁ + l2/2 ‖w‖²."""
        size = np.abs(w)
        absolute = self.l1 * (float(size.sum()) if self.weight is None else dot(size, self.weight))
        l2 = self.l2_strength
        return absolute + 0.5 * (l2 * dot(w, w) if isinstance(l2, float | int) else dot(w * w, l2))

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of the L2 part."""
        return self.l2_strength * w

    def prox(self, v: Array, step: float | Array) -> Array:
        """Soft threshold, then shrink: sign(v) max(|v| − step·l1, 0) / (1 + step·l2)."""
        out = soft_threshold(v, step * self.l1_strength)
        if self.l2 > 0:
            out /= 1 + step * self.l2_strength
        return out

    def even_steps(self, steps: Array) -> Array:
        """The steps given: every weight is by itself."""
        return steps

    def violation(self, w: Array, gradient: Array) -> Array:
        """|g + l2 w + l1 sign(w)| where w ≠ 0, max(|g| − l1, 0) where w = 0."""
        l1 = self.l1_strength
        total = gradient + self.smooth_gradient(w)
        return np.where(w != 0, np.abs(total + l1 * np.sign(w)), np.maximum(np.abs(total) - l1, 0.0))

    def dual_norm(self, gradient: Array) -> float:
        """The l1 from which on all penalised weights are zero: max |g_k| / c_k (infinite without an L1 part)."""
        if self.l1 == 0:
            return float("inf")
        if self.weight is None:
            return max(float(np.max(gradient, initial=0.0)), -float(np.min(gradient, initial=0.0)))
        penalised = self.weight > 0
        return float(np.max(np.abs(gradient[penalised]) / self.weight[penalised], initial=0.0))

    def polar(self, gradient: Array) -> float:
        """max |g_k| / (l1 c_k)."""
        if self.l1 == 0 or (self.weight is not None and np.any(gradient[self.weight == 0])):
            return float("inf") if np.any(gradient) else 0.0
        return self.dual_norm(gradient) / self.l1

    def conjugate(self, z: Array) -> float:
        """Σ_k max(|z_k| − l1 c_k, 0)² / (2 l2 c_k); where l2 c_k = 0 that is 0, or infinite beyond the threshold."""
        out, l2 = soft_threshold(z, self.l1_strength), self.l2_strength
        if np.ndim(l2) == 0 and l2 > 0:
            return dot(out, out) / (2 * float(l2))
        bend = np.broadcast_to(l2, z.shape)
        if np.any(out[bend == 0]):
            return float("inf")
        return float(np.sum(np.divide(out**2, 2 * bend, out=np.zeros_like(out), where=bend > 0)))

    def majorizer(self, w: Array) -> Array:
        """l1 c_k/|w_k| + l2 c_k, from |u| ≤ |w| + (u² − w²)/(2|w|); infinite where w_k = 0 and l1 c_k > 0."""
        l1, size = np.broadcast_to(self.l1_strength, w.shape), np.abs(w)
        out = np.where(l1 > 0, np.inf, 0.0)
        np.divide(l1, size, out=out, where=size > 0)
        return out + self.l2_strength

    def separated(self, n_features: int) -> SeparableTerms:
        """As one absolute value and one parabola a weight."""
        l1, l2 = (np.broadcast_to(each, n_features).copy() for each in (self.l1_strength, self.l2_strength))
        return SeparableTerms(l1, l2, np.zeros(n_features))

    def scaled(self, strength: float) -> ElasticNet:
        """The same with another `l1`."""
        return replace(self, l1=strength)

    def restrict(self, features: IntArray) -> ElasticNet:
        """The same strengths on some of the weights."""
        if self.weight is None and self.bend is None:
            return self
        weight, bend = (None if each is None else each[features] for each in (self.weight, self.bend))
        return replace(self, weight=weight, bend=bend)

    def exempt(self, features: IntArray, n_features: int) -> ElasticNet:
        """The same penalty, except that these features are not penalised."""
        if len(features) == 0:
            return self
        return replace(self, weight=exempted(self.weight, features, n_features))


def L1(strength: float) -> ElasticNet:
    """Ω(w) = strength · ‖w‖₁."""
    return ElasticNet(l1=strength)


def L2(strength: float) -> ElasticNet:
    """Ω(w) = strength/2 · ‖w‖²."""
    return ElasticNet(l2=strength)
