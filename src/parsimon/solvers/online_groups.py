"""Groups inside an online learner: their norms, and soft thresholds on them.

A learner scales whole blocks of attributes at once and puts penalties on rows and single weights off until they fire
(core/learners/online_weights.hpp). Which of these devices serves a set of groups is decided here, once, before
learning begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.base import OnlineLearner
from parsimon.penalties.groups import Groups


@dataclass(frozen=True)
class Blocks:
    """A partition of attributes: two are in one block when they are in the same groups and penalised alike."""

    node: IntArray  # (n node attributes,) int32
    pair: IntArray
    first: IntArray  # a feature of each block
    atom: IntArray  # the set of features with the same groups (`Groups.atoms`) that each block lies in, −1 for none

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.first)

    @classmethod
    def of(
        cls, starts: tuple[IntArray, IntArray], groups: Groups | None, weight: Array | None
    ) -> Blocks | None:
        """The blocks that groups and the weights of features induce; ``None`` when they cut through an attribute."""
        marks = []
        for each in starts:
            atom = np.zeros(len(each) - 1, np.int64) if groups is None else _common(_atoms(groups), each)
            alike = None if weight is None else _common(weight > 0, each)
            if atom is None or (weight is not None and alike is None):
                return None
            marks.append(2 * atom + (1 if alike is None else alike.astype(np.int64)))
        distinct = np.unique(np.concatenate([np.unique(mark) for mark in marks]))
        node, pair = (np.searchsorted(distinct, mark).astype(np.int32) for mark in marks)
        first = np.zeros(len(distinct), np.int64)
        for block, each in ((pair, starts[1]), (node, starts[0])):
            filled = np.flatnonzero(np.diff(each))
            first[block[filled]] = each[filled]
        return cls(node, pair, first, distinct // 2)

    def of_groups(self, groups: Groups) -> list[IntArray]:
        """The blocks that each group is made of."""
        _, made_of = groups.atoms
        return [np.flatnonzero(np.isin(self.atom, made_of.members(m))) for m in range(groups.n_groups)]


def _atoms(groups: Groups) -> IntArray | Groups:
    """The atom of every feature; consecutive ones say it by themselves."""
    atoms, _ = groups.atoms
    if atoms.in_order:
        return atoms
    owner = np.full(groups.n_features, -1, np.int32)
    for m in range(atoms.n_groups):
        owner[atoms.members(m)] = m
    return owner


def _common(values: Array | IntArray | BoolArray | Groups, starts: IntArray) -> IntArray | None:
    """What the features of every attribute have in common (a number for each, or a range); ``None`` if they differ."""
    first, end = starts[:-1], starts[1:]
    filled = end > first
    if isinstance(values, Groups):
        owner = np.searchsorted(values.ptr, first, side="right") - 1
        inside = owner < values.n_groups
        bound = values.ptr[np.minimum(owner, values.n_groups - 1) + 1]
        if np.any(filled & inside & (end > bound)):
            return None
        return np.where(inside, owner, -1)
    out = np.zeros(len(first), np.int64)
    if filled.any():
        mine = values[starts[0] : starts[-1]]
        low = np.minimum.reduceat(mine, first[filled] - starts[0])
        if np.any(low != np.maximum.reduceat(mine, first[filled] - starts[0])):
            return None
        out[filled] = low
    return out


class Device(Protocol):
    """How a learner's weights are grouped."""

    def norms(self, learner: OnlineLearner) -> Array:
        """‖w_m‖₂ of the groups; those of rows and of single weights only where they exist."""
        ...

    @property
    def weight(self) -> Array | float:
        """d_m of the groups whose norms `norms` returns."""
        ...

    def soften(self, learner: OnlineLearner, threshold: float | Array, shrink: bool = True) -> None:
        """w_m ← (1 − threshold · d_m/‖w_m‖)₊ w_m; without `shrink` survivors stay as they are."""
        ...


@dataclass(frozen=True)
class WholeBlocks:
    """Few, large groups (templates): constant time a block. Groups that overlap go family by family."""

    groups: Groups
    blocks: list[IntArray]  # of each group
    families: list[IntArray]

    @property
    def weight(self) -> Array:
        """d_m."""
        return self.groups.weight

    def norms(self, learner: OnlineLearner) -> Array:
        """From the norms of blocks."""
        squares = learner.norms(True) ** 2
        return np.sqrt([squares[blocks].sum() for blocks in self.blocks])

    def soften(self, learner: OnlineLearner, threshold: float | Array, shrink: bool = True) -> None:
        """One family after the other (Martins et al. 2011, Algorithm 1, lines 6–8)."""
        each = np.broadcast_to(np.asarray(threshold, np.float64), self.groups.n_groups)
        squares = learner.norms(True) ** 2
        factor = np.ones(len(squares))
        for family in self.families:
            for m in family:
                chosen = self.blocks[m]
                norm = np.sqrt(np.sum(squares[chosen] * factor[chosen] ** 2))
                limit = each[m] * self.groups.weight[m]
                if limit <= 0:
                    continue
                if norm <= limit:
                    factor[chosen] = 0.0
                elif shrink:
                    factor[chosen] *= 1 - limit / norm
        learner.scale(factor)


@dataclass(frozen=True)
class AttributeRows:
    """Many small groups: the row of every attribute, in the blocks marked. Rows that shrink do so late."""

    marked: BoolArray
    weight: float = 1.0

    def norms(self, learner: OnlineLearner) -> Array:
        """Of rows that exist."""
        return learner.row_norms(self.marked)

    def soften(self, learner: OnlineLearner, threshold: float | Array, shrink: bool = True) -> None:
        """Drops small rows at once, or puts the threshold off until a row fires."""
        (learner.pull_rows if shrink else learner.drop_rows)(
            float(np.max(threshold)) * self.weight, self.marked
        )


@dataclass(frozen=True)
class SingleWeights:
    """Every weight a group of its own: an L1 norm."""

    marked: BoolArray
    weight: float = 1.0

    def norms(self, learner: OnlineLearner) -> Array:
        """Of weights that exist."""
        return learner.magnitudes(self.marked)

    def soften(self, learner: OnlineLearner, threshold: float | Array, shrink: bool = True) -> None:
        """Drops small weights at once, or puts the threshold off until the weight fires."""
        soften = learner.pull_weights if shrink else learner.drop_weights
        soften(float(np.max(threshold)) * self.weight, self.marked)
