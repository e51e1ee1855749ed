"""Φ for pairwise Markov random fields: from weights to the scores of states and of pairs of states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon._core import FeatureRows, LinearMap, feature_differences
from parsimon.arrays import Array, IntArray
from parsimon.designs.base import SparseVectors
from parsimon.errors import ParsimonError
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.pairwise_mrf import PairwiseMRF


@dataclass(frozen=True)
class MRFDesign:
    """Features of variables and of edges; those of variables are numbered first.

    A map has a row for every `width` parts: for every single one in models without inputs, for every variable (or edge)
    where attributes of it fire. Edges without features have no scores, so they are left out.

    >>> from parsimon.designs.mrf import MRFDesign
    >>> from parsimon.structures import Graph
    >>> ising = MRFDesign.contrasts(Graph.complete([2, 2, 2]))  # one weight a variable, one an edge
    >>> ising.n_features, ising.edge_features(1)
    (6, range(4, 5))
    """

    graph: Graph
    node: LinearMap
    edge: LinearMap
    edge_numbers: IntArray  # of the graph's edges, among those there were at first
    node_feature_start: IntArray | None = (
        None  # (variables + 1,), where every variable has features of its own
    )
    edge_feature_start: IntArray | None = None  # the same for the edges there were at first
    threads: int = 1

    @classmethod
    def contrasts(cls, graph: Graph, *, centre: Array | None = None, threads: int = 1) -> MRFDesign:
        """Sum-to-zero coding: K − 1 features a variable, (K_u − 1)(K_v − 1) an edge; none of them is redundant.

        Feature j of a variable is a column C_j of its `contrast_code`, and feature (i, j) of an edge is
        C_i(y_u) · C_j(y_v). With two states the code is (−1, 1), so that the model is Ising's.

        With `centre`, the probabilities of all states (as node parts are), the means of the codes are taken off in
        the features of edges: (C_i(y_u) − E C_i) (C_j(y_v) − E C_j). The weights of edges mean the same, those of
        variables take up the rest. But an edge's derivative is now a covariance, so that it depends little on
        variables whose own weights are not right yet (Montavon & Müller 2012).
        """
        return cls._coded(graph, contrast_code, threads, centre)

    @classmethod
    def reference(cls, graph: Graph, *, threads: int = 1) -> MRFDesign:
        """The first state of every variable is the reference, and scores nothing; nor does any pair with it.

        All other states, and pairs of them, are features: with two states, y_v and y_u · y_v of numbers 0 and 1.
        """
        return cls._coded(graph, lambda n_states: np.eye(n_states, dtype=np.float64)[:, 1:], threads, None)

    @classmethod
    def indicators(cls, graph: Graph, *, threads: int = 1) -> MRFDesign:
        """Every state and every pair of states is a feature."""
        return cls._coded(graph, lambda n_states: np.eye(n_states, dtype=np.float64), threads, None)

    @classmethod
    def conditional(
        cls, graph: Graph, node_values: Any, edge_values: Any = None, *, threads: int = 1
    ) -> MRFDesign:
        """For models with inputs: attributes of variables and of edges, whose weights all instances share.

        `node_values` is a sparse or dense (variables, A) matrix: feature ``a · K + y`` is attribute a with state y.
        `edge_values` is (edges, B): feature ``b · K² + y_u · K + y_v``, after those, is attribute b with a pair of
        states. Without it there is one attribute, which is 1 on all edges. All variables must have K states.
        """
        states = np.unique(graph.arity)
        if len(states) != 1:
            raise ParsimonError(
                f"features that variables share need variables with the same states, and these have {states.tolist()}."
            )
        K = int(states[0])
        of_edges = np.ones((graph.n_edges, 1)) if edge_values is None else edge_values
        return cls(
            graph,
            _attributes("node_values", node_values, graph.n_nodes, K),
            _attributes("edge_values", of_edges, graph.n_edges, K * K),
            np.arange(graph.n_edges),
            threads=threads,
        )

    @classmethod
    def _coded(
        cls, graph: Graph, code: Callable[[int], Array], threads: int, centre: Array | None
    ) -> MRFDesign:
        """States coded by the rows of a matrix, pairs of states by products of two rows."""
        codes: dict[int, Array] = {K: code(K) for K in np.unique(graph.arity).tolist()}
        of_nodes = [codes[K] for K in graph.arity.tolist()]
        node, node_start = _blocks([(np.array([v]), block[None]) for v, block in enumerate(of_nodes)])
        if centre is not None:
            shares = np.split(np.asarray(centre, np.float64), graph.node_at[1:-1])
            of_nodes = [block - share @ block for block, share in zip(of_nodes, shares, strict=True)]
        u, v = graph.edges.T
        kinds = np.unique(graph.arity[graph.edges], axis=0)
        pairs = []
        for kind in kinds:
            which = np.flatnonzero(np.all(graph.arity[graph.edges] == kind, axis=1))
            left, right = (np.array([of_nodes[x] for x in ends[which].tolist()]) for ends in (u, v))
            products = np.einsum("eai,ebj->eabij", left, right)
            shape = (len(which), int(kind.prod()), left.shape[2] * right.shape[2])
            pairs.append((which, products.reshape(shape)))
        edge, edge_start = _blocks(pairs)
        numbers = np.arange(graph.n_edges)
        return cls(graph, node, edge, numbers, node_start, edge_start + node.n_features, threads)

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.node.n_features + self.edge.n_features

    def node_features(self, v: int) -> range:
        """The numbers of a variable's features, in models without inputs."""
        return self._range(self.node_feature_start, v)

    def edge_features(self, e: int) -> range:
        """The numbers of the features of an edge, by its number in the graph there was at first; without inputs."""
        return self._range(self.edge_feature_start, e)

    def _range(self, start: IntArray | None, i: int) -> range:
        if start is None:
            raise ParsimonError("where there are inputs, variables and edges have no features of their own.")
        return range(int(start[i]), int(start[i + 1]))

    def scores(self, w: Array) -> MRFParts:
        """Φ w."""
        cut = self.node.n_features
        out = MRFParts.zeros(self.graph)
        self.node.scores(w[:cut], _rows(self.node, out.node), self.threads)
        self.edge.scores(w[cut:], _rows(self.edge, out.edge), self.threads)
        return out

    def scores_of(self, values: Array, features: IntArray) -> MRFParts:
        """Φ w where only the given features (ascending) are not zero."""
        few = self.restrict(features)
        scores, out = few.scores(values), MRFParts.zeros(self.graph)
        at, kept = self.graph.edge_at, np.searchsorted(self.edge_numbers, few.edge_numbers)
        out.node[:] = scores.node
        out.edge[_ranges(at[kept], at[kept + 1])] = scores.edge
        return out

    def pullback(self, parts: MRFParts, out: Array) -> None:
        """out += Φᵀ parts."""
        self._pullback(parts, out, squared=False)

    def pullback_squared(self, parts: MRFParts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts."""
        self._pullback(parts, out, squared=True)

    def _pullback(self, parts: MRFParts, out: Array, *, squared: bool) -> None:
        cut = self.node.n_features
        self.node.pullback(_rows(self.node, parts.node), out[:cut], self.threads, squared)
        self.edge.pullback(_rows(self.edge, parts.edge), out[cut:], self.threads, squared)

    def restrict(self, features: IntArray) -> MRFDesign:
        """The map of some features only (ascending numbers), and of the edges that have any of them."""
        cut = int(np.searchsorted(features, self.node.n_features))
        node = self.node.restrict(np.ascontiguousarray(features[:cut], np.int64), self.threads)
        kept = self._edges_with(features[cut:])
        rows = self.graph.edge_at // self.edge.features.width
        edge = self.edge.take(_ranges(rows[kept], rows[kept + 1]))
        of_edges = np.ascontiguousarray(features[cut:] - self.node.n_features, np.int64)
        start = (self.node_feature_start, self.edge_feature_start)
        node_start, edge_start = (None if s is None else np.searchsorted(features, s) for s in start)
        return MRFDesign(
            self.graph.restrict(kept),
            node,
            edge.restrict(of_edges, self.threads),
            self.edge_numbers[kept],
            node_start,
            edge_start,
            self.threads,
        )

    def _edges_with(self, features: IntArray) -> IntArray:
        """The places of edges with any of these features, which are edges'."""
        if self.edge_feature_start is not None:
            owner = np.searchsorted(self.edge_feature_start, features, side="right") - 1
            return np.searchsorted(self.edge_numbers, np.unique(owner))
        of_edges = np.ascontiguousarray(features - self.node.n_features, np.int64)
        return np.flatnonzero(self.edge.restrict(of_edges, self.threads).row_sizes())

    def adapt(self, structure: PairwiseMRF) -> PairwiseMRF:
        """The structure with only the edges that have features here."""
        return structure.with_edges(self.edge_numbers)

    def part(self, where: slice) -> MRFDesign:
        """The map of the instances whose variables these are."""
        start = self.graph.node_start
        first, last = np.searchsorted(start, [where.start, where.stop])
        graph = self.graph.part(int(first), int(last))
        nodes = self.graph.node_at[[where.start, where.stop]] // self.node.features.width
        edges = self.graph.edge_at[self.graph.edge_start[[first, last]]] // self.edge.features.width
        return MRFDesign(
            graph,
            self.node.take(np.arange(*nodes)),
            self.edge.take(np.arange(*edges)),
            np.arange(graph.n_edges),
            threads=self.threads,
        )

    def differences(self, structure: PairwiseMRF, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output): of variables with another state, and of their edges."""
        wrong = gold != output
        of_nodes, of_edges = np.flatnonzero(wrong), np.flatnonzero(wrong[self.graph.edges].any(axis=1))
        found = []
        for offset, map, at, which, start in (
            (0, self.node, 0, of_nodes, self.graph.node_start),
            (self.node.n_features, self.edge, 1, of_edges, self.graph.edge_start),
        ):
            part = np.stack([self.graph.places(each)[at][which] for each in (gold, output)], axis=1).reshape(
                -1
            )
            row, column = part // map.features.width, part % map.features.width
            plus, minus = column.copy(), column.copy()
            plus[1::2], minus[::2] = -1, -1
            row, plus, minus = (np.ascontiguousarray(each, np.int32) for each in (row, plus, minus))
            starts = 2 * np.searchsorted(which, start)
            found.append((offset, *feature_differences(map, starts, row, plus, minus, self.threads)))
        return found


def contrast_code(n_states: int) -> Array:
    """Helmert's contrasts: K × (K − 1), columns that sum to zero, are orthogonal, and have the norm √K.

    Column j sets state j against those before it.

    >>> from parsimon.designs.mrf import contrast_code
    >>> contrast_code(2).tolist(), contrast_code(3).round(3).tolist()
    ([[-1.0], [1.0]], [[-1.225, -0.707], [1.225, -0.707], [0.0, 1.414]])
    """
    j = np.arange(1, n_states)
    state = np.arange(n_states)[:, None]
    code = np.where(state < j, -1.0, np.where(state == j, j, 0.0))
    return np.asarray(code * np.sqrt(n_states / (j * (j + 1.0))))


def _blocks(blocks: Sequence[tuple[IntArray, Array]]) -> tuple[LinearMap, IntArray]:
    """A block-diagonal map, one score a row; and where the features of every block start.

    Blocks of the same size come together: their numbers, and (blocks, rows, features) values.
    """
    shape = np.zeros((sum(len(which) for which, _ in blocks), 2), np.int64)
    for which, values in blocks:
        shape[which] = values.shape[1:]
    _row_at, start = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in shape.T)
    entry_at = np.concatenate([[0], np.cumsum(shape.prod(axis=1))])
    rows = np.repeat(shape[:, 1], shape[:, 0])  # the size of every row
    index, value = np.empty(entry_at[-1], np.int32), np.empty(entry_at[-1])
    for which, values in blocks:
        _, height, width = values.shape
        at = entry_at[which, None] + np.arange(height * width)
        index[at] = start[which, None] + np.tile(np.arange(width), height)
        value[at] = values.reshape(len(which), -1)
    ones = None if np.all(value == 1.0) else value
    features = FeatureRows(int(start[-1]), 1)
    return LinearMap(np.concatenate([[0], np.cumsum(rows)]), index, ones, features), start


def _attributes(name: str, values: Any, n_rows: int, width: int) -> LinearMap:
    """The map of attributes that fire on rows."""
    from scipy import sparse

    matrix = sparse.csr_matrix(values, dtype=np.float64)
    if matrix.shape[0] != n_rows:
        raise ParsimonError(f"{name} has {matrix.shape[0]} rows, but there must be {n_rows}.")
    if not np.all(np.isfinite(matrix.data)):
        raise ParsimonError(f"{name} has a value that is not a finite number.")
    matrix.sort_indices()
    ones = None if np.all(matrix.data == 1.0) else matrix.data
    features = FeatureRows(matrix.shape[1], width)
    return LinearMap(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), ones, features)


def _rows(map: LinearMap, parts: Array) -> Array:
    """Parts as the rows of a map."""
    return parts.reshape(map.n_rows, map.features.width)


def _ranges(first: IntArray, last: IntArray) -> IntArray:
    """All numbers from each first to before its last."""
    sizes = last - first
    shift = np.repeat(first - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return np.asarray(np.arange(int(sizes.sum())) + shift)
