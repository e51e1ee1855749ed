"""Graphs of discrete variables, and numbers for their parts: the states of variables, pairs of states along edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError


@dataclass
class MRFParts:
    """A number for every part of a `Graph`: scores, marginals or indicators.

    Node parts go variable by variable, a number for every state; edge parts go edge by edge, a number for every pair
    of states, those of the first end being the rows.
    """

    node: Array  # (Σ K_v,)
    edge: Array  # (Σ K_u K_v,)

    @classmethod
    def zeros(cls, graph: Graph) -> MRFParts:
        """Nothing for every part."""
        return cls(np.zeros(int(graph.node_at[-1])), np.zeros(int(graph.edge_at[-1])))

    def subtract(self, other: MRFParts) -> None:
        """``self -= other``."""
        self.node -= other.node
        self.edge -= other.edge

    def scale(self, factor: float) -> None:
        """``self *= factor``."""
        self.node *= factor
        self.edge *= factor


@dataclass(frozen=True, eq=False)
class Graph:
    """Discrete variables and the pairs of them that are scored together; a batch of instances side by side.

    >>> from parsimon.structures import Graph
    >>> chain = Graph.single(arity=[2, 3, 2], edges=[(0, 1), (1, 2)])
    >>> both = Graph.union([chain, Graph.complete([2, 2, 2])])
    >>> both.n_instances, both.n_nodes, both.edges.tolist()
    (2, 6, [[0, 1], [1, 2], [3, 4], [3, 5], [4, 5]])
    """

    arity: IntArray  # (n,): how many states each variable has
    edges: IntArray  # (E, 2): u < v
    node_start: (
        IntArray  # (instances + 1,): the variables of instance i are node_start[i] to node_start[i + 1]
    )
    edge_start: IntArray  # the same for edges

    def __post_init__(self) -> None:
        for name, kind in (("arity", np.int32), ("node_start", np.int64), ("edge_start", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind).reshape(-1))
        edges = np.asarray(self.edges, np.int64)
        if edges.size and (edges.ndim != 2 or edges.shape[1] != 2):
            raise ParsimonError(f"edges must be pairs of variables, not an array of shape {edges.shape}.")
        object.__setattr__(self, "edges", np.ascontiguousarray(edges.reshape(-1, 2)))
        self._check()
        object.__setattr__(self, "edges", self.edges.astype(np.int32))

    def _check(self) -> None:
        few = np.flatnonzero(self.arity < 1)
        if len(few):
            raise ParsimonError(
                f"variable {few[0]} has {self.arity[few[0]]} states; every variable needs at least one."
            )
        for name, start, n in (
            ("node_start", self.node_start, self.n_nodes),
            ("edge_start", self.edge_start, len(self.edges)),
        ):
            if not len(start) or start[0] != 0 or start[-1] != n or np.any(np.diff(start) < 0):
                raise ParsimonError(f"{name} must ascend from 0 to {n}, not be {start.tolist()}.")
        if len(self.node_start) != len(self.edge_start):
            raise ParsimonError(
                f"node_start is of {self.n_instances} instances and edge_start of {len(self.edge_start) - 1}; "
                "both must be of the same."
            )
        self._check_edges()

    def _check_edges(self) -> None:
        u, v = self.edges.T
        first, last = (ends[self.instance_of_edge] for ends in (self.node_start[:-1], self.node_start[1:]))
        outside = (np.minimum(u, v) < first) | (np.maximum(u, v) >= last)
        for wrong, why in (
            (outside, "but its instance has the variables {first} to {last}"),
            (u == v, "but a variable has no edge to itself"),
            (u > v, "but the lower variable comes first: ({v}, {u})"),
            (_repeats(u * self.n_nodes + v), "which is there already"),
        ):
            found = np.flatnonzero(wrong)
            if len(found):
                e = int(found[0])
                reason = why.format(u=u[e], v=v[e], first=first[e], last=last[e] - 1)
                raise ParsimonError(f"edge {e} is ({u[e]}, {v[e]}), {reason}.")

    @classmethod
    def single(cls, arity: IntArray | Sequence[int], edges: Any) -> Graph:
        """One instance."""
        edges = np.asarray(edges).reshape(-1, 2) if not np.size(edges) else np.asarray(edges)
        return cls(np.asarray(arity), edges, np.array([0, len(arity)]), np.array([0, len(edges)]))

    @classmethod
    def complete(cls, arity: IntArray | Sequence[int]) -> Graph:
        """One instance in which every two variables have an edge, (0, 1), (0, 2), …, (1, 2), …"""
        return cls.single(arity, np.column_stack(np.triu_indices(len(arity), 1)))

    @classmethod
    def union(cls, graphs: Sequence[Graph]) -> Graph:
        """The instances of several graphs, one after the other."""
        nodes = np.cumsum([0, *(graph.n_nodes for graph in graphs)])
        edges = np.cumsum([0, *(graph.n_edges for graph in graphs)])
        each = list(zip(graphs, nodes.tolist(), edges.tolist(), strict=False))
        return cls(
            np.concatenate([np.zeros(0, np.int32), *(graph.arity for graph in graphs)]),
            np.concatenate([np.zeros((0, 2), np.int64), *(graph.edges + at for graph, at, _ in each)]),
            np.concatenate([[0], *(graph.node_start[1:] + at for graph, at, _ in each)]),
            np.concatenate([[0], *(graph.edge_start[1:] + at for graph, _, at in each)]),
        )

    @property
    def n_nodes(self) -> int:
        """How many variables there are in all instances."""
        return len(self.arity)

    @property
    def n_edges(self) -> int:
        """How many edges there are in all instances."""
        return len(self.edges)

    @property
    def n_instances(self) -> int:
        """How many instances there are."""
        return len(self.node_start) - 1

    @cached_property
    def node_at(self) -> IntArray:
        """Where the parts of every variable start, and where the last ends."""
        return np.concatenate([[0], np.cumsum(self.arity, dtype=np.int64)])

    @cached_property
    def edge_at(self) -> IntArray:
        """Where the parts of every edge start, and where the last ends."""
        u, v = self.arity[self.edges.T].astype(np.int64)
        return np.concatenate([[0], np.cumsum(u * v)])

    @cached_property
    def instance_of_node(self) -> IntArray:
        """The instance of every variable."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.node_start))

    @cached_property
    def instance_of_edge(self) -> IntArray:
        """The instance of every edge."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.edge_start))

    @cached_property
    def ends_of_parts(self) -> tuple[IntArray, IntArray]:
        """For every edge part, the node parts at its two ends."""
        edge = np.repeat(np.arange(self.n_edges), np.diff(self.edge_at))
        pair = np.arange(self.edge_at[-1]) - self.edge_at[edge]
        u, v = self.edges[edge].T
        return self.node_at[u] + pair // self.arity[v], self.node_at[v] + pair % self.arity[v]

    @cached_property
    def compiled(self) -> _core.Graph:
        """The graph as the core has it."""
        return _core.Graph(self.arity, self.edges, self.node_start, self.edge_start)

    def places(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Which parts an output is made of: of nodes, and of edges."""
        u, v = self.edges.T
        return self.node_at[:-1] + states, self.edge_at[:-1] + states[u] * self.arity[v] + states[v]

    def restrict(self, edges: IntArray) -> Graph:
        """All variables, and only the edges with these (ascending) numbers."""
        return Graph(self.arity, self.edges[edges], self.node_start, np.searchsorted(edges, self.edge_start))

    def part(self, first: int, last: int) -> Graph:
        """The instances from `first` to before `last`."""
        nodes, edges = self.node_start[first : last + 1], self.edge_start[first : last + 1]
        of_edges = self.edges[edges[0] : edges[-1]] - nodes[0]
        return Graph(self.arity[nodes[0] : nodes[-1]], of_edges, nodes - nodes[0], edges - edges[0])


def _repeats(keys: IntArray) -> Any:
    """Whether a key was there before."""
    out = np.ones(len(keys), bool)
    out[np.unique(keys, return_index=True)[1]] = False
    return out
