"""Group lasso over groups that have features in common: nested in each other, or in any way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError, warn
from parsimon.penalties.group_lasso import GroupPenalty, clip_groups, shrink_factors
from parsimon.penalties.groups import Groups

MOST_PASSES = 10_000
DENSE = 500  # atoms up to which a system of that many equations is solved as a dense one
MOST_ENTRIES = 20_000_000  # of such a system, if it is sparse


@dataclass(frozen=True)
class OverlappingGroupLasso(GroupPenalty):
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖² over any groups: a weight is zero if one of its groups is.

    With the norm 2, the proximal operator comes from Newton's method on a problem as large as the number of *atoms*,
    sets of features that are in the same groups (`newton_shrink`). With the norm ``inf``, or where that would be too
    large, it comes from block-coordinate ascent in the dual, to `tol` (`dual_ascent`). For nested groups both have a
    shortcut: see `TreeLasso`.

    >>> import numpy as np
    >>> from parsimon.penalties.groups import Groups
    >>> from parsimon.penalties import OverlappingGroupLasso
    >>> penalty = OverlappingGroupLasso(1.0, Groups.from_lists([[0, 1], [1, 2]], n_features=3, weight="ones"))
    >>> penalty.prox(np.array([2.0, 0.5, 0.0]), 1.0)
    array([1., 0., 0.])
    """

    tol: float = 1e-12

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tol > 0:
            raise ParsimonError(
                f"the tolerance of a proximal operator must be more than zero, not {self.tol}."
            )

    def _shrink(self, x: Array, radius: Array) -> None:
        groups = self._known
        if self.norm != 2:
            parts = parts_of(groups.family_groups, groups.families(), radius)
            dual_ascent(x, parts, "inf", self.tol, 1 if groups.nested else MOST_PASSES)
            return
        # All happens on the norms of atoms. For Ω depends on these alone, and of all vectors with given norms of atoms
        # the nearest to x has x's direction in each of them: on atom A it is a multiple of x_A, and the factor is given
        # by the same problem with (‖x_A‖)_A in place of x and atoms in place of features.
        atoms, of = groups.atoms
        size = atoms.norms(x)
        left = size.copy()
        parts = parts_of(of.family_groups, of.families(), radius)
        if of.nested:
            dual_ascent(left, parts, 2, self.tol, 1)
        elif np.sum(of.sizes**2) > MOST_ENTRIES or not newton_shrink(left, of, radius):
            dual_ascent(left, parts, 2, self.tol, MOST_PASSES)
        atoms.scale(np.divide(left, size, out=np.ones_like(size), where=size > 0), x)

    def _leave_faces(self, x: Array, faces: Groups, radius: Array, equal: BoolArray) -> None:
        families = self._known.families()
        parts = parts_of([faces.subset(family) for family in families], families, radius, equal)
        dual_ascent(x, parts, "inf", self.tol, MOST_PASSES)

    def _step_of_groups(self, step: float | Array) -> float | Array:
        return float(np.min(step)) if np.size(step) else 0.0


@dataclass(frozen=True)
class TreeLasso(OverlappingGroupLasso):
    """Ω(w) = strength Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖² over groups any two of which are disjoint or nested.

    One pass from the leaves to the root is the exact proximal operator: each group's step applied to what the groups
    inside it have left (Jenatton et al. 2011, for the norms 2 and ∞).

    >>> import numpy as np
    >>> from parsimon.penalties.groups import Groups
    >>> from parsimon.penalties import TreeLasso
    >>> penalty = TreeLasso(1.0, Groups.from_lists([[0, 1, 2], [2]], n_features=3, weight="ones"))
    >>> penalty.prox(np.array([3.0, 0.0, 5.0]), 1.0)
    array([2.4, 0. , 3.2])
    """

    tol: float = field(default=1e-12, repr=False)  # of the violation with the norm inf only

    def _check(self, groups: Groups) -> None:
        if not groups.nested:
            raise ParsimonError(
                "two of the groups have features in common without one containing the other, which TreeLasso does "
                "not allow; use OverlappingGroupLasso."
            )


def newton_shrink(a: Array, of: Groups, radius: Array) -> bool:
    """a ← argmin_u ½‖u − a‖² + Σ_m radius_m ‖u_m‖, in place, for a ≥ 0; False, and a as it was, if that fails.

    With ‖u_m‖ smoothed to s_m = √(‖u_m‖² + ε²), the solution satisfies

        u + Σ_m ξ_m = a,    s_m ξ_m = radius_m u_m    for all groups m.

    Newton steps on both equations, u and ξ taken as unknowns of their own (Chan, Golub & Mulet 1999, who did so for
    total variation), while ε falls towards zero. All ξ_m are kept in their balls (Hintermüller & Stadler 2006), which
    makes the system positive definite, and a − Σ_m ξ_m a solution up to a duality gap of about ε Σ_m radius_m. Unlike
    dual ascent, that leads to the middle of all dual solutions, where groups that are zero lie *inside* their balls.
    """
    scale = float(np.max(a, initial=0.0))
    if scale == 0:
        return True
    goal, radius = a / scale, radius / scale
    entries = np.arange(of.ptr[-1]) if of.index is None else of.index
    packed = Groups(of.ptr, None, of.weight, len(entries))

    def total(each: Array) -> Array:
        return np.bincount(entries, each, len(a)).astype(np.float64, copy=False)

    epsilon, u = 1.0, goal
    mine = u[entries]  # u_m, one after the other, as all ξ_m are
    xi = mine * packed.spread(radius / np.sqrt(packed.reduce(mine**2) + epsilon**2))
    for _ in range(200):
        mine = u[entries]
        s = np.sqrt(packed.reduce(mine**2) + epsilon**2)
        pull, bend = packed.spread(radius / s), xi * packed.spread(s**-2.0)
        d = _solve(of, entries, 1 + total(pull), bend, mine, goal - u - total(pull * mine))
        xi = pull * (mine + d[entries]) - bend * packed.spread(packed.reduce(mine * d[entries]))
        length = packed.norms(xi)
        xi *= packed.spread(np.divide(radius, length, out=np.ones_like(length), where=length > radius))
        u = u + d
        apart = float(np.max(np.abs(goal - u - total(xi))))
        if apart <= 1e-13 and epsilon <= 1e-13:
            break
        if apart <= 1e-4:
            epsilon = max(0.2 * epsilon, 1e-13)
    else:
        return False
    u = np.maximum(goal - total(xi), 0.0)
    inside = packed.norms(xi) < (1 - 1e-7) * radius  # its ball, so the group is zero
    u[of.spread(inside.astype(np.float64)) > 0] = 0.0
    a[:] = scale * u
    return True


