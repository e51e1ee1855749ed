"""Labels that are pairs of tags: a token's own, and that of what it depends on. So a step can see three tags."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray


@dataclass(frozen=True)
class LabelPairs:
    """Which pairs of tags are labels. What comes first in a sequence, or is a root, has −1 before it.

    >>> import numpy as np
    >>> from parsimon.structures.label_pairs import LabelPairs
    >>> pairs = LabelPairs.of(np.array([[True, False], [False, True], [True, True]]))
    >>> pairs.before.tolist(), pairs.tag.tolist()
    ([-1, 0, 1, 1], [0, 1, 0, 1])
    >>> pairs.number(np.array([-1, 1, 0]), np.array([0, 1, 0])).tolist()  # tag 0 after tag 0 is not possible
    [0, 3, -1]
    """

    n_tags: int
    before: IntArray  # (n_labels,): the number of the tag before, −1 for none
    tag: IntArray  # (n_labels,): that of its own

    @classmethod
    def of(cls, possible: BoolArray) -> LabelPairs:
        """The pairs that are possible: tags before × tags, and in the first row tags with nothing before them."""
        before, tag = np.nonzero(possible)
        return cls(possible.shape[1], before - 1, tag)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.tag)

    def number(self, before: IntArray, tag: IntArray) -> IntArray:
        """The labels that are made of these tags; −1 where there is no such label, or a tag is not known."""
        return np.asarray(self._numbers[before + 1, tag])

    @cached_property
    def _numbers(self) -> IntArray:
        """Tags before (with none in the first row) × tags (with one that is not known in the last column)."""
        numbers = np.full((self.n_tags + 1, self.n_tags + 1), -1, np.int32)
        numbers[self.before + 1, self.tag] = np.arange(self.n_labels)
        return numbers

    @cached_property
    def follows(self) -> BoolArray:
        """Which labels (columns) can come after which (rows): those that begin with the other's tag."""
        return np.asarray(self.tag[:, None] == self.before)

    @cached_property
    def triples(self) -> tuple[IntArray, IntArray]:
        """Every pair of tags with every one that can come after it: the first pairs, ascending, and the second ones."""
        first = np.searchsorted(self.before, np.arange(self.n_tags + 1))
        n = np.diff(first)[self.tag]
        one = np.repeat(np.arange(self.n_labels), n)
        two = np.arange(len(one)) - np.repeat(np.cumsum(n) - n, n) + first[self.tag[one]]
        return one, two

    @property
    def n_first(self) -> int:
        """How many pairs begin a sequence; they come first."""
        return int(np.searchsorted(self.before, 0))

    @cached_property
    def beside(self) -> BoolArray:
        """Which labels can be next to which: those that begin with the same tag."""
        return np.asarray((self.before[:, None] == self.before) & (self.before >= 0))

    def of_tags(self, marginals: Array) -> Array:
        """Numbers of labels (tokens × labels), added up by tag."""
        out = np.zeros((self.n_tags, len(marginals)))
        for label, tag in enumerate(self.tag.tolist()):
            out[tag] += marginals[:, label]
        return np.ascontiguousarray(out.T)


def seen_pairs(before: IntArray, tag: IntArray, n_tags: int) -> BoolArray:
    """Which tags occur after which, as `LabelPairs.of` takes it: `before` has the tag before each, −1 for none.

    A tag that is not known (−1, or −2 before another) may be any.

    >>> import numpy as np
    >>> from parsimon.structures.label_pairs import seen_pairs
    >>> seen_pairs(np.array([-1, 0, 0]), np.array([0, 1, 1]), 2).tolist()
    [[True, False], [False, True], [False, False]]
    """
    seen = np.zeros((n_tags + 2, n_tags + 1), bool)
    seen[before + 2, tag] = True
    seen[seen[:, -1]] = True
    seen[2:] |= seen[0]
    return seen[1:, :-1]
