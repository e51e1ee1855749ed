"""Trees in which a label depends on that of the parent and on that of the sibling before, both at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.data.parents import attach_to_siblings, previous_siblings
from parsimon.structures.chain import ChainParts, PairLayout
from parsimon.structures.label_pairs import LabelPairs
from parsimon.structures.tree import Tree


class SiblingTree(Tree):
    """A batch of trees with two steps into each node: from its parent, and from the child of that parent before it.

    Steps are numbered 2t and 2t + 1, and so are their kinds. Otherwise this is a `Tree`. `possible` (rows: none for
    roots, then every label of the parent; columns: the node's own) says which labels may be below which.

    The graph of such steps has cycles, all of them triangles of a parent and two neighbours among its children. So a
    node of the tree in which nodes hang on the sibling before (see `attach_to_siblings`) gets a pair for a label: its
    parent's label with its own. Siblings must agree about their parent, and a first child with its parent; what does
    not agree is impossible. The score of the step from the parent is then one of the node itself.

    >>> import numpy as np
    >>> from parsimon.structures import ChainParts, SiblingTree
    >>> tree = SiblingTree(lengths=[3], parent=[-1, 0, 0], n_labels=2, pair_kind=[0, 1, 0, 1, 0, 1], n_kinds=2)
    >>> alike, unlike = np.eye(2), 3 * (1 - np.eye(2))
    >>> best, labels = tree.argmax(ChainParts(np.array([[0.5, 0], [0, 0], [0, 0.1]]), np.stack([alike, unlike])))
    >>> labels.tolist(), round(float(best[0]), 6)
    ([0, 0, 1], 4.6)
    """

    steps: ClassVar[int] = 2

    def __init__(
        self,
        lengths: IntArray | list[int],
        parent: IntArray | list[int],
        n_labels: int,
        *,
        possible: BoolArray | None = None,
        **settings: Any,
    ) -> None:
        every = np.ones((n_labels + 1, n_labels), bool)
        self.pairs = LabelPairs.of(every if possible is None else np.asarray(possible, bool))
        self._forests: tuple[Tree, Tree] | None = None
        super().__init__(lengths, parent, n_labels, **settings)

    def _take_part(self, where: slice) -> None:
        super()._take_part(where)
        self._forests = None

    def _lay_out(self, layout: PairLayout) -> None:
        """This structure's own compiled part has the steps from parents, with single labels."""
        from_parent, from_sibling = np.ascontiguousarray(layout.kind.reshape(-1, 2).T)
        super()._lay_out(PairLayout(from_parent, layout.n_kinds))
        self.layout = layout
        sideways, of_pairs = self._forests or self._make_forests()
        later = sideways.parent >= 0
        self._kinds, number = np.unique(from_sibling[later], return_inverse=True)  # −1: a matrix of zeros
        kind = np.zeros(self.n_tokens, np.int32)
        kind[later] = number + 1
        self._forests = (
            sideways.with_layout(PairLayout(from_sibling, layout.n_kinds)),
            of_pairs.with_layout(PairLayout(kind, 1 + len(self._kinds))),
        )
        self._sums = SumsByKind(np.where(self.parent < 0, -1, from_parent))

    def _make_forests(self) -> tuple[Tree, Tree]:
        """The steps from siblings alone; and the tree whose labels are pairs."""
        lengths, pairs = np.diff(self.offsets), self.pairs
        shared: dict[str, Any] = {
            "weights": self.weights,
            "threads": self.threads,
            "workspace": self._workspace,
        }
        sideways = Tree(lengths, previous_siblings(self.parent), self.n_labels, **shared)
        allowed = np.ones((1, self.n_labels), bool) if self.allowed is None else self.allowed
        by_place = np.stack([pairs.before >= 0, pairs.before < 0])  # inside trees, and of roots
        of_pairs = Tree(
            lengths,
            attach_to_siblings(self.parent)[0],
            pairs.n_labels,
            node_kind=(0 if self.node_kind is None else 2 * self.node_kind) + (self.parent < 0),
            allowed=(allowed[:, None, pairs.tag] & by_place).reshape(-1, pairs.n_labels),
            **shared,
        )
        return sideways, of_pairs

    @property
    def sideways(self) -> Tree:
        """The same nodes with the steps from siblings only."""
        assert self._forests is not None
        return self._forests[0]

    @property
    def of_pairs(self) -> Tree:
        """The tree that is solved, whose labels are pairs of labels."""
        assert self._forests is not None
        self._forests[1].first = self.first  # for messages
        return self._forests[1]

    @property
    def before(self) -> IntArray:
        """Where each step comes from: node by node, the parent and the sibling before; −1 for none."""
        return np.stack([self.parent, self.sideways.parent], axis=1).reshape(-1)

    def scores_of_pairs(self, scores: ChainParts) -> ChainParts:
        """The scores of the tree of pairs."""
        pairs = self.pairs
        matrices = np.concatenate([scores.pair, np.zeros((1, self.n_labels, self.n_labels))])  # −1: the last
        from_parent = np.where(self.parent < 0, -1, self.layout.kind[::2])
        node = scores.node[:, pairs.tag] + matrices[:, pairs.before, pairs.tag][from_parent]
        step = np.full((1 + len(self._kinds), pairs.n_labels, pairs.n_labels), -np.inf)
        step[0, pairs.follows] = 0.0
        x, y = np.nonzero(pairs.beside)
        step[1:, x, y] = matrices[self._kinds][:, pairs.tag[x], pairs.tag[y]]
        return ChainParts(node, step)

    def argmax(self, scores: ChainParts) -> tuple[Array, IntArray]:
        """The best labellings, and their scores."""
        best, labels = self.of_pairs.argmax(self.scores_of_pairs(scores))
        return best, self._tags(labels)

    def kbest(self, scores: ChainParts, k: int) -> tuple[Array, IntArray]:
        """The k best labellings."""
        values, labels = self.of_pairs.kbest(self.scores_of_pairs(scores), k)
        return values, self._tags(labels)

    def sample(self, scores: ChainParts, n: int = 1, seed: int = 0) -> IntArray:
        """n draws from p(y) ∝ exp(score)."""
        return self._tags(self.of_pairs.sample(self.scores_of_pairs(scores), n, seed))

    def _tags(self, labels: IntArray) -> IntArray:
        return np.where(labels < 0, -1, self.pairs.tag[labels]).astype(np.int32)

    def marginals(self, scores: ChainParts) -> tuple[Array, ChainParts]:
        """log Z and marginals: those of pairs, added up."""
        pairs, Y = self.pairs, self.n_labels
        log_z, found = self.of_pairs.marginals(self.scores_of_pairs(scores))
        out = self._zeros()
        out.node = pairs.of_tags(found.node)
        inside = np.flatnonzero(pairs.before >= 0)
        out.pair[:, pairs.before[inside], pairs.tag[inside]] = self._sums(found.node, self.n_kinds)[:, inside]
        x, y = np.nonzero(pairs.beside)
        place = SumsByKind(pairs.tag[x] * Y + pairs.tag[y])
        sums = place(found.pair[1:, x, y].T, Y * Y).T.reshape(-1, Y, Y)
        real = self._kinds >= 0
        out.pair[self._kinds[real]] += sums[real]
        return log_z, out

    def variances(self, marginals: Array) -> ChainParts:
        """p(1 − p) of every part, those of pairs with p(x, y) taken as p(x) p(y)."""
        out = super().variances(marginals)
        out.pair += self.sideways.variances(marginals).pair
        return out

    def score(self, scores: ChainParts, output: IntArray) -> Array:
        """The score of complete labellings; −∞ where a label may not be below another."""
        nothing = np.zeros_like(scores.node)
        total = super().score(scores, output) + self.sideways.score(ChainParts(nothing, scores.pair), output)
        above = np.where(self.parent < 0, -1, output[self.parent])
        impossible = self.pairs.number(above, output) < 0
        instance = np.repeat(np.arange(self.n_instances), np.diff(self.offsets))
        total[instance[impossible]] = -np.inf
        return total

    def add_output(self, parts: ChainParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        super().add_output(parts, output, times)
        self.sideways.add_output(ChainParts(np.zeros_like(parts.node), parts.pair), output, times)

    def log_outputs(self) -> Array:
        """Counted by scores of zero: not every label may be below every other."""
        return self.of_pairs.marginals(self.scores_of_pairs(self._zeros()))[0]


class SumsByKind:
    """Σ of the rows of a matrix that are of one kind, for every kind; rows of kind −1 do not count."""

    def __init__(self, kind: IntArray) -> None:
        order = np.argsort(kind, kind="stable")
        self._order = order[np.searchsorted(kind[order], 0) :]
        self._kinds, self._start = np.unique(kind[self._order], return_index=True)

    def __call__(self, rows: Array, n_kinds: int) -> Array:
        """Kinds × columns."""
        out = np.zeros((n_kinds, rows.shape[1]))
        if len(self._kinds):
            out[self._kinds] = np.add.reduceat(rows[self._order], self._start, axis=0)
        return out
