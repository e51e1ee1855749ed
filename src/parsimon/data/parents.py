"""Trees as parent arrays: the number of every node's parent, −1 for roots."""

from __future__ import annotations

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError


def check_parents(parent: IntArray, lengths: IntArray) -> None:
    """Raise an error unless every parent is a node of the same instance and there are no cycles."""
    n = int(lengths.sum())
    if len(parent) != n:
        raise ParsimonError(
            f"there are {n} nodes, but {len(parent)} parents; give one per node, -1 for roots."
        )
    instance = np.repeat(np.arange(len(lengths)), lengths)
    inside = (parent >= 0) & (parent < n)
    inside[inside] = instance[parent[inside]] == instance[inside]
    wrong = np.flatnonzero(~inside & (parent != -1))
    if len(wrong):
        node = int(wrong[0])
        raise ParsimonError(
            f"the parent of node {node} is {parent[node]}, which must be the number of a node of the same tree or -1."
        )
    cyclic = in_cycles(parent)
    if len(cyclic):
        raise ParsimonError(f"node {int(cyclic[0])} is its own ancestor, so this is not a tree.")


def in_cycles(parent: IntArray) -> IntArray:
    """The nodes from which no root can be reached, found by pointer doubling."""
    ancestor = parent.astype(np.int64)
    for _ in range(len(parent).bit_length()):
        if (ancestor < 0).all():
            break
        ancestor = np.where(ancestor < 0, -1, ancestor[ancestor])
    return np.flatnonzero(ancestor >= 0)


def attach_to_siblings(parent: IntArray) -> tuple[IntArray, BoolArray]:
    """Attach every node except first children to its previous sibling, so that siblings depend on each other.

    The result is again a tree (the "left child, right sibling" form). Also returned is a mask of the nodes that are
    now attached to a sibling; roots have no siblings.

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
    """The previous child of each node's parent, −1 for first children and roots."""
    order = np.argsort(parent, kind="stable")
    of = parent[order]
    later = np.flatnonzero((of[1:] == of[:-1]) & (of[1:] >= 0)) + 1
    found = np.full(len(parent), -1, np.int32)
    found[order[later]] = order[later - 1]
    return found
