"""Trees as columns: the columns of all nodes, concatenated, and the parent of every node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.data.parents import check_parents, in_cycles
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, offsets_of
from parsimon.features.links import Links


def tree_columns(trees: Iterable[tuple[Sequence[Any], Sequence[int]]]) -> Columns:
    """Columns of trees, each given as a list of nodes and a list with the index of each node's parent (−1 for roots).

    >>> from parsimon.features.tree_columns import tree_columns
    >>> X = tree_columns([([("div", ""), ("a", "Home")], [-1, 0]), ([("p", "Hello")], [-1])])
    >>> len(X), X.sequence(0), X.links.parent.tolist()
    (2, [('div', ''), ('a', 'Home')], [-1, 0, -1])
    """
    nodes, parents = [], []
    for i, tree in enumerate(trees):
        if not (
            isinstance(tree, tuple | list) and len(tree) == 2 and all(hasattr(e, "__len__") for e in tree)
        ):
            raise ParsimonError(
                f"tree {i} must be a pair of lists (the nodes, and the parent of each node); put a single tree into a "
                "list, or use predict_single."
            )
        if len(tree[0]) != len(tree[1]):
            raise ParsimonError(
                f"tree {i} has {len(tree[0])} nodes but {len(tree[1])} parents; give one per node, -1 for roots."
            )
        nodes.append(tree[0])
        parents.append(_parents(i, tree[1]))
    columns = Columns.from_sequences(nodes)
    return with_parents(columns, np.concatenate([np.zeros(0, np.int64), *parents]))


def _parents(tree: int, given: Any) -> IntArray:
    """The parents of the nodes of a tree, if they are whole numbers."""
    if isinstance(given, np.ndarray) and given.dtype.kind == "i":
        return given.astype(np.int64).reshape(-1)
    if not all(isinstance(each, Integral) for each in given):
        wrong = next(each for each in given if not isinstance(each, Integral))
        raise ParsimonError(
            f"tree {tree} has the parent {wrong!r}, which must be the number of a node, or -1 for roots; put a single "
            "tree into a list, or use predict_single."
        )
    return np.array([int(each) if abs(int(each)) < 2**31 else 2**31 for each in given], np.int64)


def with_parents(columns: Columns, parent: IntArray) -> Columns:
    """Turn sequences into trees; parents are numbered within each tree."""
    first = np.repeat(offsets_of(columns.lengths)[:-1], columns.lengths)
    absolute = np.where(parent < 0, parent, parent + first)
    check_parents(absolute, columns.lengths.astype(np.int64))
    return Columns(columns.ids, columns.lengths, columns.strings, Links.from_parents(absolute))


def parents_from_column(
    columns: Columns, column: int, where: Callable[[int], str] = "node {}".format
) -> Columns:
    """Trees from columns in which one column has the parent of each node, numbered from 0 within the tree, or −1.

    The column itself is kept. For error messages, `where` gives the location of a node (``trees.txt, line 7``).

    >>> from parsimon.features.columns import Columns
    >>> from parsimon.features.tree_columns import parents_from_column
    >>> parents_from_column(Columns.from_sequences([[("-1", "div"), ("0", "a")]]), 0).links.parent.tolist()
    [-1, 0]
    """
    if not columns.n_tokens:
        return Columns(columns.ids, columns.lengths, columns.strings, Links.from_parents([]))
    if not 0 <= column < columns.n_columns:
        raise ParsimonError(
            f"{where(0)}: there are {columns.n_columns} columns, so there is no column {column} with parents (columns "
            "are counted from 0); give the right parent_column."
        )
    numbers, inverse = np.unique(columns.ids[column], return_inverse=True)
    texts = columns.strings.get_all(np.ascontiguousarray(numbers))
    known = np.array([int(text) if _is_number(text) else -2 for text in texts], np.int64)
    parent = known[inverse]
    size = np.repeat(columns.lengths, columns.lengths)
    wrong = np.flatnonzero((parent < -1) | (parent >= size))
    if len(wrong):
        node = int(wrong[0])
        raise ParsimonError(
            f"{where(node)}: the parent is {texts[inverse[node]]!r}, but column {column} must have the number of a "
            f"node of the same tree, from 0 to {size[node] - 1}, or -1 for a root."
        )
    first = np.repeat(offsets_of(columns.lengths)[:-1], columns.lengths)
    absolute = np.where(parent < 0, -1, parent + first)
    cyclic = in_cycles(absolute)
    if len(cyclic):
        raise ParsimonError(
            f"{where(int(cyclic[0]))}: this node is its own ancestor; parents must lead to a root, whose parent is -1."
        )
    return Columns(columns.ids, columns.lengths, columns.strings, Links.from_parents(absolute))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < 12
