"""Group lasso: whole groups of weights are zero or not. Here, groups that have no feature in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.base import BasePenalty, SeparableTerms, check_strengths
from parsimon.penalties.elastic_net import ElasticNet, soft_threshold
from parsimon.penalties.groupings import ByTemplate, Grouping
from parsimon.penalties.groups import Groups
from parsimon.penalties.l1_ball import simplex_thresholds

Self = TypeVar("Self", bound="GroupPenalty")

TIE = 1e-9  # weights so near the largest of their group, relatively, count as largest in an L∞ norm


@dataclass(frozen=True)
class Split:
    """Ω(w) = elastic net(w) + Σ_g strength_g ‖w_g‖; a feature that is in a group several times counts as often."""

    net: ElasticNet
    ptr: IntArray  # (G + 1,)
    member: IntArray  # (ptr[G],) int32
    strength: Array  # (G,)


@dataclass(frozen=True)
class GroupPenalty(BasePenalty):
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖², with the norm 2 or ``inf``; what all such penalties share.

    A subclass says which groups it takes and how to step on all of them at once.

    Features in no group, or only in groups with d_m = 0, have the l1 and l2 terms alone; those that `exempt` names
    (`free`) have nothing.

    **The proximal operator** is: soft threshold, then the groups, then division by 1 + step·l2.
    *The threshold comes first* because a group step only scales (norm 2) or clips (norm inf) weights towards zero: it
    never changes a sign and leaves zeros zero, so a subgradient of ‖·‖₁ before it is one after it, and the two
    optimality conditions add up to that of the sum (Yu 2013, theorem 1; for nested groups, of which single weights
    are the leaves, Jenatton et al. 2011). *The division comes last* because the rest, f, is positively homogeneous:
    with c = 1/(1 + step·l2), completing the square leaves argmin_u ½‖u − cv‖² + c·step·f(u), which is
    c·argmin_u ½‖u − v‖² + step·f(u).

    **The violation.** Terms that are differentiable at w go to the other side: r = −gradient − theirs. The others are
    norms of weights that are zero, whose subdifferential is a sum of balls of the dual norms; and the distance of r
    to it is the norm of what the proximal operator of these terms, with step 1, leaves of r (Moreau).
    """

    strength: float
    groups: Any = field(default_factory=ByTemplate)  # Groups, or a Grouping until `bind`
    norm: float | str = field(default=2, kw_only=True)
    l1: float = field(default=0.0, kw_only=True)
    l2: float = field(default=0.0, kw_only=True)
    free: IntArray | None = field(default=None, kw_only=True, repr=False, compare=False)  # ascending

    def __post_init__(self) -> None:
        check_strengths(strength=self.strength, l1=self.l1, l2=self.l2)
        if self.norm not in (2, "2", "inf", np.inf):
            raise ParsimonError(f"the norm of groups must be 2 or 'inf', not {self.norm!r}.")
        object.__setattr__(self, "norm", 2 if self.norm in (2, "2") else "inf")
        if isinstance(self.groups, Groups):
            self._check(self.groups)

    def _check(self, groups: Groups) -> None:
        """Refuses groups that this penalty cannot take."""

    def _shrink(self, x: Array, radius: Array) -> None:
        """x ← prox of Σ_m radius_m ‖·‖ over the groups `_known`, in place."""
        raise NotImplementedError

    def _leave_faces(self, x: Array, faces: Groups, radius: Array, equal: BoolArray) -> None:
        """x ← x minus its projection on the sum of the faces of L1 balls that `clip_groups` describes, in place."""
        raise NotImplementedError

    @property
    def _bound(self) -> Groups:
        if not isinstance(self.groups, Groups):
            raise ParsimonError(
                f"the groups of {type(self).__name__} are not known yet: bind(features) finds {self.groups}."
            )
        return self.groups

    @property
    def _known(self) -> Groups:
        """The groups, without empty ones where most are."""
        return self._bound.compact

    @property
    def smooth(self) -> bool:
        """True when there is only an L2 part."""
        return self.strength == 0 and self.l1 == 0

    @property
    def weight(self) -> Array | None:
        """1 for every feature, 0 for those that are exempt; ``None`` when none is."""
        if self.free is None:
            return None
        weight = np.ones(self._bound.n_features)
        weight[self.free] = 0.0
        return weight

    @property
    def threshold(self) -> float:
        """`strength`, or `l1` where that is all there is."""
        return self.strength or self.l1

    def value(self, w: Array) -> float:
        """strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖²."""
        w, groups = self._held(w), self._known
        total = self.strength * dot(groups.weight, groups.norms(w, self.norm))
        if self.l1 > 0:
            total += self.l1 * float(np.abs(w).sum())
        return total + 0.5 * self.l2 * dot(w, w) if self.l2 > 0 else total

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of the L2 part."""
        return self.l2 * self._held(w)

    def prox(self, v: Array, step: float | Array) -> Array:
        """Soft threshold, group step, division: see above."""
        out = soft_threshold(v, step * self.l1) if self.l1 > 0 else np.array(v, np.float64)
        if self.free is not None:
            out[self.free] = 0.0
        if self.strength > 0:
            self._shrink(out, self.strength * self._known.weight * self._step_of_groups(step))
        if self.l2 > 0:
            out /= 1 + step * self.l2
        if self.free is not None:
            out[self.free] = v[self.free]
        return out

    def violation(self, w: Array, gradient: Array) -> Array:
        """dist(−gradient, ∂Ω(w)) per coordinate: see above."""
        held, groups = self._held(w), self._known
        r = np.negative(gradient)
        if self.l2 > 0:
            r -= self.l2 * held
        if self.l1 > 0:
            r -= self.l1 * np.sign(held)
            np.copyto(r, soft_threshold(r, self.l1), where=held == 0)
        if self.free is not None:
            r[self.free] = 0.0
        if self.strength > 0:
            self._leave(r, held, groups.norms(held, self.norm), self.strength * groups.weight)
        np.abs(r, out=r)
        if self.free is not None:
            r[self.free] = np.abs(gradient[self.free])
        return r

    def _leave(self, r: Array, w: Array, norms: Array, radius: Array) -> None:
        """r ← r minus its projection on ∂ Σ_m radius_m ‖·‖ at w, in place."""
        groups = self._known
        if self.norm == 2:
            pull = np.divide(radius, norms, out=np.zeros_like(norms), where=norms > 0)
            if np.any(pull):
                r -= w * groups.spread(pull)
            if not np.all(norms > 0):
                self._shrink(r, np.where(norms > 0, 0.0, radius))
            return
        # An L∞ norm has a kink wherever several weights are largest: ∂‖w_m‖ is then the convex hull of sign(w_k) e_k
        # over these, a face of the L1 ball; it is the whole ball where w_m = 0.
        sign = np.where(w < 0, -1.0, 1.0)
        r *= sign
        self._leave_faces(r, largest_members(groups, w, norms), radius, norms > 0)
        r *= sign

    def polar(self, gradient: Array) -> float:
        """The smallest s ≥ 0 with −gradient ∈ s·∂Ω₀(0), Ω₀ being all but the L2 part."""
        if self.free is not None and np.any(gradient[self.free]):
            return float("inf")
        return BasePenalty.polar(replace(self, l2=0.0), gradient)

    def dual_norm(self, gradient: Array) -> float:
        """The strength from which on all weights that it acts on are zero, l1 being what it is."""
        x = soft_threshold(self._held(gradient), self.l1)
        groups = self._known
        if not (groups.covers and np.all(groups.weight > 0)):
            x[groups.spread((groups.weight > 0).astype(np.float64)) == 0] = 0.0
        return BasePenalty.polar(replace(self, strength=1.0, l1=0.0, l2=0.0, free=None), x)

    def conjugate(self, z: Array) -> float:
        """Ω*(z) = ‖z − its projection on ∂Ω₀(0)‖²/(2 l2), Ω₀ being all but the L2 part (Moreau); without one, 0 or ∞.

        What a projection leaves is what the proximal operator of Ω₀ makes of z.
        """
        left = replace(self, l2=0.0).prox(z, 1.0)
        if self.free is not None:
            if np.any(z[self.free]):
                return float("inf")
            left[self.free] = 0.0
        if self.l2 > 0:
            return dot(left, left) / (2 * self.l2)
        return float("inf") if np.any(left) else 0.0

    def split(self, n_features: int) -> Split:
        """As two: an elastic net, and the groups with their strengths, each of which may have copies of its weights."""
        if self.norm != 2:
            raise ParsimonError("ADMM needs groups with the norm 2; with the norm inf use fista.")
        groups = self._bound
        net = ElasticNet(self.l1, self.l2, weight=self.weight)
        member = np.arange(groups.ptr[-1]) if groups.index is None else groups.index
        ptr = groups.ptr
        if self.free is not None:
            kept = ~np.isin(member, self.free)
            ptr, member = np.concatenate([[0], np.cumsum(kept)])[ptr], member[kept]
        return Split(net, ptr, member.astype(np.int32), self.strength * groups.weight)

    def majorizer(self, w: Array) -> Array:
        """Σ_m strength·d_m/‖w_m‖ over the groups of a weight, + l1/|w_k| + l2; infinite where a group is zero.

        By ‖u_m‖ ≤ ‖w_m‖ + (‖u_m‖² − ‖w_m‖²)/(2‖w_m‖); so not with the norm inf.
        """
        if self.norm != 2:
            raise ParsimonError(
                "a majorizer needs groups with the norm 2; groups with the norm inf have none."
            )
        held, groups = self._held(w), self._known
        radius, norms = self.strength * groups.weight, groups.norms(held)
        pull = np.where(radius > 0, np.inf, 0.0)
        np.divide(radius, norms, out=pull, where=norms > 0)
        out = groups.spread(pull) + ElasticNet(self.l1, self.l2).majorizer(held)
        if self.free is not None:
            out[self.free] = 0.0
        return out

    def restrict(self: Self, features: IntArray) -> Self:
        """The penalty of some of the weights; groups keep the d_m of all their members."""
        free = None if self.free is None else np.flatnonzero(np.isin(features, self.free))
        return replace(self, groups=self._bound.restrict(features), free=free)

    def scaled(self: Self, strength: float) -> Self:
        """The same with another `strength`."""
        return replace(self, strength=strength)

    def exempt(self: Self, features: IntArray, n_features: int) -> Self:
        """The same penalty, except that these features have no part in any of its terms."""
        if len(features) == 0:
            return self
        return replace(
            self, free=np.union1d(np.zeros(0, np.int64) if self.free is None else self.free, features)
        )

    def _held(self, w: Array) -> Array:
        """w with those weights set to zero that are not penalised."""
        if self.free is None:
            return w
        w = w.copy()
        w[self.free] = 0.0
        return w

    def _step_of_groups(self, step: float | Array) -> float | Array:
        """One step for each group (or for all), from steps that are even."""
        if np.ndim(step) == 0:
            return step
        each = self._known.reduce(self._own_steps(step), np.minimum, np.inf)
        return np.where(np.isfinite(each), each, 0.0)

    def _own_steps(self, steps: Any) -> Array:
        """Steps, infinite where they do not matter."""
        if self.free is not None:
            steps = steps.copy()
            steps[self.free] = np.inf
        return steps  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GroupLasso(GroupPenalty):
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖² over groups without common features.

    `groups` are `Groups`, or a grouping such as `ByTemplate()`; `norm` is 2 or ``"inf"``.

    >>> import numpy as np
    >>> from parsimon.penalties.groups import Groups
    >>> from parsimon.penalties import GroupLasso
    >>> penalty = GroupLasso(1.0, Groups.from_lists([[0, 1], [2]], n_features=3, weight="ones"))
    >>> penalty.prox(np.array([3.0, 4.0, 0.5]), 1.0)
    array([2.4, 3.2, 0. ])
    """

    def _check(self, groups: Groups) -> None:
        if not groups.disjoint:
            a, b = two_that_meet(groups)
            raise ParsimonError(
                f"the groups {groups.name(a)!r} and {groups.name(b)!r} have features in common, which GroupLasso "
                "does not allow; use TreeLasso for nested groups, or OverlappingGroupLasso."
            )

    def _shrink(self, x: Array, radius: Array) -> None:
        groups = self._known
        if self.norm == 2:
            groups.scale(shrink_factors(groups.norms(x), radius), x)
        else:
            self._leave_faces(x, groups, radius, np.zeros(groups.n_groups, bool))

    def _leave_faces(self, x: Array, faces: Groups, radius: Array, equal: BoolArray) -> None:
        entries: Any = slice(0, int(faces.ptr[-1])) if faces.in_order else faces.index
        mine = x[entries]
        clip_groups(mine, faces.ptr, radius, equal)
        x[entries] = mine

    def even_steps(self, steps: Array) -> Array:
        """The smallest step in a group for all of it."""
        if self.strength == 0:
            return steps
        groups = self._known
        least = groups.reduce(self._own_steps(steps), np.minimum, np.inf)
        each = groups.spread(np.where(groups.weight > 0, least, np.inf))
        out = np.where(each > 0, np.minimum(steps, each), steps)  # 0: in no group
        if self.free is not None:
            out[self.free] = steps[self.free]
        return out

    @property
    def blocks(self) -> bool:
        """Whether groups can be minimised over one after the other in closed form: with the norm 2."""
        return self.norm == 2

    def separated(self, n_features: int) -> SeparableTerms:
        """What there is besides the groups."""
        return ElasticNet(self.l1, self.l2, weight=self.weight).separated(n_features)

    def conjugate_along(self, z: Array) -> Callable[[float], float]:
        """θ → Ω*(θ z): without an L1 part, Σ_m max(θ ‖z_m‖ − strength d_m, 0)² / (2 l2), over loose features, too."""
        if self.l1 > 0 or self.norm != 2 or self.l2 == 0 or (self.free is not None and np.any(z[self.free])):
            return lambda theta: self.conjugate(theta * z)
        groups, alone = self._known, z[self._loose()]
        norms, radius, rest = groups.norms(z), self.strength * groups.weight, dot(alone, alone)

        def at(theta: float) -> float:
            over = np.maximum(theta * norms - radius, 0.0)
            return (dot(over, over) + theta**2 * rest) / (2 * self.l2)

        return at

    def polar(self, gradient: Array) -> float:
        """max_m ‖g_m‖* / (strength d_m), ‖·‖* the dual norm, if there is no L1 part; else by `_sparse_polar`."""
        if self.strength == 0:
            return super().polar(gradient)
        if self.l1 > 0:
            exempt = self.free is not None and np.any(gradient[self.free])
            return float("inf") if exempt else self._sparse_polar(np.abs(self._held(gradient)))
        groups = self._known
        held = groups.weight > 0
        sizes = self._dual_norms(self._held(gradient))
        if np.any(sizes[~held]) or np.any(gradient[self._loose()]):
            return float("inf")
        return float(np.max(sizes[held] / groups.weight[held], initial=0.0)) / self.strength

    def _sparse_polar(self, x: Array) -> float:
        """The Newton steps of `BasePenalty.polar`, each to the largest of what the groups ask for.

        As s grows, weights that are zero stay zero, so only the others are looked at again.
        """
        penalty, u = replace(self, l2=0.0, free=None), x
        s = float(np.max(x[self._loose()], initial=0.0)) / self.l1
        while len(u):
            groups = penalty._known
            bottom = self.strength * groups.weight * groups.norms(u, self.norm) + self.l1 * groups.reduce(
                np.abs(u)
            )
            ratio = np.divide(groups.reduce(x * u), bottom, out=np.zeros_like(bottom), where=bottom > 0)
            better = float(np.max(ratio, initial=0.0))
            if not better > s * (1 + 1e-15):
                break
            s = better
            u = penalty.prox(x, s)
            kept = np.flatnonzero(u)
            penalty, x, u = penalty.restrict(kept), x[kept], u[kept]
        return s

    def dual_norm(self, gradient: Array) -> float:
        """max_m ‖S(g_m, l1)‖* / d_m, S the soft threshold: from this strength on all groups are zero."""
        penalised = self._known.weight > 0
        sizes = self._dual_norms(soft_threshold(self._held(gradient), self.l1))
        return float(np.max(sizes[penalised] / self._known.weight[penalised], initial=0.0))

    def _loose(self) -> IntArray:
        """The features that are exempt or in no group."""
        groups = self._known
        loose = np.zeros(0, np.int64) if self.free is None else self.free
        if groups.covers:
            return loose
        return np.union1d(loose, np.flatnonzero(groups.spread(np.ones(groups.n_groups)) == 0))

    def _dual_norms(self, x: Array) -> Array:
        """2 is its own dual, that of ∞ is 1."""
        return self._known.norms(x) if self.norm == 2 else self._known.reduce(np.abs(x))


