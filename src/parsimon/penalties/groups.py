"""Groups of features: sets with a weight and a name each. What penalties and learners work with.

A user names a *grouping* (`parsimon.penalties.groupings`), which becomes `Groups` once features are numbered.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.penalties.groupings import FeatureDescriptions

Names: TypeAlias = Sequence[str] | Callable[[int], str] | None  # a function where there may be millions
Rule: TypeAlias = str | Array | Sequence[float]  # one of RULES, or a number for each group

LARGE = 4096  # groups of so many features on average are gone through one by one: no temporary arrays


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """M sets of features, each with a weight d_m (0: never penalised) and a name for people.

    Group m has the members ``index[ptr[m]:ptr[m + 1]]``, ascending. Without an ``index`` members are 0, 1, 2, … in
    order, so groups are consecutive ranges (templates, an attribute's labels) and take no memory per feature.

    >>> from parsimon.penalties.groups import Groups
    >>> groups = Groups.from_lists([[0, 1], [2, 3, 4]], n_features=6, names=["words", "shapes"])
    >>> groups.norms(np.array([3.0, 4.0, 0.0, 0.0, 0.0, 1.0]))
    array([5., 0.])
    """

    ptr: IntArray  # (M + 1,) int64
    index: IntArray | None  # (ptr[M],) int64
    weight: Array  # (M,)
    n_features: int
    names: Names = None

    def __post_init__(self) -> None:
        ptr, index = self.ptr, self.index
        if len(ptr) != len(self.weight) + 1 or ptr[0] != 0 or np.any(np.diff(ptr) < 0):
            raise ParsimonError(
                "the bounds of groups must begin with 0, never fall, and be one more than the group weights."
            )
        if not (np.all(np.isfinite(self.weight)) and np.all(self.weight >= 0)):
            raise ParsimonError("the weights of groups must be zero or more.")
        if ptr[-1] > self.n_features if index is None else ptr[-1] != len(index):
            raise ParsimonError(
                f"the bounds of groups end with {ptr[-1]}, which is not how many members there are."
            )
        if index is not None and len(index) and not (index.min() >= 0 and index.max() < self.n_features):
            raise ParsimonError(
                f"members of groups must be features from 0 to {self.n_features - 1}, "
                f"not {index.min() if index.min() < 0 else index.max()}."
            )

    # ---- making them ---------------------------------------------------------------------------------------

    @classmethod
    def from_lists(
        cls, lists: Sequence[Sequence[int]], n_features: int, names: Names = None, weight: Rule = "sqrt"
    ) -> Groups:
        """Groups by hand."""
        if isinstance(names, Sequence) and len(names) != len(lists):
            raise ParsimonError(f"there are {len(lists)} groups but {len(names)} names; give one for each.")
        members = [np.sort(np.asarray(each, np.int64)) for each in lists]
        for m, each in enumerate(members):
            if np.any(each[1:] == each[:-1]):
                raise ParsimonError(f"group {m} has a feature twice; a feature can be in it once.")
        sizes = np.array([len(each) for each in members], np.int64)
        index = np.concatenate([np.zeros(0, np.int64), *members])
        in_order = len(index) <= n_features and np.array_equal(index, np.arange(len(index)))
        weights = group_weights(weight, sizes)
        return cls(bounds(sizes), None if in_order else index, weights, n_features, names)

    @classmethod
    def consecutive(
        cls, ptr: IntArray, n_features: int, names: Names = None, weight: Rule = "ones"
    ) -> Groups:
        """Group m has the features from ``ptr[m]`` to ``ptr[m + 1] − 1``."""
        ptr = np.asarray(ptr, np.int64)
        return cls(ptr, None, group_weights(weight, np.diff(ptr)), n_features, names)

    def groups(self, features: FeatureDescriptions) -> Groups:
        """Itself: groups are their own grouping."""
        if features.n_features != self.n_features:
            raise ParsimonError(
                f"the groups are of {self.n_features} features, but there are {features.n_features}; "
                "groups made by hand must be made for these features."
            )
        return self

    def reweighted(self, rule: Rule) -> Groups:
        """The same groups with weights by a rule, by name as in `RULES`, or as given."""
        return replace(self, weight=group_weights(rule, self.sizes))

    def restrict(self, features: IntArray) -> Groups:
        """The groups among some features (ascending), numbered anew.

        Groups keep their number, their name and their weight, even when no member is left.
        """
        if self.index is None:
            return replace(self, ptr=np.searchsorted(features, self.ptr), n_features=len(features))
        if len(features) == 0:
            return replace(self, ptr=np.zeros_like(self.ptr), index=np.zeros(0, np.int64), n_features=0)
        place = np.searchsorted(features, self.index)
        kept = features[np.minimum(place, len(features) - 1)] == self.index
        ptr = np.concatenate([[0], np.cumsum(kept)])[self.ptr]
        return replace(self, ptr=ptr, index=place[kept], n_features=len(features))

    def subset(self, numbers: IntArray) -> Groups:
        """Some of the groups, in the order given."""
        numbers = np.asarray(numbers, np.int64)
        ptr = bounds(self.sizes[numbers])
        index: IntArray | None = _ranges(self.ptr[numbers], self.sizes[numbers])
        if self.index is not None:
            index = self.index[index]
        elif np.array_equal(self.ptr[numbers], ptr[:-1]):
            index = None
        return Groups(ptr, index, self.weight[numbers], self.n_features, lambda m: self.name(int(numbers[m])))

    # ---- what they are -------------------------------------------------------------------------------------

    @property
    def n_groups(self) -> int:
        """M."""
        return len(self.weight)

    @property
    def sizes(self) -> IntArray:
        """How many members each group has."""
        return np.diff(self.ptr)

    @property
    def in_order(self) -> bool:
        """Whether members are 0, 1, 2, … in order, so that there is no `index`."""
        return self.index is None

    def members(self, m: int) -> IntArray:
        """The features of group m, ascending."""
        a, b = self.ptr[m], self.ptr[m + 1]
        return np.arange(a, b) if self.index is None else self.index[a:b]

    def features_of(self, numbers: IntArray) -> IntArray:
        """The features of several groups, ascending, each once."""
        numbers = np.asarray(numbers, np.int64)
        if self.index is None:
            numbers = np.sort(numbers)
            return _ranges(self.ptr[numbers], self.sizes[numbers])
        return np.unique(self.index[_ranges(self.ptr[numbers], self.sizes[numbers])])

    def name(self, m: int) -> str:
        """The name of group m."""
        if self.names is None:
            return f"group {m}"
        return self.names(m) if callable(self.names) else self.names[m]

    @cached_property
    def filled(self) -> IntArray:
        """The numbers of the groups that have members."""
        return np.flatnonzero(self.sizes)

    @cached_property
    def compact(self) -> Groups:
        """The groups without the empty ones when these are most of them (under other numbers), else itself."""
        return self.subset(self.filled) if 2 * len(self.filled) < self.n_groups else self

    @cached_property
    def disjoint(self) -> bool:
        """Whether no feature is in two groups."""
        return self.index is None or self._n_covered == len(self.index)

    @cached_property
    def covers(self) -> bool:
        """Whether every feature is in a group."""
        return self._n_covered == self.n_features

    @cached_property
    def _n_covered(self) -> int:
        if self.index is None:
            return int(self.ptr[-1])
        seen = np.zeros(self.n_features, bool)
        seen[self.index] = True
        return int(np.count_nonzero(seen))

    @cached_property
    def nested(self) -> bool:
        """Whether of any two groups that have a feature in common one contains the other."""
        if self.disjoint:
            return True
        # From small to large: those that a group meets must lie in it, up to the last of their features.
        largest = np.full(self.n_features, -1)  # the largest group so far that a feature is in
        held = np.zeros(self.n_groups, np.int64)  # how many features that is true of
        for m in np.argsort(self.sizes, kind="stable"):
            members = self.members(int(m))
            inside, count = np.unique(largest[members], return_counts=True)
            if np.any(held[inside[inside >= 0]] != count[inside >= 0]):
                return False
            largest[members], held[m] = m, len(members)
        return True

    def families(self) -> list[IntArray]:
        """Numbers of groups, in families without common features (Martins et al. 2011, eq. 15).

        Greedy: every group, small ones first, joins the first family in which it meets no other group. So if groups are
        nested, the families go from the leaves to the root: whatever lies inside a group fills all families up to
        some number (or it would have joined an earlier one), and the group itself joins the next.
        """
        return self._families

    @cached_property
    def _families(self) -> list[IntArray]:
        if self.disjoint:
            return [np.arange(self.n_groups)]
        taken: list[BoolArray] = []
        families: list[list[int]] = []
        for m in np.argsort(self.sizes, kind="stable").tolist():
            members = self.members(m)
            j = next((j for j, there in enumerate(taken) if not there[members].any()), len(taken))
            if j == len(taken):
                taken.append(np.zeros(self.n_features, bool))
                families.append([])
            taken[j][members] = True
            families[j].append(m)
        return [np.array(sorted(family), np.int64) for family in families]

    @cached_property
    def family_groups(self) -> list[Groups]:
        """The groups of each family."""
        return [self] if self.disjoint else [self.subset(family) for family in self.families()]

    @cached_property
    def atoms(self) -> tuple[Groups, Groups]:
        """Atoms, the sets of features that are in the same groups (disjoint), and these groups as sets of atoms.

        Features in no group are in no atom.
        """
        if self.disjoint:
            of = Groups(np.arange(self.n_groups + 1), None, self.weight, self.n_groups, self.names)
            return self, of
        assert self.index is not None
        owner = np.repeat(np.arange(self.n_groups), self.sizes)
        seed = 0
        while True:
            # Features in the same groups have the same sum of keys; that equal sums mean equal groups is checked.
            keys = np.random.default_rng(seed).integers(1, 2**64, self.n_groups, dtype=np.uint64)
            mark = np.zeros(self.n_features, np.uint64)
            np.add.at(mark, self.index, keys[owner])
            covered = np.unique(self.index)
            _, atom = np.unique(mark[covered], return_inverse=True)
            sizes = np.bincount(atom)
            of_feature = np.zeros(self.n_features, np.int64)
            of_feature[covered] = atom
            pairs, count = np.unique(owner * len(sizes) + of_feature[self.index], return_counts=True)
            if np.array_equal(count, sizes[pairs % len(sizes)]):
                break
            seed += 1
        atoms = Groups(
            bounds(sizes), covered[np.argsort(atom, kind="stable")], np.ones(len(sizes)), self.n_features
        )
        ptr = np.searchsorted(pairs, np.arange(self.n_groups + 1) * len(sizes))
        return atoms, Groups(ptr, pairs % len(sizes), self.weight, len(sizes), self.names)

    def __repr__(self) -> str:
        return f"Groups({self.n_groups} groups of {self.n_features} features, {self._mark():08x})"

    def _mark(self) -> int:
        """A short mark that differs between different groups, for instance in checkpoints."""
        mark = zlib.crc32(np.ascontiguousarray(self.weight).data, self.n_features & 0xFFFFFFFF)
        for part in (self.ptr, self.index):
            mark = mark if part is None else zlib.crc32(np.ascontiguousarray(part, np.int64).data, mark)
        return mark

    # ---- from features to groups and back ------------------------------------------------------------------

    def reduce(self, values: Any, ufunc: np.ufunc = np.add, empty: float = 0.0) -> Array:
        """Σ (or another ufunc) of a number per feature over each group; `empty` for groups without members."""
        out = np.full(self.n_groups, empty)
        if len(self.filled):
            # reduceat gives one element where a segment is empty, so only the others are named.
            mine = values[: self.ptr[-1]] if self.index is None else values[self.index]
            out[self.filled] = ufunc.reduceat(mine, self.ptr[self.filled], dtype=np.float64)
        return out

    def norms(self, w: Array, order: float | str = 2) -> Array:
        """‖w_m‖ of every group, of order 2 or ``inf``."""
        if order != 2:
            return self.reduce(np.abs(w), np.maximum)
        if self._large:
            w, ptr = np.ascontiguousarray(w), self.ptr.tolist()
            squares = [dot(w[a:b], w[a:b]) for a, b in pairwise(ptr)]
            return np.sqrt(np.array(squares, np.float64))
        squared = self.reduce(np.square(w))
        return np.sqrt(squared, out=squared)

    def spread(self, values: Array) -> Array:
        """A number per group as one per feature: 0 in no group, the sum of theirs where groups overlap."""
        each = np.repeat(values, self.sizes)
        if self.index is not None:
            # (of nothing at all, bincount would make integers)
            return np.bincount(self.index, each, self.n_features).astype(np.float64, copy=False)
        if len(each) == self.n_features:
            return each
        return np.concatenate([each, np.zeros(self.n_features - len(each))])

    def scale(self, factors: Array, w: Array) -> None:
        """Multiplies, in place, the members of each group (which must be disjoint)."""
        if self._large:
            for m in np.flatnonzero(factors != 1).tolist():
                w[self.ptr[m] : self.ptr[m + 1]] *= factors[m]
        elif self.index is None:
            w[: self.ptr[-1]] *= np.repeat(factors, self.sizes)
        else:
            w[self.index] *= np.repeat(factors, self.sizes)

    @property
    def _large(self) -> bool:
        return self.index is None and self.n_groups * LARGE <= self.n_features


class BlockGroups(Groups):
    """Groups made of whole blocks, consecutive ranges of features: `of` says which blocks make up each group.

    A hundred groups of millions of features that all overlap (`ByOrder`) take no memory per feature. The members of
    all of them one by one, `index`, exist only once they are asked for.
    """

    blocks: Groups
    of: Groups

    def __init__(self, blocks: Groups, of: Groups) -> None:
        ptr = bounds(of.reduce(blocks.sizes).astype(np.int64))
        fields = {"ptr": ptr, "weight": of.weight, "n_features": blocks.n_features, "names": of.names}
        for name, value in {**fields, "blocks": blocks, "of": of}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def index(self) -> IntArray:
        """All members of all groups."""
        return np.concatenate([np.zeros(0, np.int64), *(self.members(m) for m in range(self.n_groups))])

    @property
    def in_order(self) -> bool:
        """No."""
        return False

    def members(self, m: int) -> IntArray:
        """The features of group m, ascending."""
        chosen = self.of.members(m)
        return _ranges(self.blocks.ptr[chosen], self.blocks.sizes[chosen])

    def features_of(self, numbers: IntArray) -> IntArray:
        """The features of several groups, ascending, each once."""
        return self.blocks.features_of(self.of.features_of(numbers))

    def restrict(self, features: IntArray) -> BlockGroups:
        """The groups among some features (ascending), numbered anew."""
        return BlockGroups(self.blocks.restrict(features), self.of)

    def subset(self, numbers: IntArray) -> BlockGroups:
        """Some of the groups, in the order given."""
        return BlockGroups(self.blocks, self.of.subset(numbers))

    def reweighted(self, rule: Rule) -> BlockGroups:
        """The same groups with other weights."""
        return BlockGroups(self.blocks, replace(self.of, weight=group_weights(rule, self.sizes)))

    @cached_property
    def disjoint(self) -> bool:
        """Whether no block is in two groups."""
        return self.of.disjoint

    @cached_property
    def covers(self) -> bool:
        """Whether every block is in a group, and every feature in a block."""
        return self.of.covers and self.blocks.covers

    @cached_property
    def nested(self) -> bool:
        """Whether of any two groups that have a block in common one contains the other."""
        return self.of.nested

    def families(self) -> list[IntArray]:
        """Numbers of groups, in families without common blocks."""
        return self.of.families()

    @cached_property
    def atoms(self) -> tuple[Groups, Groups]:
        """The blocks, and groups as sets of blocks."""
        return self.blocks, self.of

    def reduce(self, values: Any, ufunc: np.ufunc = np.add, empty: float = 0.0) -> Array:
        """Over blocks, then over groups."""
        return self.of.reduce(self.blocks.reduce(values, ufunc, empty), ufunc, empty)

    def norms(self, w: Array, order: float | str = 2) -> Array:
        """From the norms of blocks."""
        return self.of.norms(self.blocks.norms(w, order), order)

    def spread(self, values: Array) -> Array:
        """By way of blocks."""
        return self.blocks.spread(self.of.spread(values))

    def scale(self, factors: Array, w: Array) -> None:
        """By way of blocks."""
        each = np.ones(self.blocks.n_groups)
        self.of.scale(factors, each)
        self.blocks.scale(each, w)

    def _mark(self) -> int:
        return self.blocks._mark() ^ zlib.crc32(self.of._mark().to_bytes(4, "little"))


def _log2(sizes: IntArray) -> Array:
    return np.maximum(np.log2(np.maximum(sizes, 1)), 1.0)


RULES: dict[str, Callable[[IntArray], Array]] = {
    "log2": _log2,  # at least 1 (Martins et al. 2011)
    "log2^1.5": lambda sizes: _log2(sizes) ** 1.5,
    "sqrt-log2": lambda sizes: np.sqrt(_log2(sizes)),
    "sqrt": np.sqrt,
    "ones": lambda sizes: np.ones(len(sizes)),
}


def group_weights(rule: Rule, sizes: IntArray) -> Array:
    """d_m, by one of `RULES` or as given."""
    if not isinstance(rule, str):
        try:
            weight = np.array(rule, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ParsimonError(
                f"the weights of groups must be numbers, or one of {', '.join(RULES)}."
            ) from None
        if weight.shape != sizes.shape:
            raise ParsimonError(
                f"there are {len(sizes)} groups but {weight.size} group weights; give one for each."
            )
        return weight
    if rule not in RULES:
        raise ParsimonError(
            f"there is no group weight called {rule!r}; choose from {', '.join(RULES)}, or give a number for each."
        )
    return RULES[rule](sizes)


def bounds(sizes: IntArray) -> IntArray:
    """Where each of consecutive ranges with these sizes begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """starts[0], starts[0] + 1, … (sizes[0] of them), starts[1], …"""
    shift = starts - (np.cumsum(sizes) - sizes)
    return np.repeat(shift, sizes) + np.arange(int(np.sum(sizes)))


# ---- groupings: groups before features have numbers ------------------------------------------------------------
