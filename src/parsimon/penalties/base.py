"""What every penalty offers, what some offer besides, and what most of them can inherit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.groupings import FeatureDescriptions
from parsimon.penalties.groups import Groups

if TYPE_CHECKING:
    from parsimon.penalties.group_lasso import Split


class Penalty(Protocol):
    """Ω(w), a convex function of the weights with Ω(0) = 0: a non-smooth part Ω₀ plus a smooth one.

    The protocols below are what a penalty may offer besides; some solvers need them.
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
    def proximal(self) -> bool:
        """Whether there is a `prox`."""
        ...

    @property
    def projection(self) -> bool:
        """Whether `prox` is the same for every step: the projection on a set, outside of which Ω is infinite."""
        ...

    @property
    def weight(self) -> Array | None:
        """The factor of each feature's terms, 0 if it is not penalised; None if all features are penalised alike."""
        ...

    @property
    def strength(self) -> float:
        """The main strength, the one that regularisation paths vary."""
        ...

    @property
    def threshold(self) -> float:
        """The slope of the loss at which features or groups come in, the measure of violations; 0 if smooth."""
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
        """argmin_u ½‖u − v‖² + step·Ω(u); steps per weight must come from `even_steps`."""
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

    def bind(self, features: FeatureDescriptions) -> Penalty:
        """The same penalty with its groups found among these features."""
        ...


# --- What only some solvers need ----------------------------------------------------------------------------
# A penalty offers one of these by having its members; nothing has to be inherited.


@dataclass(frozen=True)
class SeparableTerms:
    """Ω(w) = Σ_k l1_k |w_k| + bend_k/2 (w_k − centre_k)², up to a constant: what coordinate descent needs to know."""

    l1: Array
    bend: Array
    centre: Array


@runtime_checkable
class SeparablePenalty(Protocol):
    """An L1 norm plus a smooth function of each weight by itself, if `separable` is true."""

    @property
    def l1_strength(self) -> float | Array:
        """What |w_k| is multiplied by, for each weight or for all."""
        ...


@runtime_checkable
class CurvedPenalty(SeparablePenalty, Protocol):
    """A separable penalty whose smooth part is a parabola in each weight."""

    @property
    def l2_strength(self) -> float | Array:
        """What w_k²/2 is multiplied by, for each weight or for all."""
        ...


@runtime_checkable
class SeparatedPenalty(Protocol):
    """A penalty of which all but the groups can be written as absolute values and parabolas of single weights."""

    def separated(self, n_features: int) -> SeparableTerms:
        """That part of Ω."""
        ...


@runtime_checkable
class ElasticPenalty(Protocol):
    """A penalty with the terms l1 ‖w‖₁ + l2/2 ‖w‖²."""

    @property
    def l1(self) -> float:
        """The strength of the L1 norm."""
        ...

    @property
    def l2(self) -> float:
        """The strength of the squared L2 norm."""
        ...


@runtime_checkable
class GroupNormPenalty(ElasticPenalty, Protocol):
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖²."""

    @property
    def groups(self) -> Groups:
        """The groups m."""
        ...

    @property
    def strength(self) -> float:
        """The strength of the group norms."""
        ...

    @property
    def norm(self) -> float | str:
        """2 or ``inf``."""
        ...

    @property
    def free(self) -> IntArray | None:
        """The features that have no part in any term, ascending; None if there are none."""
        ...


@runtime_checkable
class BlockwisePenalty(SeparatedPenalty, Protocol):
    """A penalty on disjoint groups."""

    @property
    def blocks(self) -> bool:
        """Whether it can be minimised over one group after the other in closed form."""
        ...


@runtime_checkable
class SplitPenalty(Protocol):
    """A penalty on groups that can be given copies of their weights."""

    def split(self, n_features: int) -> Split:
        """Ω as an elastic net and groups."""
        ...


@runtime_checkable
class MajorizedPenalty(Protocol):
    """A penalty that lies below parabolas. A solver for L2 penalties solves it by reweighting."""

    def majorizer(self, w: Array) -> Array:
        """Numbers c_k ≥ 0 with Ω(u) ≤ Ω(w) + ½ Σ_k c_k (u_k² − w_k²) for all u.

        Where c_k = ∞ because w_k = 0, that holds for all u with u_k = 0.
        """
        ...


@runtime_checkable
class ConjugatePenalty(Protocol):
    """A penalty with a known conjugate, which makes lower bounds on the optimum as tight as they can be."""

    def conjugate(self, z: Array) -> float:
        """Ω*(z) = sup_w z·w − Ω(w); infinite where there is no bound."""
        ...


@runtime_checkable
class RayConjugatePenalty(Protocol):
    """A penalty that knows its conjugate along a ray for less than a pass over all features at every point of it."""

    def conjugate_along(self, z: Array) -> Callable[[float], float]:
        """θ → Ω*(θ z), for θ > 0."""
        ...


class BasePenalty:
    """What follows from the rest: a subclass writes `value`, `prox`, `violation`, `restrict` and `scaled`.

    What is here is right for a norm times `strength`, neither smooth nor separable; override what is not.
    """

    groups: Any = None

    @property
    def proximal(self) -> bool:
        """Yes."""
        return True

    @property
    def projection(self) -> bool:
        """No."""
        return False

    @property
    def weight(self) -> Array | None:
        """All features are penalised alike."""
        return None

    @property
    def smooth(self) -> bool:
        """No."""
        return False

    @property
    def separable(self) -> bool:
        """No."""
        return False

    @property
    def threshold(self: Penalty) -> float:
        """`strength`, unless the penalty is smooth."""
        return 0.0 if self.smooth else self.strength

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

    def bind(self, features: FeatureDescriptions) -> Any:
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
    groups, weight = penalty.groups, penalty.weight
    exempt = np.zeros(0, np.int64) if weight is None else np.flatnonzero(weight == 0)
    if groups is None:
        return exempt
    if groups.disjoint and groups.covers:
        loose = groups.features_of(np.flatnonzero(groups.weight == 0))
    else:
        loose = np.flatnonzero(groups.spread((groups.weight > 0).astype(np.float64)) == 0)
    return np.union1d(exempt, loose)
