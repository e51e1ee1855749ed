"""What the features of second-order chains have for labels: tags, and pairs of tags."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon.arrays import IntArray
from parsimon.structures.label_pairs import LabelPairs


@dataclass(frozen=True)
class TagLabels:
    """Labels are numbered: first the tags, if there are features of single tags, then the pairs of tags.

    Two labels in a step are two tags (so the feature is one of the pair) or two pairs (a triple).

    >>> import numpy as np
    >>> from parsimon.designs.tag_labels import TagLabels
    >>> from parsimon.structures.label_pairs import LabelPairs
    >>> labels = TagLabels(LabelPairs.of(np.array([[True, False], [False, True], [True, False]])), single=True)
    >>> labels.n_labels  # 2 tags, 3 pairs: tag 0 first, 1 after 0, 0 after 1
    5
    >>> [divmod(column, 5) for column in labels.step_columns.tolist()]
    [(0, 1), (1, 0), (2, 3), (3, 4), (4, 3)]
    """

    pairs: LabelPairs
    single: bool

    @property
    def n_tag_labels(self) -> int:
        """How many labels are tags; the others are pairs."""
        return self.pairs.n_tags if self.single else 0

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.n_tag_labels + self.pairs.n_labels

    @cached_property
    def step_columns(self) -> IntArray:
        """The pairs of labels that a step can have features for, first · n_labels + second, ascending."""
        one, two = (each + self.n_tag_labels for each in self.pairs.triples)
        if self.single:
            inside = slice(self.pairs.n_first, None)
            one = np.concatenate([self.pairs.before[inside], one])
            two = np.concatenate([self.pairs.tag[inside], two])
        return np.asarray(one * self.n_labels + two, np.int32)
