"""How far from the optimum: lower bounds on Σ loss + Ω from weak duality.

Every loss here is a maximum over mixtures μ of outputs, L(w) = max_μ a(μ) + w·Φᵀ(μ − gold), with a(μ) the entropy
(log), the expected cost (hinge) or zero (perceptron). So for every μ

    min_w L(w) + Ω(w)  ≥  a(μ) − Ω*(−Φᵀ(μ − gold)).

Take the mixture θ μ + (1 − θ) gold, whose gradient is θ g and whose a is, by concavity, at least θ a(μ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.penalties.elastic_net import ElasticNet, soft_threshold


def lower_bound(a: float, gradient: Array, penalty: Any) -> float:
    """The best θ a − Ω*(θ g) that is easily found: no weights have an objective below it. At least 0.

    Inside the dual ball, θ ≤ 1/polar(g), the conjugate of the non-smooth part is zero, and an L2 part only makes it
    smaller. A penalty that is nothing but l2/2 ‖w‖² has Ω*(z) = ‖z‖²/(2 l2), which gives θ = a l2/‖g‖².
    """
    if a <= 0:
        return 0.0
    gauge = penalty.polar(gradient)
    if np.isfinite(gauge):
        return a if gauge <= 1 else a / gauge
    l2 = getattr(penalty, "l2", 0.0)
    squared = float(dot(gradient, gradient))
    if not penalty.smooth or l2 <= 0 or getattr(penalty, "weight", None) is not None:
        return 0.0
    theta = min(1.0, a * l2 / squared) if squared > 0 else 1.0
    return theta * a - theta**2 * squared / (2 * l2)


@dataclass(frozen=True)
class SplitDual:
    """Multipliers u of groups with copies of their weights, ‖u_g‖ ≤ λ_g: then Σ_g λ_g ‖w_g‖ ≥ −u·Mw for all w."""

    sums: Array  # Mᵀu
    counts: Array  # how many copies each weight has
    gauge: Callable[[Array], float]  # shift → max_g ‖u_g + (M shift)_g‖ / λ_g


def split_lower_bound(problem: Any, point: Any, net: ElasticNet, dual: SplitDual) -> float:
    """A lower bound on min_w loss + elastic net + Σ_g λ_g ‖w_g‖, from the residuals of a point and multipliers.

    For mixtures μ of outputs and all u in their balls, weak duality gives a(μ) − net*(Mᵀu − g), g = Φᵀ(μ − gold). An
    L2 part makes net* finite. Without one, Mᵀu − g must be within ±l1: either all is scaled down until it is, or what
    sticks out is dealt out evenly to the copies, and all is scaled until these are in their balls again.
    """
    l1, l2 = (np.broadcast_to(each, len(point.w)) for each in (net.l1_strength, net.l2_strength))
    many = dual.counts > 0
    free = (l1 == 0) & (l2 == 0) & ~many
    a, g = balanced_mixture(problem, point, np.flatnonzero(free))
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


def balanced_mixture(problem: Any, point: Any, free: IntArray) -> tuple[float | None, Array]:
    """a(μ) and Φᵀ(μ − gold), for a mixture μ under which weights without a penalty (`free`) have no gradient at all.

    Each instance's mixture may have more of gold in it: then its part of both is multiplied by some c_i ≤ 1. The c
    nearest to 1 that make Σ_i c_i x_if (μ − gold)_i vanish for all such weights f solve a small linear system.
    """
    (batch,) = problem.batches
    design: Any = batch.design
    values, parts, _ = problem.loss.each(batch.structure, design.parts(point.margins), batch.gold)
    residual = design.columns(parts)
    each = batch.structure.counted(values) - np.sum(point.margins * residual, axis=1)
    if not len(free) or not np.any(point.gradient[free]):
        return float(np.sum(each)), point.gradient
    some = design.restrict(free)
    moves = np.stack([_part_of(some, residual, f) for f in range(len(free))])
    epsilon = moves.T @ np.linalg.lstsq(moves @ moves.T, point.gradient[free], rcond=None)[0]
    c = (1 - epsilon) / (1 + max(0.0, -float(epsilon.min(initial=0.0))))
    if np.any(c < 0):
        return None, point.gradient
    gradient = np.zeros_like(point.gradient)
    design.map.pullback(np.ascontiguousarray(residual * c[:, None]), gradient, design.threads)
    return float(dot(each, c)), gradient


def _part_of(design: Any, residual: Array, feature: int) -> Array:
    """What every instance adds to the gradient of a feature."""
    unit = np.zeros(design.n_features)
    unit[feature] = 1.0
    return np.asarray(np.sum(design.margins(unit) * residual, axis=1))
