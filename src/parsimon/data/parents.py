"""Trees as arrays with the number of every node's parent."""

from __future__ import annotations

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError


def check_parents(parent: IntArray, lengths: IntArray) -> None:
    """Says which tree is none: every parent is a node of the same instance, and nobody is their own ancestor."""
    n = int(lengths.sum())
    if len(parent) != n:
        raise ParsimonError(f"there are {n} nodes, but {len(parent)} parents; give one each, -1 for roots.")
    instance = np.repeat(np.arange(len(lengths)), lengths)
    inside = (parent >= 0) & (parent < n)
    inside[inside] = instance[parent[inside]] == instance[inside]
    wrong = np.flatnonzero(~inside & (parent != -1))
    if len(wrong):
        node = int(wrong[0])
        raise ParsimonError(
            f"the parent of node {node} is {parent[node]}, which must be the number of a node of the same tree or -1."
        )
    looping = in_cycles(parent)
    if len(looping):
        raise ParsimonError(f"node {int(looping[0])} is its own ancestor, so there is no tree.")


def in_cycles(parent: IntArray) -> IntArray:
    """Nodes from which no root is reached, by doubling the distance that each looks up."""
    ancestor = parent.astype(np.int64)
    for _ in range(len(parent).bit_length()):
        if (ancestor < 0).all():
            break
        ancestor = np.where(ancestor < 0, -1, ancestor[ancestor])
    return np.flatnonzero(ancestor >= 0)


def attach_to_siblings(parent: IntArray) -> tuple[IntArray, BoolArray]:
    """Every node but a first child is attached to the sibling before it, so that neighbours depend on each other.

    What is left is again a tree (the "left child, right sibling" form). Also returned is which nodes hang on a
    sibling now; roots are nobody's siblings.

    >>> from parsimon.data.parents import attach_to_siblings
    >>> parent, to_sibling = attach_to_siblings([-1, 0, 0, 0, 2])
    >>> parent.tolist(), to_sibling.tolist()
    ([-1, 0, 1, 2, 2], [False, False, True, True, False])
    """
    given = np.asarray(parent, np.int32)
    previous = previous_siblings(given)
    to_sibling = previous >= 0
    return np.where(to_sibling, previous, given).astype(np.int32), to_sibling


def previous_siblings(parent: IntArray) -> IntArray:
    """The child of the same parent that comes before each node, −1 for first children and for roots."""
    order = np.argsort(parent, kind="stable")
    of = parent[order]
    later = np.flatnonzero((of[1:] == of[:-1]) & (of[1:] >= 0)) + 1
    found = np.full(len(parent), -1, np.int32)
    found[order[later]] = order[later - 1]
    return found
