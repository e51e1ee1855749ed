"""The squared L1 norm: what is left of an adaptive max-margin Markov network when its variances are at their best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import BasePenalty, check_strengths
from parsimon.penalties.elastic_net import soft_threshold


@dataclass(frozen=True)
class SquaredL1(BasePenalty):
    """Ω(w) = strength/2 ‖w‖₁².

    The adaptive M3N minimises ½ Σ_k w_k²/τ_k over variances τ_k that add up to K as well; the best are
    τ_k = K|w_k|/‖w‖₁, which leaves ‖w‖₁²/(2K) (Zhu, Xing & Zhang 2009, theorem 2): `strength` is 1/K. Its solutions
    are those of an L1 norm of strength `strength`·‖w‖₁, so they are sparse; but w = 0 is never one if the loss has any
    gradient there.

    >>> import numpy as np
    >>> from parsimon.penalties import SquaredL1
    >>> SquaredL1(0.5).prox(np.array([3.0, -2.0, 0.2]), 1.0)  # the threshold is 0.5·‖u‖₁
    array([ 1.75, -0.75,  0.  ])
    """

    strength: float

    def __post_init__(self) -> None:
        check_strengths(strength=self.strength)

    @property
    def threshold(self) -> float:
        """There is none: the slope at which features come in goes with ‖w‖₁."""
        return 0.0

    def value(self, w: Array) -> float:
        """strength/2 ‖w‖₁²."""
        return 0.5 * self.strength * float(np.abs(w).sum()) ** 2

    def prox(self, v: Array, step: float | Array) -> Array:
        """Soft thresholds step·T, T = strength·‖u‖₁, each weight with its own step.

        If the weights that stay were known, T would be strength·Σ|v_k| / (1 + strength·Σ step_k) over these. This
        starts with all and drops those with |v_k| ≤ step_k·T until none is: Newton's method for T = strength·Σ_k
        max(|v_k| − step_k T, 0), a convex and piecewise linear function; a few rounds over fewer and fewer weights.
        """
        size, steps = np.abs(v), np.broadcast_to(step, v.shape)
        pull = 0.0
        while len(size):
            better = self.strength * float(size.sum()) / (1 + self.strength * float(steps.sum()))
            if not better > pull:
                break
            pull = better
            stay = size > steps * pull
            if np.all(stay):
                break
            size, steps = size[stay], steps[stay]
        return soft_threshold(v, step * pull)

    def even_steps(self, steps: Array) -> Array:
        """The steps given."""
        return steps

    def violation(self, w: Array, gradient: Array) -> Array:
        """|g + T sign(w)| where w ≠ 0, max(|g| − T, 0) where w = 0, with T = strength·‖w‖₁."""
        pull = self.strength * float(np.abs(w).sum())
        return np.where(
            w != 0, np.abs(gradient + pull * np.sign(w)), np.maximum(np.abs(gradient) - pull, 0.0)
        )

    def polar(self, gradient: Array) -> float:
        """0 or infinite: ∂Ω(0) = {0}, so nothing is held at zero."""
        return float("inf") if np.any(gradient) else 0.0

    def dual_norm(self, gradient: Array) -> float:
        """Infinite: no strength makes all weights zero."""
        return float("inf")

    def conjugate(self, z: Array) -> float:
        """‖z‖_∞² / (2 strength)."""
        largest = float(np.max(np.abs(z), initial=0.0))
        if self.strength == 0:
            return float("inf") if largest > 0 else 0.0
        return largest**2 / (2 * self.strength)

    def majorizer(self, w: Array) -> Array:
        """strength·‖w‖₁/|w_k|: 1/τ_k at the best τ, by Cauchy and Schwarz (infinite where w_k = 0)."""
        if self.strength == 0:
            return np.zeros_like(w)
        size, out = np.abs(w), np.full_like(w, np.inf)
        np.divide(self.strength * size.sum(), size, out=out, where=size > 0)
        return out

    def restrict(self, features: IntArray) -> SquaredL1:
        """Itself: the other weights are zero."""
        return self

    def scaled(self, strength: float) -> SquaredL1:
        """The same with another `strength`."""
        return replace(self, strength=strength)
