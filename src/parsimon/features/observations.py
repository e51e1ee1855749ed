"""Observations: the attributes that fire on every token and on every step between two tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.data.parents import previous_siblings
from parsimon.features.columns import offsets_of
from parsimon.features.links import Links


@dataclass(frozen=True)
class Rows:
    """Compressed sparse rows of attribute numbers; ``value`` is ``None`` when every value is 1."""

    start: IntArray  # (n_rows + 1,) int64
    index: IntArray  # int32
    value: Array | None = None

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, rows: slice) -> Rows:
        """Some rows; of tokens, those of whole sequences."""
        first, last, _ = rows.indices(len(self))
        start = self.start[first : last + 1]
        part = slice(int(start[0]), int(start[-1]))
        value = None if self.value is None else self.value[part]
        return Rows(start - start[0], self.index[part], value)

    @classmethod
    def from_table(cls, table: IntArray) -> Rows:
        """From a rows × k table of attribute numbers, in which −1 means none."""
        known = table >= 0
        if known.all():
            start = np.arange(0, table.size + 1, max(table.shape[1], 1), dtype=np.int64)
            if table.shape[1] == 0:
                start = np.zeros(len(table) + 1, np.int64)
            return cls(start, table.reshape(-1))
        start = np.zeros(len(table) + 1, np.int64)
        np.cumsum(known.sum(axis=1), out=start[1:])
        return cls(start, table[known])

    @classmethod
    def identical(cls, n: int, attributes: int) -> Rows:
        """`n` rows that all have the attributes 0, 1, …, `attributes` − 1."""
        start = np.arange(n + 1, dtype=np.int64) * attributes
        return cls(start, np.tile(np.arange(attributes, dtype=np.int32), n))

    @property
    def owner(self) -> IntArray:
        """The row of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def where(self, entries: BoolArray) -> Rows:
        """The same rows with only the entries that a mask selects."""
        start = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(self.owner[entries], minlength=len(self)), out=start[1:])
        return Rows(start, self.index[entries], None if self.value is None else self.value[entries])

    def keep(self, wanted: BoolArray) -> Rows:
        """Drop attributes that are not wanted and renumber the others in the same order."""
        number = np.cumsum(wanted, dtype=np.int64).astype(np.int32) - 1
        kept = self.where(wanted[self.index])
        return Rows(kept.start, number[kept.index], kept.value)

    def split(self, at: int) -> Rows:
        """Split each row into two: the attributes below number `at`, and the others."""
        row = 2 * self.owner + (self.index >= at)
        order = np.argsort(row, kind="stable")
        start = np.zeros(2 * len(self) + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=2 * len(self)), out=start[1:])
        return Rows(start, self.index[order], None if self.value is None else self.value[order])


@dataclass(frozen=True)
class Observations:
    """The attributes of a set of sequences, concatenated.

    ``node`` has one row per token. ``pair`` has one row per token, too, for the step *into* it; the row of the first
    token of a sequence is not used. With ``links``, the sequences are trees: tokens are nodes, and steps come from
    their parents. With ``first_sibling``, there is a second step into each node, from its previous sibling: it has the
    attributes from number ``first_sibling`` on, and the step from the parent has all others.
    """

    node: Rows
    pair: Rows
    lengths: IntArray
    links: Links | None = None
    first_sibling: int | None = None  # the first attribute of steps from siblings

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all sequences."""
        return len(self.node)

    @property
    def before(self) -> IntArray:
        """The token from which the step into each token comes: the previous one or the parent; −1 for none."""
        if self.links is not None:
            return self.links.parent
        before = np.arange(-1, self.n_tokens - 1, dtype=np.int32)
        before[offsets_of(self.lengths)[:-1][self.lengths > 0]] = -1
        return before

    @property
    def steps_into_each(self) -> int:
        """The number of steps into each token."""
        return 1 if self.first_sibling is None else 2

    @property
    def steps(self) -> tuple[Rows, IntArray]:
        """The attributes of all steps, token by token, and the token from which each comes (−1 for none)."""
        if self.first_sibling is None:
            return self.pair, self.before
        assert self.links is not None
        previous = previous_siblings(self.links.parent)
        return self.pair.split(self.first_sibling), np.stack([self.before, previous], axis=1).reshape(-1)

    def keep(self, node: BoolArray, pair: BoolArray) -> Observations:
        """Drop attributes that are not wanted and renumber the others."""
        first_sibling = None if self.first_sibling is None else int(pair[: self.first_sibling].sum())
        return replace(
            self, node=self.node.keep(node), pair=self.pair.keep(pair), first_sibling=first_sibling
        )

    def __getitem__(self, tokens: slice) -> Observations:
        """One sequence or tree, given by its tokens."""
        links = None if self.links is None else self.links[tokens]
        length = np.array([tokens.stop - tokens.start], np.int32)
        return replace(self, node=self.node[tokens], pair=self.pair[tokens], lengths=length, links=links)

    def batches(self, tokens: int) -> Iterator[tuple[slice, slice, Observations]]:
        """Batches of about `tokens` tokens: the sequences, the tokens and the observations of each."""
        offsets = offsets_of(self.lengths)
        first = 0
        while first < len(self.lengths):
            last = int(np.searchsorted(offsets, offsets[first] + tokens, side="right")) - 1
            last = min(max(last, first + 1), len(self.lengths))
            part = slice(int(offsets[first]), int(offsets[last]))
            chosen = slice(first, last)
            yield chosen, part, replace(self[part], lengths=self.lengths[chosen])
            first = last
