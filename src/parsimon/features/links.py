"""Links between the nodes of trees: parents, children and siblings that templates can refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.data.parents import previous_siblings
from parsimon.errors import ParsimonError


@dataclass(frozen=True)
class Links:
    """The parent of every node, and the labels that nodes may have.

    >>> from parsimon.features.links import Links
    >>> links = Links.from_parents([-1, 0, 0, 2])
    >>> links.related("next_sibling").tolist(), links.related("parent.parent").tolist()
    ([-1, 2, -1, -1], [-1, -1, -1, 0])
    """

    parent: IntArray  # (n_nodes,): the number of each node's parent among all nodes, −1 for roots
    node_kind: IntArray | None = None  # (n_nodes,)
    allowed: BoolArray | None = None  # node kinds × labels; None if every node may have any label

    @classmethod
    def from_parents(cls, parent: IntArray | list[int]) -> Links:
        """Links between nodes that may have any label."""
        return cls(np.ascontiguousarray(parent, np.int32))

    def __getitem__(self, nodes: slice) -> Links:
        parent = self.parent[nodes]
        kind = None if self.node_kind is None else self.node_kind[nodes]
        return Links(np.where(parent < 0, -1, parent - nodes.start).astype(np.int32), kind, self.allowed)

    def take(self, nodes: IntArray) -> Links:
        """The links of some nodes, which must make up whole trees, renumbered."""
        number = np.full(len(self.parent), -1, np.int32)
        number[nodes] = np.arange(len(nodes), dtype=np.int32)
        parent = self.parent[nodes]
        kind = None if self.node_kind is None else self.node_kind[nodes]
        return Links(np.where(parent < 0, -1, number[parent]).astype(np.int32), kind, self.allowed)

    def concatenate(self, others: list[Links]) -> Links:
        """The links of these trees followed by those of others."""
        start = np.cumsum([0, len(self.parent), *(len(other.parent) for other in others)])
        parts = [
            np.where(p.parent < 0, -1, p.parent + s) for p, s in zip([self, *others], start, strict=False)
        ]
        return Links(np.concatenate(parts).astype(np.int32))

    def restrict(self, node_kind: IntArray, allowed: BoolArray) -> Links:
        """The same links, with labels restricted by the kinds of nodes."""
        return replace(self, node_kind=node_kind, allowed=allowed)

    def related(self, relation: str) -> IntArray:
        """The node that is related to each node; relations can be chained (`parent.parent`). −1 if there is none."""
        found = np.arange(len(self.parent), dtype=np.int32)
        for name in relation.split("."):
            found = np.where(found < 0, -1, RELATIONS[name](self.parent)[found]).astype(np.int32)
        return found


def check_relation(relation: str) -> None:
    """Raise an error unless every part of a relation is known."""
    for name in relation.split("."):
        if name not in RELATIONS:
            raise ParsimonError(
                f"{relation!r} is not a valid row: a row is a number or, in trees, {', '.join(RELATIONS)}, or several "
                "of these joined by dots"
            )


def _first_children(parent: IntArray) -> IntArray:
    return _last_of_each(parent, np.flatnonzero(parent >= 0)[::-1])


def _last_children(parent: IntArray) -> IntArray:
    return _last_of_each(parent, np.flatnonzero(parent >= 0))


def _last_of_each(parent: IntArray, children: IntArray) -> IntArray:
    """For each parent, the one of its children that comes last in an array."""
    found = np.full(len(parent), -1, np.int32)
    found[parent[children]] = children
    return found


def _next_siblings(parent: IntArray) -> IntArray:
    previous = previous_siblings(parent)
    found = np.full(len(parent), -1, np.int32)
    later = np.flatnonzero(previous >= 0)
    found[previous[later]] = later
    return found


RELATIONS: dict[str, Callable[[IntArray], IntArray]] = {
    "parent": lambda parent: parent,
    "first_child": _first_children,
    "last_child": _last_children,
    "previous_sibling": previous_siblings,
    "next_sibling": _next_siblings,
}
