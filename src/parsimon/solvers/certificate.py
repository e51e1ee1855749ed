"""How far from the optimum: lower bounds on Σ loss + Ω from weak duality.

Every loss here is a maximum over mixtures μ of outputs, L(w) = max_μ a(μ) + w·Φᵀ(μ − gold), with a(μ) the entropy
(log), the expected cost (hinge) or zero (perceptron). So for every μ

    min_w L(w) + Ω(w)  ≥  a(μ) − Ω*(−Φᵀ(μ − gold)).

Take the mixture θ μ + (1 − θ) gold, whose gradient is θ g and whose a is, by concavity, at least θ a(μ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import ConjugatePenalty, ElasticPenalty, Penalty, RayConjugatePenalty
from parsimon.penalties.elastic_net import ElasticNet, soft_threshold
from parsimon.problem import Coordinates, LinearPoint


def lower_bound(a: float, gradient: Array, penalty: Penalty) -> float:
    """The best θ a − Ω*(−θ g) with θ between 0 and 1, if Ω* is known. No weights have an objective below it.

    Inside the dual ball, θ ≤ 1/polar(g), the conjugate of the non-smooth part is zero, and a smooth part only makes it
    smaller. A penalty that knows its conjugate may do better outside; one that is nothing but l2/2 ‖w‖² has
    Ω*(z) = ‖z‖²/(2 l2), which gives θ = a l2/‖g‖². The bound is at least 0.

    >>> import numpy as np
    >>> from parsimon.solvers.certificate import lower_bound
    >>> from parsimon.penalties import L1, L2, ElasticNet
    >>> [lower_bound(2.0, np.array([4.0, 1.0]), penalty) for penalty in (L1(2.0), L2(17.0))]
    [1.0, 1.5]
    >>> round(lower_bound(2.0, np.array([4.0, 1.0]), ElasticNet(2.0, 17.0)), 6)  # better than either part
    1.882353
    """
    if a <= 0:
        return 0.0
    gauge = penalty.polar(gradient)
    if gauge <= 1:
        return a
    in_ball = a / gauge if np.isfinite(gauge) else 0.0
    l2 = penalty.l2 if isinstance(penalty, ElasticPenalty) else None
    even = isinstance(penalty, ElasticNet) and penalty.weight is None and penalty.bend is None
    if penalty.smooth and l2 and even:
        squared = float(dot(gradient, gradient))
        theta = min(1.0, a * l2 / squared) if squared > 0 else 1.0
        return float(theta * a - theta**2 * squared / (2 * l2))
    if l2 == 0 or not isinstance(penalty, ConjugatePenalty):  # without an L2 part there is no more to be had
        return in_ball
    if isinstance(penalty, RayConjugatePenalty):
        along = penalty.conjugate_along(-gradient)
        return max(in_ball, highest(lambda theta: theta * a - along(theta)))
    conjugate = penalty.conjugate
    return max(in_ball, highest(lambda theta: theta * a - conjugate(-theta * gradient)))


def has_finite_conjugate(penalty: Penalty) -> bool:
    """Whether bounds hold outside of the dual ball, too: there is an L2 part on all weights."""
    elastic = isinstance(penalty, ElasticPenalty) and penalty.l2 > 0 and penalty.weight is None
    return elastic and isinstance(penalty, ConjugatePenalty)


SMALLEST = 2.0**-50  # a share of a that is nothing
GOLDEN = (5**0.5 - 1) / 2


def highest(value: Callable[[float], float]) -> float:
    """The largest value found between 0 and 1 of a concave function that is 0 at 0, and may be −∞ from somewhere on.

    Halving, from 1 on, while the value does not fall leaves half a θ and twice a θ with the maximum between them; then
    golden sections.
    """
    best = value(1.0)
    if not value(SMALLEST) > 0:
        return max(best, 0.0)
    theta = 1.0
    while theta > SMALLEST and (half := value(theta / 2)) >= best:
        theta, best = theta / 2, half
    low, high = theta / 2, min(1.0, 2 * theta)
    x, y = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_x, at_y = value(x), value(y)
    while high - low > 1e-7 * high:
        best = max(best, at_x, at_y)
        if at_x >= at_y:  # also where both are −∞
            high, y, at_y = y, x, at_x
            x = high - GOLDEN * (high - low)
            at_x = value(x)
        else:
            low, x, at_x = x, y, at_y
            y = low + GOLDEN * (high - low)
            at_y = value(y)
    return max(best, at_x, at_y)


@dataclass(frozen=True)
class SplitDual:
    """Multipliers u of groups with copies of their weights, ‖u_g‖ ≤ λ_g: then Σ_g λ_g ‖w_g‖ ≥ −u·Mw for all w."""

    sums: Array  # Mᵀu
    counts: Array  # how many copies each weight has
    gauge: Callable[[Array], float]  # shift → max_g ‖u_g + (M shift)_g‖ / λ_g


def split_lower_bound(scores: Coordinates, point: LinearPoint, net: ElasticNet, dual: SplitDual) -> float:
    """A lower bound on min_w loss + elastic net + Σ_g λ_g ‖w_g‖, from the residuals of a point and multipliers.

    For mixtures μ of outputs and all u in their balls, weak duality gives a(μ) − net*(Mᵀu − g), g = Φᵀ(μ − gold). An
    L2 part makes net* finite. Without one, Mᵀu − g must be within ±l1: either all is scaled down until it is, or the
    excess is shared evenly among the copies, and all is scaled until these are in their balls again.
    """
    l1, l2 = (np.broadcast_to(each, len(point.gradient)) for each in (net.l1_strength, net.l2_strength))
    many = dual.counts > 0
    free = (l1 == 0) & (l2 == 0) & ~many
    a, g = balanced_mixture(scores, point, np.flatnonzero(free))
    if a is None:
        return -np.inf
    left = g - dual.sums
    left[free] = 0.0  # balanced but for rounding
    out = soft_threshold(left, l1)
    bounds = []
    if net.l2 > 0 and not np.any(out[l2 == 0]):
        bounds.append(a - 0.5 * float(np.sum(np.divide(out**2, l2, out=np.zeros_like(out), where=l2 > 0))))
    size = np.abs(left)
    sticks = size > 0
    if np.all(l1[sticks] > 0):
        bounds.append(a / max(1.0, float(np.max(size[sticks] / l1[sticks], initial=0.0))))
    loose = sticks & ~many & (out != 0)
    if np.all(l1[loose] > 0):
        share = np.divide(out, dual.counts, out=np.zeros_like(out), where=many)
        outside = max(1.0, dual.gauge(share), float(np.max(size[loose] / l1[loose], initial=0.0)))
        bounds.append(a / outside)
    return max(bounds, default=-np.inf)


def balanced_mixture(scores: Coordinates, point: LinearPoint, free: IntArray) -> tuple[float | None, Array]:
    """a(μ) and Φᵀ(μ − gold), for a mixture μ under which weights without a penalty (`free`) have no gradient at all.

    Each instance's mixture may have more of gold in it: then its part of both is multiplied by some c_i ≤ 1. The c
    nearest to 1 that make Σ_i c_i x_if (μ − gold)_i vanish for all such weights f solve a small linear system.
    """
    each, residual = scores.dual_values(point)
    if not len(free) or not np.any(point.gradient[free]):
        return float(np.sum(each)), point.gradient
    moves = scores.contributions(residual, free)
    epsilon = moves.T @ np.linalg.lstsq(moves @ moves.T, point.gradient[free], rcond=None)[0]
    c = (1 - epsilon) / (1 + max(0.0, -float(epsilon.min(initial=0.0))))
    if np.any(c < 0):
        return None, point.gradient
    return float(dot(each, c)), scores.pullback(residual * c[:, None])
