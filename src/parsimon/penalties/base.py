"""What every penalty offers, and what most of them can inherit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.groupings import FeatureTable
from parsimon.penalties.groups import Groups


class Penalty(Protocol):
    """Ω(w), a convex function of the weights with Ω(0) = 0: a non-smooth part Ω₀ plus a smooth one.

    A penalty may offer more than what follows; who needs it looks whether it is there.

    - ``conjugate(z) -> float``: Ω*(z) = sup_w z·w − Ω(w), infinite where there is no bound. With it, lower bounds on
      the optimum are as tight as they can be (parsimon/solvers/certificate.py).
    - ``majorizer(w) -> Array``: numbers c_k ≥ 0 with Ω(u) ≤ Ω(w) + ½ Σ_k c_k (u_k² − w_k²) for all u, or, where
      c_k = ∞ because w_k = 0, for all u with u_k = 0. With them, a solver for L2 penalties solves Ω by reweighting.
    - ``separated(n_features)``: Ω, or what it has besides groups, as absolute values and parabolas of single weights.
    - ``split(n_features)``: Ω as an elastic net and groups that may have copies of their weights.
    """

    @property
    def smooth(self) -> bool:
        """Whether Ω is differentiable everywhere."""
        ...

    @property
    def separable(self) -> bool:
        """Whether Ω is an L1 norm plus a smooth function of each weight by itself."""
        ...

    @property
    def strength(self) -> float:
        """The main strength, which regularisation paths go through."""
        ...

    @property
    def groups(self) -> Groups | None:
        """The groups of features that Ω knows, if any."""
        ...

    def value(self, w: Array) -> float:
        """Ω(w)."""
        ...

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of the smooth part of Ω."""
        ...

    def prox(self, v: Array, step: float | Array) -> Array:
        """argmin_u ½‖u − v‖² + step·Ω(u); a step per weight must have gone through `even_steps`."""
        ...

    def even_steps(self, steps: Array) -> Array:
        """The largest steps, none above those given, with which `prox` is exact."""
        ...

    def violation(self, w: Array, gradient: Array) -> Array:
        """dist(−gradient, ∂Ω(w)) per coordinate; all zero exactly at an optimum."""
        ...

    def group_violation(self, w: Array, gradient: Array) -> Array:
        """The 2-norm of the violation within each group; without groups, that of each weight."""
        ...

    def dual_norm(self, gradient: Array) -> float:
        """The strength from which on all penalised weights are zero when the loss has this gradient at w = 0."""
        ...

    def polar(self, gradient: Array) -> float:
        """The smallest s ≥ 0 with −gradient ∈ s·∂Ω₀(0); w = 0 is optimal if it is at most 1.

        Infinite if there is none: a weight that is not penalised has a gradient, or Ω has no non-smooth part.
        """
        ...

    def restrict(self, features: IntArray) -> Penalty:
        """The penalty of some of the weights (ascending), the others being zero."""
        ...

    def exempt(self, features: IntArray, n_features: int) -> Penalty:
        """The same penalty, except that these features are not penalised."""
        ...

    def scaled(self, strength: float) -> Penalty:
        """The same penalty with another main strength."""
        ...

    def bind(self, features: FeatureTable) -> Penalty:
        """The same penalty with its groups found among these features."""
        ...


class BasePenalty:
    """What follows from the rest: who inherits this writes `value`, `prox`, `violation`, `restrict` and `scaled`.

    What is here is right for a norm times `strength`, neither smooth nor separable; override what is not.
    """

    groups: Any = None

    @property
    def smooth(self) -> bool:
        """No."""
        return False

    @property
    def separable(self) -> bool:
        """No."""
        return False

    def smooth_gradient(self, w: Array) -> Array:
        """Zero."""
        return np.zeros_like(w)

    def even_steps(self, steps: Array) -> Array:
        """The smallest step for all."""
        return np.full_like(steps, np.min(steps, initial=np.inf))

    def group_violation(self: Penalty, w: Array, gradient: Array) -> Array:
        """The 2-norm of the violation within each group; without groups, that of each weight."""
        violation = self.violation(w, gradient)
        return violation if self.groups is None else self.groups.norms(violation)

    def polar(self: Penalty, gradient: Array) -> float:
        """max_u −gradient·u / Ω(u), from below (Dinkelbach 1967).

        u = prox(x, s) is zero if and only if x ∈ s·∂Ω(0). If it is not, x·u / Ω(u) is more than s, because
        x − u = s·(a subgradient at u) and so x·u = ‖u‖² + s Ω(u). That is Newton's method for the distance of x to
        s·∂Ω(0), a convex function of s: it ends after a few steps.
        """
        x = -gradient
        s, u = 0.0, x
        while np.any(u):
            value = self.value(u)
            if value == 0:
                return float("inf")
            better = dot(x, u) / value
            if not better > s * (1 + 1e-15):
                break
            s = better
            u = self.prox(x, s)
        return s

    def dual_norm(self: Penalty, gradient: Array) -> float:
        """`strength` times `polar`."""
        return self.strength * self.polar(gradient)

    def bind(self, features: FeatureTable) -> Any:
        """The same penalty with its groups found among these features."""
        return self if self.groups is None else _with_groups(self, self.groups.groups(features))

    def exempt(self, features: IntArray, n_features: int) -> Any:
        """Refused."""
        if len(features) == 0:
            return self
        raise ParsimonError(
            f"the penalty {type(self).__name__} cannot leave features out; penalise them all."
        )


def _with_groups(penalty: Any, groups: Groups) -> Any:
    return replace(penalty, groups=groups)


def exempted(weight: Array | None, features: IntArray, n_features: int) -> Array:
    """The weights of a penalty's terms, with these features left out."""
    out = np.ones(n_features) if weight is None else weight.copy()
    out[features] = 0.0
    return out


def check_strengths(**strengths: float) -> None:
    """Strengths must be finite and not negative."""
    for name, strength in strengths.items():
        if not (np.isfinite(strength) and strength >= 0):
            which = "" if name == "strength" else f" {name}"
            raise ParsimonError(f"the penalty strength{which} must be zero or more, not {strength}.")


def never_dropped(penalty: Penalty, n_features: int) -> IntArray:
    """The features that no strength makes zero: those that are exempt, or in no group with d_m > 0; ascending."""
    groups, weight = penalty.groups, getattr(penalty, "weight", None)
    exempt = np.zeros(0, np.int64) if weight is None else np.flatnonzero(weight == 0)
    if groups is None:
        return exempt
    if groups.disjoint and groups.covers:
        loose = groups.features_of(np.flatnonzero(groups.weight == 0))
    else:
        loose = np.flatnonzero(groups.spread((groups.weight > 0).astype(np.float64)) == 0)
    return np.union1d(exempt, loose)
