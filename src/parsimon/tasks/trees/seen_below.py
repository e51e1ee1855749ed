"""The possible labels of children, for trees whose labels depend on both the parent and the previous sibling.

Inference in such trees uses pairs of labels, that of the parent and that of the node (see structures/sibling_tree.py),
and takes time quadratic in the number of pairs. So only pairs that occur in the training data are possible.
"""

from __future__ import annotations

import numpy as np

from parsimon.arrays import BoolArray
from parsimon.features.columns import Labels
from parsimon.features.observations import Observations
from parsimon.structures.label_pairs import seen_pairs
from parsimon.structures.label_schemes import Transitions


def seen_below(observations: Observations, y: Labels) -> Transitions:
    """The possible labels of roots, and of the children of each label; `pair` is parent × child.

    An unknown label counts as every label. If none of the labels of a kind of nodes occurs below some label, the most
    common one of them is possible there, so that every tree has a labelling.
    """
    links, n = observations.links, len(y.names)
    assert links is not None
    above = np.where(links.parent < 0, -1, np.where(y.ids < 0, -2, y.ids)[links.parent])
    seen = seen_pairs(above, y.ids, n)
    kinds = np.ones((1, n), bool) if links.allowed is None else links.allowed
    count = np.bincount(y.ids[y.ids >= 0], minlength=n)
    usual = np.where(kinds, count, -1).argmax(axis=1)
    for labels, label in zip(kinds, usual, strict=True):
        seen[~(seen & labels).any(axis=1), label] = True
    return Transitions(seen[0], np.ones(n, bool), seen[1:])


def below_as_lists(below: Transitions) -> list[list[int]]:
    """For a model file: the numbers of the possible labels of roots, then of the children of each label."""
    return [np.flatnonzero(row).tolist() for row in (below.start, *below.pair)]


def below_from_lists(lists: object, n_labels: int) -> Transitions:
    """The inverse of `below_as_lists`; a `ValueError` if the lists are invalid."""
    seen: BoolArray = np.zeros((n_labels + 1, n_labels), bool)
    if not isinstance(lists, list) or len(lists) != len(seen):
        raise ValueError("there must be a list of labels for roots and for the children of every label")
    for row, labels in zip(seen, lists, strict=True):
        if not isinstance(labels, list) or not all(
            type(each) is int and 0 <= each < n_labels for each in labels
        ):
            raise ValueError("a label that may be below another does not exist")
        row[labels] = True
    return Transitions(seen[0], np.ones(n_labels, bool), seen[1:])
