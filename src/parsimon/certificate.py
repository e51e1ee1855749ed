"""How far from the optimum: lower bounds on Σ loss + Ω from weak duality.

Every loss here is a maximum over mixtures μ of outputs, L(w) = max_μ a(μ) + w·Φᵀ(μ − gold), with a(μ) the entropy
(log), the expected cost (hinge) or zero (perceptron). So for every μ

    min_w L(w) + Ω(w)  ≥  a(μ) − Ω*(−Φᵀ(μ − gold)).

Take the mixture θ μ + (1 − θ) gold, whose gradient is θ g and whose a is, by concavity, at least θ a(μ).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array


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