def _solve(of: Groups, entries: IntArray, diagonal: Array, bend: Array, mine: Array, goal: Array) -> Array:
    """d with (diagonal − C) d = goal, where C is Σ_m bend_m mine_mᵀ made symmetric."""
    shape = of.n_groups, of.n_features
    if of.n_features <= DENSE:
        left, right = np.zeros(shape), np.zeros(shape)
        owner = np.repeat(np.arange(of.n_groups), of.sizes)
        left[owner, entries], right[owner, entries] = bend, mine
        cross = left.T @ right
        return np.asarray(np.linalg.solve(np.diag(diagonal) - (cross + cross.T) / 2, goal), np.float64)
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    crossed: Any = sparse.csr_matrix((bend, entries, of.ptr), shape).T @ sparse.csr_matrix(
        (mine, entries, of.ptr), shape
    )
    system = sparse.diags(diagonal) - (crossed + crossed.T) / 2
    return np.asarray(spsolve(system.tocsc(), goal, permc_spec="MMD_AT_PLUS_A"), np.float64)


@dataclass(frozen=True)
class Part:
    """A family of disjoint sets in a dual ascent: their entries in x, one after the other, and their radii."""

    entries: Any  # an index array or a slice
    packed: Groups  # the sets, when the entries are put together
    radius: Array
    equal: BoolArray

    def shrink(self, x: Array, norm: float | str) -> None:
        """x minus its projection on the balls (or faces), in place."""
        if norm == 2:
            self.packed.scale(shrink_factors(self.packed.norms(x), self.radius), x)
        else:
            clip_groups(x, self.packed.ptr, self.radius, self.equal)


def parts_of(
    each: Sequence[Groups], families: Sequence[IntArray], radius: Array, equal: BoolArray | None = None
) -> list[Part]:
    """The sets of each family, which have these numbers among all."""
    faces = np.zeros(len(radius), bool) if equal is None else equal
    parts = []
    for mine, family in zip(each, families, strict=True):
        n = int(mine.ptr[-1])
        entries = slice(0, n) if mine.in_order else mine.index
        parts.append(Part(entries, Groups(mine.ptr, None, mine.weight, n), radius[family], faces[family]))
    return parts


def dual_ascent(x: Array, parts: Sequence[Part], norm: float | str, tol: float, passes: int) -> None:
    """x ← prox of Σ_m radius_m ‖·‖ over all groups m of all parts, in place.

    The dual problem is min ½‖x − Σ_m ξ_m‖² over ξ_m that live on group m, with a dual norm of at most radius_m; what
    is left, u = x − Σ_m ξ_m, is the proximal operator (Jenatton et al. 2011, §3). Block by block: ξ_m ← the projection
    on the ball of what the others leave. Groups of one part have no entry in common, so they go together.

    Until a whole pass moves no entry by more than δ = tol·max|x|. For when ξ_m was set, it was exact for what was left
    then: radius_m ‖u_m‖ − ξ_m·u_m was zero. So the duality gap, which is the sum of these, is at most twice
    Σ_m radius_m times the norm of what has moved since. If groups are nested and parts go from the leaves to the
    root, one pass is enough.
    """
    reach = tol * float(np.max(np.abs(x), initial=0.0))
    shares = [np.zeros(int(part.packed.ptr[-1])) for part in parts]
    left = shares.copy()
    for done in range(passes):
        moved = 0.0
        for j, part in enumerate(parts):
            before = x[part.entries]
            whole = before + shares[j]
            left[j] = whole.copy()
            part.shrink(left[j], norm)
            moved = max(moved, float(np.max(np.abs(left[j] - before), initial=0.0)))
            shares[j] = whole - left[j]
            x[part.entries] = left[j]
        if len(parts) == 1 or passes == 1:
            return
        if done > 0 and moved <= reach:
            break
    else:
        warn(f"the proximal operator of overlapping groups still moves by {moved:.1e} after {passes} passes.")
    # A group inside its ball is zero, whatever rounding others have added since; and what is not known is, too.
    for part, rest in zip(parts, left, strict=True):
        x[part.entries] = np.where(rest == 0, 0.0, x[part.entries])
    x[np.abs(x) <= 1e3 * reach] = 0.0
