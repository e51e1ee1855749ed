"""What every penalty offers."""

from __future__ import annotations

from typing import Protocol

from parsimon.arrays import Array, IntArray


class Penalty(Protocol):
    """Ω(w), a convex function of the weights."""

    @property
    def smooth(self) -> bool:
        """Whether Ω is differentiable everywhere."""
        ...

    @property
    def separable(self) -> bool:
        """Whether Ω is an L1 norm plus a smooth function of each weight by itself."""
        ...

    def value(self, w: Array) -> float:
        """Ω(w)."""
        ...

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of the differentiable part of Ω."""
        ...

    def prox(self, v: Array, step: float | Array) -> Array:
        """argmin_u ½‖u − v‖² + step·Ω(u)."""
        ...

    def violation(self, w: Array, gradient: Array) -> Array:
        """dist(−gradient, ∂Ω(w)) per coordinate; all zero exactly at an optimum."""
        ...

    def dual_norm(self, gradient: Array) -> float:
        """The strength from which on w = 0 is optimal when the loss has this gradient there."""
        ...

    def restrict(self, features: IntArray) -> Penalty:
        """The penalty of some of the weights, the others being zero."""
        ...
