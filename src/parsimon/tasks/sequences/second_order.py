"""Second-order chains: what their labels are called, and which pairs of tags there are.

As in Sha & Pereira (2003), a pair is a token's own tag with the one before it, and may only be followed by pairs that
begin with its tag. A label of a feature is a tag or a pair; two pairs, in a step, are a triple of tags.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsimon.arrays import IntArray
from parsimon.designs.tag_labels import TagLabels
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.structures.label_pairs import LabelPairs, seen_pairs

ARROW = " → "
BEGINNING = "·"  # before the first token


@dataclass(frozen=True)
class TagPairs:
    """The labels of second-order features, with their names: tags, unless only pairs are scored; then ``before → tag``.

    >>> from parsimon.features.columns import Labels
    >>> from parsimon.tasks.sequences.second_order import TagPairs
    >>> y = Labels.from_sequences([["B", "I", "O"], ["O", "B"]])
    >>> pairs = TagPairs.of(y)
    >>> pairs.names
    ('B', 'I', 'O', '· → B', '· → O', 'B → I', 'I → O', 'O → B')
    >>> TagPairs.parse(pairs.names) == pairs
    True
    """

    tags: tuple[str, ...]
    labels: TagLabels

    @classmethod
    def of(cls, y: Labels, *, single: bool = True, seen: bool = True) -> TagPairs:
        """The pairs that occur (and where a tag was only ever the last of a sequence, that tag with every other), or
        all there are."""
        strange = [tag for tag in y.names if ARROW in tag or tag == BEGINNING]
        if strange:
            raise ParsimonError(
                f"with order=2 no label may be {BEGINNING!r} or contain {ARROW!r}, as {strange[0]!r} does; rename it."
            )
        if np.any(y.ids < 0):
            raise ParsimonError("order=2 needs every label, but some are missing; use order=1 for them.")
        possible = np.ones((len(y.names) + 1, len(y.names)), bool)
        if seen:
            possible = seen_pairs(tags_before(y), y.ids, len(y.names))
            possible[1:][~possible[1:].any(axis=1)] = True  # or no longer sequence could go through it
        return cls(tuple(y.names), TagLabels(LabelPairs.of(possible), single))

    @classmethod
    def parse(cls, names: tuple[str, ...]) -> TagPairs:
        """From the names of labels; a `ValueError` if they are not those of tags and pairs of tags, in order."""
        halves = [name.partition(ARROW)[::2] for name in names if ARROW in name]
        single = tuple(name for name in names if ARROW not in name)
        if not halves or names[: len(single)] != single:
            raise ValueError("with order 2, labels must be tags, if there are any, and then pairs of tags")
        tags = single
        if not tags:  # every tag is before some other
            tags = tuple(dict.fromkeys(before for before, _ in halves if before != BEGINNING))
        number = {tag: i for i, tag in enumerate(tags)} | {BEGINNING: -1}
        if any(before not in number or tag not in number or tag == BEGINNING for before, tag in halves):
            raise ValueError("with order 2, a pair of tags has a tag that is not among the labels")
        before, tag = np.array([[number[b], number[t]] for b, t in halves], np.int64).T
        place = (before + 1) * len(tags) + tag
        if np.any(np.diff(place) <= 0) or before[0] >= 0:
            raise ValueError("with order 2, pairs of tags must ascend, those that begin a sequence first")
        return cls(tags, TagLabels(LabelPairs(len(tags), before, tag), bool(single)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the labels."""
        tags, pairs = (*self.tags, BEGINNING), self.labels.pairs
        paired = (f"{tags[b]}{ARROW}{tags[t]}" for b, t in zip(pairs.before, pairs.tag, strict=True))
        return (*self.tags, *paired) if self.labels.single else tuple(paired)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TagPairs) and self.names == other.names and self.tags == other.tags

    def __hash__(self) -> int:
        return hash((self.tags, self.names))


def tags_before(y: Labels) -> IntArray:
    """The tag before each token, −1 at the beginning of a sequence."""
    before = np.concatenate([[-1], y.ids[:-1]]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(y.lengths)[:-1]]).astype(np.int64)
    before[first[y.lengths > 0]] = -1
    return before
