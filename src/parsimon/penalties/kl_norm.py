"""The KL norm of the Laplace max-margin Markov network: shrinks as L1 does, but smoothly and never to zero."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.base import BasePenalty, check_strengths, exempted

PRECISION = 8 * float(np.finfo(np.float64).eps)
MOST_STEPS = 50  # of Newton; it takes about five


@dataclass(frozen=True)
class KLNorm(BasePenalty):
    """Ω(w) = strength Σ_k c_k (s_k − 1 − log((s_k + 1)/2)), with s_k = √(λ w_k² + 1) and λ the `sharpness`.

    The Laplace M3N (Zhu, Xing & Zhang 2008), a max-margin Markov network with a Laplace prior of the constant λ, has
    this in place of the L2 norm; the constant that it adds at w = 0 is left out. Near zero it is the parabola
    strength·λ/4 w², far away a straight line of slope ±strength·√λ. So Ω/√λ tends to ‖w‖₁ as λ grows: for an L1 norm of
    strength ρ that is rounded off within about 1/√λ of zero, take ``KLNorm(λ, strength=ρ/√λ)``. All c_k are 1 unless
    `weight` says otherwise (0: not penalised).

    >>> import numpy as np
    >>> from parsimon.penalties import KLNorm
    >>> KLNorm(100.0).smooth_gradient(np.array([0.001, 0.1, 100.0, -100.0])).round(2).tolist()
    [0.05, 4.14, 9.99, -9.99]
    """

    sharpness: float
    strength: float = 1.0
    weight: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_strengths(strength=self.strength)
        if not (np.isfinite(self.sharpness) and self.sharpness > 0):
            raise ParsimonError(
                f"the sharpness of a KL norm (its λ) must be more than zero, not {self.sharpness}."
            )

    @property
    def smooth(self) -> bool:
        """Always."""
        return True

    @property
    def separable(self) -> bool:
        """Always."""
        return True

    @property
    def l1(self) -> float:
        """Zero: there is no corner."""
        return 0.0

    @property
    def l1_strength(self) -> float | Array:
        """Zero, for each weight or for all."""
        return 0.0 if self.weight is None else np.zeros_like(self.weight)

    @property
    def _scale(self) -> float | Array:
        """strength·c_k."""
        return self.strength if self.weight is None else self.strength * self.weight

    def value(self, w: Array) -> float:
        """strength Σ_k c_k (x − log(1 + x/2)), where x = s − 1 has no cancellation as r²/(s + 1), r = √λ w."""
        r = np.sqrt(self.sharpness) * w
        x = r * _tanh_half(r)
        return float(np.sum(self._scale * (x - np.log1p(0.5 * x))))

    def smooth_gradient(self, w: Array) -> Array:
        """strength·c_k·λ w/(s + 1)."""
        root = np.sqrt(self.sharpness)
        return np.asarray(self._scale * root * _tanh_half(root * w))

    def prox(self, v: Array, step: float | Array) -> Array:
        """u with u + step·Ω'(u) = v, by Newton's method."""
        root = np.sqrt(self.sharpness)
        pull = np.broadcast_to(step * self._scale * self.sharpness, v.shape)
        size = _shrunk(root * np.abs(v), pull) / root
        return np.where(pull > 0, np.copysign(size, v), v)

    def even_steps(self, steps: Array) -> Array:
        """The steps given: every weight is by itself."""
        return steps

    def violation(self, w: Array, gradient: Array) -> Array:
        """|g + Ω'(w)|."""
        return np.abs(gradient + self.smooth_gradient(w))

    def dual_norm(self, gradient: Array) -> float:
        """Infinite: no strength makes a weight zero."""
        return float("inf")

    def polar(self, gradient: Array) -> float:
        """0 or infinite: nothing is held at zero."""
        return float("inf") if np.any(gradient) else 0.0

    def conjugate(self, z: Array) -> float:
        """−Σ_k a_k log(1 − z_k²/(a_k² λ)), a_k = strength·c_k; infinite from |z_k| = a_k √λ on.

        With t = z/(a√λ), z = Ω'(w) says that w = 2t/((1 − t²)√λ) and s = (1 + t²)/(1 − t²), which leaves
        log((s + 1)/2) of z·w − Ω(w).
        """
        a = np.broadcast_to(self._scale, z.shape)
        if np.any(z[a == 0]):
            return float("inf")
        t = np.divide(z, a * np.sqrt(self.sharpness), out=np.zeros_like(z), where=a > 0)
        if np.any(np.abs(t) >= 1):
            return float("inf")
        return -float(np.sum(a * (np.log1p(t) + np.log1p(-t))))

    def majorizer(self, w: Array) -> Array:
        """strength·c_k·λ/(s + 1), finite at w = 0 too: Ω is a concave function of the w_k²."""
        return np.asarray(self._scale * self.sharpness / (1 + np.hypot(1.0, np.sqrt(self.sharpness) * w)))

    def restrict(self, features: IntArray) -> KLNorm:
        """The same strengths on some of the weights."""
        return self if self.weight is None else replace(self, weight=self.weight[features])

    def exempt(self, features: IntArray, n_features: int) -> KLNorm:
        """The same penalty, except that these features are not penalised."""
        if len(features) == 0:
            return self
        return replace(self, weight=exempted(self.weight, features, n_features))

    def scaled(self, strength: float) -> KLNorm:
        """The same with another `strength`."""
        return replace(self, strength=strength)


def _tanh_half(r: Array) -> Array:
    """r/(1 + √(1 + r²)) = tanh(arsinh(r)/2): the slope of the KL norm in units of its own, between −1 and 1."""
    return np.asarray(r / (1 + np.hypot(1.0, r)))


def _shrunk(p: Array, pull: Array) -> Array:
    """r ≥ 0 with h(r) = r + pull·r/(1 + √(1 + r²)) = p ≥ 0.

    h is concave, so Newton's method comes from the left and does not overshoot; it is kept within [0, p] in case
    rounding does. It starts from the larger of two lower bounds: r/(1 + s) ≤ r/2 gives p/(1 + pull/2), which is near
    for small r, and r/(1 + s) ≤ (r + 1)/(r + 2) leads to a quadratic equation, which is near for large r.
    """
    r = np.maximum(p / (1 + 0.5 * pull), _far_bound(p, pull))
    for _ in range(MOST_STEPS):
        s = np.hypot(1.0, r)
        left = r + pull * (r / (1 + s)) - p
        r = np.clip(r - left / (1 + pull / s / (1 + s)), 0.0, p)
        if np.all(np.abs(left) <= PRECISION * p):
            break
    return np.asarray(r)


def _far_bound(p: Array, pull: Array) -> Array:
    """The larger root of r² + b r = 2p − pull, b = 2 + pull − p; 0 if that is negative."""
    b, c = 2 + pull - p, np.maximum(2 * p - pull, 0.0)
    root = np.hypot(b, 2 * np.sqrt(c))
    return np.where(b > 0, 2 * c / np.where(b > 0, b + root, 1.0), 0.5 * (root - b))
