"""Trees: a label at every node, scored by itself and together with the label of its parent."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.chain import Chain, PairLayout
from parsimon.workspace import Workspace


class Tree(Chain):
    """A batch of rooted trees or forests, nodes laid end to end.

    A chain is a tree in which every token is the only child of the token before it, and what is said of chains holds
    here too, with nodes for tokens and the edge from a node's parent for the step into a token: scores are
    `ChainParts`, edges are scored by matrices (parent's label, child's label) that edges of one kind share.

    `parent` has the number of each node's parent within the batch, −1 for roots; nodes of an instance may come in any
    order. `allowed` (node kinds × labels) says which labels a node may have, by its `node_kind`.

    >>> import numpy as np
    >>> from parsimon.structures import ChainParts, Tree
    >>> tree = Tree(lengths=[3], parent=[-1, 0, 0], n_labels=2)
    >>> scores = ChainParts(np.array([[0.5, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> best, labels = tree.argmax(scores)
    >>> labels.tolist(), float(best[0])
    ([1, 1, 1], 4.0)
    """

    instance: ClassVar[str] = "tree"

    def __init__(
        self,
        lengths: IntArray | list[int],
        parent: IntArray | list[int],
        n_labels: int,
        *,
        pair_kind: IntArray | None = None,
        n_kinds: int = 1,
        node_kind: IntArray | None = None,
        allowed: BoolArray | None = None,
        weights: Array | None = None,
        threads: int = 1,
        workspace: Workspace | None = None,
        layout: PairLayout | None = None,
    ) -> None:
        self.parent = np.ascontiguousarray(parent, np.int32)
        self.node_kind = None if node_kind is None else np.ascontiguousarray(node_kind, np.int32)
        self.allowed = None if allowed is None else np.ascontiguousarray(allowed, bool)
        if self.allowed is not None and self.node_kind is None:
            self.node_kind = np.zeros(len(self.parent), np.int32)
        check_parents(self.parent, np.asarray(lengths, np.int64))
        super().__init__(
            lengths,
            n_labels,
            pair_kind=pair_kind,
            n_kinds=n_kinds,
            weights=weights,
            threads=threads,
            workspace=workspace,
            layout=layout,
        )

    def _lay_out(self, layout: PairLayout) -> None:
        self.layout = layout
        self.compiled: _core.Chain = _core.Tree(
            self.offsets,
            self.parent,
            layout.kind,
            self.weights,
            self.n_labels,
            layout.n_kinds,
            layout.row,
            layout.row_kind,
            layout.single_start,
            layout.single,
            self.node_kind,
            self.allowed,
        )

    def _take_part(self, where: slice) -> None:
        parent = self.parent[where]
        self.parent = np.where(parent < 0, -1, parent - where.start).astype(np.int32)
        if self.node_kind is not None:
            self.node_kind = self.node_kind[where]

    @property
    def before(self) -> IntArray:
        """The parent of each node, −1 for roots."""
        return self.parent

    def log_outputs(self) -> Array:
        """Every node may have any label that its kind allows."""
        if self.allowed is None or self.node_kind is None:
            return super().log_outputs()
        each = np.log(self.allowed.sum(axis=1))[self.node_kind]
        return np.diff(np.concatenate([[0.0], np.cumsum(each)])[self.offsets])


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

    >>> from parsimon.structures.tree import attach_to_siblings
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
