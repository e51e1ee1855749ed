"""Exact inference on graphs of small tree-width: variables are eliminated one by one (a junction tree of buckets).

Eliminating a variable sums it out of a table over itself and those of its neighbours that are still there; what is left
is a message to the bucket of the next of them. Passing messages back again gives the marginals of all buckets (Dechter
1999; Lauritzen & Spiegelhalter 1988). The order is such that each step joins as few neighbours as possible (min-fill).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.inference import InferenceReport

MOST_VARIABLES = 32  # the axes that an array may have


@dataclass(frozen=True)
class JunctionTree:
    """Exact inference, as long as no table needs more than so many states.

    >>> from parsimon.structures import Graph, JunctionTree, PairwiseMRF
    >>> PairwiseMRF(Graph.complete([2, 3, 2]), inference=JunctionTree()).exact
    True
    """

    max_states: int = 2**20
    exact: ClassVar[bool] = True

    def engine(self, graph: Graph, threads: int) -> BucketElimination:
        """The inference of a graph, on one thread."""
        return BucketElimination(self, graph)


@dataclass(frozen=True)
class BucketTree:
    """The buckets of connected variables, in the order in which their variables are eliminated.

    A bucket is the variable and those it meets, which are all eliminated later and are in the same order. It sends its
    message to the bucket of the first of these.
    """

    buckets: list[tuple[int, ...]]
    place: dict[int, int]  # the bucket of every variable
    scoring: list[list[int]]  # the edges that score; each in the bucket of the end that is eliminated first

    def both_in(self, u: int, v: int) -> int | None:
        """The bucket that has two variables, if there is one."""
        at = min(self.place[u], self.place[v])
        return at if {u, v} <= set(self.buckets[at]) else None


def bucket_trees(graph: Graph, edges: IntArray, max_states: int) -> list[BucketTree]:
    """A tree for every set of variables that the given edges connect.

    >>> import numpy as np
    >>> from parsimon.structures import Graph
    >>> from parsimon.structures.junction_tree import bucket_trees
    >>> (tree,) = bucket_trees(Graph.single([2] * 4, [(0, 1), (0, 3), (1, 2), (2, 3)]), np.arange(4), 100)
    >>> tree.buckets
    [(0, 1, 3), (1, 2, 3), (2, 3), (3,)]
    """
    neighbours: list[set[int]] = [set() for _ in range(graph.n_nodes)]
    for u, v in graph.edges[edges].tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    component = _components(neighbours)
    order, met = _min_fill(neighbours, graph.arity.tolist(), max_states)
    position = {v: i for i, v in enumerate(order)}
    trees: dict[int, BucketTree] = {}
    for v, others in zip(order, met, strict=True):
        tree = trees.setdefault(component[v], BucketTree([], {}, []))
        tree.place[v] = len(tree.buckets)
        tree.buckets.append((v, *sorted(others, key=position.__getitem__)))
        tree.scoring.append([])
    for e in edges.tolist():
        u, v = graph.edges[e].tolist()
        tree = trees[component[u]]
        tree.scoring[min(tree.place[u], tree.place[v])].append(e)
    return list(trees.values())


@dataclass(frozen=True)
class Plan:
    """Buckets for a set of edges that score, and where the marginals of all edges are to be found."""

    trees: list[BucketTree]
    in_buckets: list[list[tuple[int, int]]]  # of every tree: edges and the bucket that has both ends
    in_trees: list[dict[int, list[int]]]  # of every tree: edges by first end, where no bucket has both
    between_trees: IntArray  # edges with independent ends

    @classmethod
    def make(cls, graph: Graph, scoring: IntArray, max_states: int) -> Plan:
        """Looks for buckets and for where edges are."""
        trees = bucket_trees(graph, scoring, max_states)
        tree_of = {v: t for t, tree in enumerate(trees) for v in tree.place}
        plan = cls(trees, [[] for _ in trees], [{} for _ in trees], np.zeros(0, np.int64))
        between = []
        for e, (u, v) in enumerate(graph.edges.tolist()):
            t = tree_of[u]
            if tree_of[v] != t:
                between.append(e)
            elif (bucket := trees[t].both_in(u, v)) is not None:
                plan.in_buckets[t].append((e, bucket))
            else:
                plan.in_trees[t].setdefault(u, []).append(e)
        return replace(plan, between_trees=np.array(between, np.int64))


def _components(neighbours: list[set[int]]) -> list[int]:
    """The lowest variable that each is connected with."""
    found = [-1] * len(neighbours)
    for root in range(len(neighbours)):
        waiting = [root] if found[root] < 0 else []
        while waiting:
            v = waiting.pop()
            if found[v] < 0:
                found[v] = root
                waiting += neighbours[v]
    return found


def _min_fill(
    neighbours: list[set[int]], arity: list[int], max_states: int
) -> tuple[list[int], list[set[int]]]:
    """An order of elimination, and the neighbours of each variable then; `neighbours` is used up."""

    def price(v: int) -> tuple[int, int, int]:
        missing = sum(b not in neighbours[a] for a, b in combinations(neighbours[v], 2))
        return missing, prod(arity[u] for u in neighbours[v]), v

    prices = [price(v) for v in range(len(neighbours))]
    queue = list(prices)
    heapq.heapify(queue)
    order: list[int] = []
    met: list[set[int]] = []
    done = [False] * len(neighbours)
    while queue:
        entry = heapq.heappop(queue)
        v = entry[2]
        if done[v] or entry != prices[v]:
            continue
        done[v] = True
        around = neighbours[v]
        _check_size([v, *around], arity, max_states)
        order.append(v)
        met.append(around)
        for u in around:
            neighbours[u] |= around
            neighbours[u] -= {u, v}
        for near in around.union(*(neighbours[u] for u in around)):
            prices[near] = price(near)
            heapq.heappush(queue, prices[near])
    return order, met


def _check_size(clique: list[int], arity: list[int], max_states: int) -> None:
    states = prod(arity[v] for v in clique)
    if states > max_states or len(clique) > MOST_VARIABLES:
        raise ParsimonError(
            f"a junction tree of this graph has a clique of {len(clique)} variables with {states:,} joint states, more "
            f"than {max_states:,} states or {MOST_VARIABLES} variables; use belief propagation "
            "(inference=BeliefPropagation()) or raise max_states."
        )


Reduce = Callable[[Array, tuple[int, ...]], Array]


def log_sum(table: Array, axes: tuple[int, ...]) -> Array:
    """log Σ exp over some axes; −∞ where there is nothing else."""
    high = np.max(table, axis=axes, keepdims=True)
    shift = np.where(np.isneginf(high), 0.0, high)
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(table - shift), axis=axes, keepdims=True)) + shift
    return np.asarray(np.squeeze(out, axis=axes))


def largest(table: Array, axes: tuple[int, ...]) -> Array:
    """The maximum over some axes."""
    return np.asarray(np.max(table, axis=axes))


class BucketElimination:
    """A junction tree at work; keeps its plan as long as the same edges score."""

    def __init__(self, settings: JunctionTree, graph: Graph) -> None:
        self.settings = settings
        self.graph = graph
        self.report: InferenceReport | None = None
        self._scoring: IntArray | None = None
        self._plan = Plan([], [], [], np.zeros(0, np.int64))

    def restrict(self, graph: Graph, edges: IntArray) -> BucketElimination:
        """The same on another graph."""
        return BucketElimination(self.settings, graph)

    def argmax(self, scores: MRFParts) -> IntArray:
        """The best states, exactly."""
        states = np.zeros(self.graph.n_nodes, np.int32)
        for tree in self._planned(scores).trees:
            tables, _ = self._collect(tree, scores, largest)
            for bucket, table in zip(reversed(tree.buckets), reversed(tables), strict=True):
                states[bucket[0]] = np.argmax(table[(slice(None), *states[list(bucket[1:])])])
        return states

    def marginals(self, scores: MRFParts) -> tuple[Array, MRFParts]:
        """log Z of every instance, and marginals; those of edges that do not score too."""
        log_z, out = np.zeros(self.graph.n_instances), MRFParts.zeros(self.graph)
        plan = self._planned(scores)
        for tree, near, far in zip(plan.trees, plan.in_buckets, plan.in_trees, strict=True):
            total, beliefs = self._beliefs(tree, scores)
            log_z[self.graph.instance_of_node[tree.buckets[0][0]]] += total
            for bucket, belief in zip(tree.buckets, beliefs, strict=True):
                self._of_node(out, bucket[0])[:] = _onto(belief, bucket, bucket[:1])
            for e, at in near:
                self._of_edge(out, e)[:] = self._pair(tree.buckets[at], beliefs[at], e)
            for u, edges in far.items():
                self._condition(tree, scores, u, edges, out)
        for e in plan.between_trees.tolist():
            u, v = self.graph.edges[e].tolist()
            self._of_edge(out, e)[:] = np.outer(self._of_node(out, u), self._of_node(out, v))
        return log_z, out

    def _planned(self, scores: MRFParts) -> Plan:
        self.report = InferenceReport.exact(self.graph.n_instances)
        at = self.graph.edge_at
        count = np.concatenate([[0], np.cumsum(scores.edge != 0)])
        scoring = np.flatnonzero(count[at[1:]] > count[at[:-1]])
        if self._scoring is None or not np.array_equal(scoring, self._scoring):
            self._plan = Plan.make(self.graph, scoring, self.settings.max_states)
            self._scoring = scoring
        return self._plan

    def _of_node(self, parts: MRFParts, v: int) -> Array:
        return parts.node[self.graph.node_at[v] : self.graph.node_at[v + 1]]

    def _of_edge(self, parts: MRFParts, e: int) -> Array:
        u, v = self.graph.edges[e]
        states = self.graph.arity[u], self.graph.arity[v]
        return parts.edge[self.graph.edge_at[e] : self.graph.edge_at[e + 1]].reshape(states)

    def _pair(self, bucket: tuple[int, ...], belief: Array, e: int) -> Array:
        """The marginals of an edge with both ends in a bucket, the first end's states being the rows."""
        u, v = self.graph.edges[e].tolist()
        swapped = bucket.index(u) > bucket.index(v)
        table = _onto(belief, bucket, (v, u) if swapped else (u, v))
        return table.T if swapped else table

    def _collect(self, tree: BucketTree, scores: MRFParts, reduce: Reduce) -> tuple[list[Array], list[Array]]:
        """The table of every bucket with what it was sent, and what it sends."""
        tables = [np.zeros(self.graph.arity[list(bucket)]) for bucket in tree.buckets]
        sent = []
        for bucket, table, edges in zip(tree.buckets, tables, tree.scoring, strict=True):
            table += _spread(self._of_node(scores, bucket[0]), bucket[:1], bucket)
            for e in edges:
                u, v = self.graph.edges[e].tolist()
                pair = self._of_edge(scores, e)
                table += _spread(*((pair, (u, v)) if u == bucket[0] else (pair.T, (v, u))), bucket)
            sent.append(reduce(table, (0,)))
            if len(bucket) > 1:
                at = tree.place[bucket[1]]
                tables[at] += _spread(sent[-1], bucket[1:], tree.buckets[at])
        return tables, sent

    def _beliefs(self, tree: BucketTree, scores: MRFParts) -> tuple[float, list[Array]]:
        """log Z, and the probability of all states of every bucket."""
        tables, sent = self._collect(tree, scores, log_sum)
        total = float(sent[-1])
        if not np.isfinite(total):
            return total, [np.full_like(table, np.nan) for table in tables]
        for bucket, table, message in zip(
            reversed(tree.buckets), reversed(tables), reversed(sent), strict=True
        ):
            if len(bucket) > 1:
                at = tree.place[bucket[1]]
                others = tuple(i for i, v in enumerate(tree.buckets[at]) if v not in bucket)
                possible = np.isfinite(message)
                back = log_sum(tables[at], others) - np.where(possible, message, 0.0)
                table += np.where(possible, back, -np.inf)
        return total, [np.exp(table - total) for table in tables]

    def _condition(self, tree: BucketTree, scores: MRFParts, u: int, edges: list[int], out: MRFParts) -> None:
        """p(u, v) = p(u) p(v | u) where no bucket has both: a pass over the tree for every state of u."""
        for state, p in enumerate(self._of_node(out, u).tolist()):
            if p == 0:
                continue
            given = MRFParts(scores.node.copy(), scores.edge)
            self._of_node(given, u)[np.arange(self.graph.arity[u]) != state] = -np.inf
            _, beliefs = self._beliefs(tree, given)
            for e in edges:
                v = int(self.graph.edges[e, 1])
                bucket = tree.buckets[tree.place[v]]
                self._of_edge(out, e)[state] = p * _onto(beliefs[tree.place[v]], bucket, (v,))


def _spread(table: Array, of: tuple[int, ...], bucket: tuple[int, ...]) -> Array:
    """A table of some of a bucket's variables, in its order, to be added to a table of all of them."""
    size = dict(zip(of, table.shape, strict=True))
    return table.reshape([size.get(v, 1) for v in bucket])


def _onto(belief: Array, bucket: tuple[int, ...], kept: tuple[int, ...]) -> Array:
    """Probabilities of some of a bucket's variables, in its order."""
    return np.asarray(np.sum(belief, axis=tuple(i for i, v in enumerate(bucket) if v not in kept)))