def SparseGroupLasso(strength: float, l1: float, groups: Grouping | Groups | None = None) -> GroupLasso:
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ (Friedman et al. 2010): few groups, and few weights in each."""
    return GroupLasso(strength, ByTemplate() if groups is None else groups, l1=l1)


def ElasticNetGroups(strength: float, l2: float, groups: Grouping | Groups | None = None) -> GroupLasso:
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l2/2 ‖w‖²: few groups, and small weights in each."""
    return GroupLasso(strength, ByTemplate() if groups is None else groups, l2=l2)


def shrink_factors(norms: Array, radius: Array) -> Array:
    """max(0, 1 − radius/norm): what the proximal operator of radius·‖·‖₂ multiplies a vector by."""
    factors = np.divide(radius, norms, out=np.ones_like(norms), where=norms > 0)
    np.subtract(1.0, factors, out=factors)
    np.maximum(factors, 0.0, out=factors)
    factors[radius == 0] = 1.0
    return factors


def clip_groups(x: Array, ptr: IntArray, radius: Array, equal: BoolArray) -> None:
    """x minus its projection, per segment, in place.

    On the L1 ball of that radius: then it is the proximal operator of radius·‖·‖_∞, which clips at a threshold; or,
    where `equal` is set, on its face in the positive orthant, the simplex.
    """
    sizes = np.diff(ptr)
    size = x if np.all(equal) else np.where(np.repeat(equal, sizes), x, np.abs(x))
    theta = simplex_thresholds(size, ptr, radius)
    theta = np.where(equal, theta, np.maximum(theta, 0.0))
    theta[radius == 0] = np.inf
    top = np.repeat(theta, sizes)
    np.clip(x, np.where(np.repeat(equal, sizes), -np.inf, -top), top, out=x)


def largest_members(groups: Groups, w: Array, norms: Array) -> Groups:
    """Of every group the members whose weight is (nearly) its L∞ norm; all members where that is zero."""
    size = np.abs(w)
    mine = size[: groups.ptr[-1]] if groups.in_order else size[groups.index]
    chosen = np.flatnonzero(mine >= np.repeat((1 - TIE) * norms, groups.sizes))
    index = chosen if groups.in_order or groups.index is None else groups.index[chosen]
    return Groups(np.searchsorted(chosen, groups.ptr), index, groups.weight, groups.n_features, groups.names)


def two_that_meet(groups: Groups) -> tuple[int, int]:
    """Two groups that have a feature in common."""
    assert groups.index is not None
    feature = int(np.argmax(np.bincount(groups.index)))
    a, b = np.flatnonzero(groups.index == feature)[:2]
    return int(np.searchsorted(groups.ptr, a, "right")) - 1, int(np.searchsorted(groups.ptr, b, "right")) - 1
