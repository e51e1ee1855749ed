"""Trees: a label at every node, scored by itself and together with the label of its parent."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.data.parents import check_parents
from parsimon.structures.chain import Chain, PairLayout
from parsimon.structures.workspace import Workspace


class Tree(Chain):
    """A batch of rooted trees or forests, nodes laid end to end.

    A chain is a tree in which every token is the only child of the token before it. So this is a `Chain` with nodes
    for tokens, and the edge from a node's parent for the step into a token: scores are `ChainParts`, edges are
    scored by matrices (parent's label, child's label) that edges of one kind share.

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
