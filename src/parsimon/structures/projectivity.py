"""Trees whose arcs do not cross, with the root standing before all tokens; and the nearest such tree to any other."""

from __future__ import annotations

import numpy as np

from parsimon.arrays import IntArray


def is_projective(heads: IntArray | list[int]) -> bool:
    """Whether no two arcs of a sentence's tree cross; tokens without a head (−1) have no arc.

    >>> from parsimon.structures import is_projective
    >>> is_projective([2, 0, 2]), is_projective([3, 0, 2, 1])
    (True, False)
    """
    return not len(crossing(np.asarray(heads, np.int64)))


def crossing(heads: IntArray) -> IntArray:
    """The tokens whose arcs cross another, ascending."""
    token = np.flatnonzero(heads >= 0) + 1
    head = heads[token - 1]
    low, high = np.minimum(head, token), np.maximum(head, token)
    over = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    found: IntArray = token[over.any(axis=0) | over.any(axis=1)]
    return found


def make_projective(heads: IntArray | list[int]) -> IntArray:
    """The tree with as few heads changed as lifting does: while arcs cross, the shortest one goes one step up.

    Its token hangs on the head of its head then (Nivre & Nilsson 2005, without their labels). Among equally short arcs
    the first is lifted. Nothing is lifted to the root while there is another way, and where one token only hangs on it
    there is: of two arcs that cross, one is not from that token, and can be lifted up to it.

    >>> from parsimon.structures import make_projective
    >>> make_projective([3, 0, 2, 1]).tolist()
    [2, 0, 2, 2]
    """
    tree = np.array(heads, np.int64)
    while len(tokens := crossing(tree)):
        tokens = tokens[tree[tokens - 1] > 0]  # arcs from the root cannot be lifted
        above = tree[tree[tokens - 1] - 1]
        if above.any():
            tokens, above = tokens[above > 0], above[above > 0]
        shortest = np.argmin(np.abs(tree[tokens - 1] - tokens))
        tree[tokens[shortest] - 1] = above[shortest]
    return tree
