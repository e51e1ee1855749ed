"""Second-order chains: labels that are pairs of tags, so that a step from one label to the next sees three of them.

As in Sha & Pereira (2003), the label of a token is its own tag with the one before it; a label may only be followed by
labels that begin with its tag. All else is *forbidden*: such label sequences have no probability, in training and in
prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.structures.label_pairs import LabelPairs, seen_pairs
from parsimon.structures.label_schemes import Transitions

ARROW = " → "
BEGINNING = "·"  # before the first token


@dataclass(frozen=True)
class TagPairs(LabelPairs):
    """Which pairs of tags there are in sequences. Names of labels are ``before → tag``.

    >>> from parsimon.features.columns import Labels
    >>> from parsimon.tasks.sequences.second_order import TagPairs
    >>> y = Labels.from_sequences([["B", "I", "O"], ["O", "B"]])
    >>> pairs = TagPairs.seen(y)
    >>> pairs.names
    ('· → B', '· → O', 'B → I', 'I → O', 'O → B')
    >>> [pairs.names[label] for label in pairs.encode(y).ids]
    ['· → B', 'B → I', 'I → O', '· → O', 'O → B']
    """

    tags: tuple[str, ...]

    @classmethod
    def seen(cls, y: Labels) -> TagPairs:
        """The pairs that occur; and where a tag was only ever the last of a sequence, that tag with every other."""
        strange = [tag for tag in y.names if ARROW in tag or tag == BEGINNING]
        if strange:
            raise ParsimonError(
                f"with order=2 no label may be {BEGINNING!r} or contain {ARROW!r}, as {strange[0]!r} does; rename it."
            )
        if np.any(y.ids < 0):
            raise ParsimonError("order=2 needs every label, but some are missing; use order=1 for them.")
        seen = seen_pairs(tags_before(y), y.ids, len(y.names))
        seen[1:][~seen[1:].any(axis=1)] = True  # or no longer sequence could go through it
        pairs = LabelPairs.of(seen)
        return cls(pairs.n_tags, pairs.before, pairs.tag, tuple(y.names))

    @classmethod
    def parse(cls, names: tuple[str, ...]) -> TagPairs:
        """From the names of labels; a `ValueError` if they are not names of pairs."""
        if not all(ARROW in name for name in names):
            raise ValueError("with order 2, every label must be a pair of tags")
        halves = [name.partition(ARROW)[::2] for name in names]
        tags = sorted({tag for _, tag in halves} | {before for before, _ in halves} - {BEGINNING})
        number = {BEGINNING: -1} | {tag: i for i, tag in enumerate(tags)}
        places = np.array([[number[before], number[tag]] for before, tag in halves], np.int64)
        before, tag = places.reshape(-1, 2).T
        return cls(len(tags), before, tag, tuple(tags))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the labels."""
        tags = (*self.tags, BEGINNING)
        return tuple(f"{tags[b]}{ARROW}{tags[t]}" for b, t in zip(self.before, self.tag, strict=True))

    def encode(self, y: Labels) -> Labels:
        """Tags as labels. All pairs of them must be among the labels."""
        return Labels(self.number(tags_before(y), y.ids), y.lengths, self.names)

    @cached_property
    def transitions(self) -> Transitions:
        """Labels follow labels that end with the tag they begin with; a sequence begins at the beginning."""
        first = self.before < 0
        return Transitions(first, np.ones(len(first), bool), self.follows)

    def lifted(self, allowed: Transitions) -> Transitions:
        """What is allowed of tags, said of labels; and what pairs allow."""
        inside = allowed.pair[self.before, self.tag] & (self.before >= 0)
        possible = inside | (allowed.start[self.tag] & (self.before < 0))
        mine = self.transitions
        return Transitions(
            mine.start & possible, allowed.end[self.tag] & possible, mine.pair & possible & possible[:, None]
        )


def tags_before(y: Labels) -> IntArray:
    """The tag before each token, −1 at the beginning of a sequence."""
    before = np.concatenate([[-1], y.ids[:-1]]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(y.lengths)[:-1]]).astype(np.int64)
    before[first[y.lengths > 0]] = -1
    return before
