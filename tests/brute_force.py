"""Enumeration: every output of a small chain, graph or tree with its score, and so every answer an oracle can give.

Nothing here is clever, which is the point: sums run over all outputs, in extended precision.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.structures import Arborescence, ArcParts, Chain, ChainParts, Graph, MRFParts, Tree


@dataclass(frozen=True)
class Enumeration:
    """All labellings of one sequence or forest, in lexicographic order, and their scores (−∞: impossible)."""

    labellings: IntArray  # (n_outputs, T)
    scores: Array  # (n_outputs,)
    n_labels: int
    before: IntArray  # (T,): where the step into each token comes from, −1 for none

    @property
    def length(self) -> int:
        return int(self.labellings.shape[1])

    @property
    def log_z(self) -> float:
        high = self.scores.max()
        if high == -np.inf:
            return -np.inf
        return float(high + np.log(np.exp((self.scores - high).astype(np.longdouble)).sum()))

    @property
    def probabilities(self) -> Array:
        high = self.scores.max()
        weights = np.exp((self.scores - high).astype(np.longdouble))
        return (weights / weights.sum()).astype(np.float64)

    def node_marginals(self) -> Array:
        """P(y_t = y), tokens × labels."""
        out = np.zeros((self.length, self.n_labels))
        for labels, p in zip(self.labellings, self.probabilities, strict=True):
            out[np.arange(self.length), labels] += p
        return out

    def pair_marginals(self) -> Array:
        """P(y_before = x, y_t = y), tokens × labels × labels; nothing steps into first tokens and roots."""
        out = np.zeros((self.length, self.n_labels, self.n_labels))
        steps = np.flatnonzero(self.before >= 0)
        for labels, p in zip(self.labellings, self.probabilities, strict=True):
            out[steps, labels[self.before[steps]], labels[steps]] += p
        return out

    def best(self) -> tuple[float, IntArray]:
        """The largest score, and a labelling that has it."""
        i = int(np.argmax(self.scores))
        return float(self.scores[i]), self.labellings[i]

    def score_of(self, labels: IntArray) -> float:
        """The score of one labelling."""
        (i,) = np.flatnonzero((self.labellings == labels).all(axis=1))
        return float(self.scores[i])

    def k_best(self, k: int) -> Array:
        """The k largest scores, −∞ where there are fewer possible labellings."""
        ordered = np.sort(self.scores)[::-1][:k]
        return np.concatenate([ordered, np.full(k - len(ordered), -np.inf)])

    def with_cost(self, gold: IntArray, cost: float) -> Enumeration:
        """Scores plus cost times the number of labels that differ from gold (−1 in gold costs nothing)."""
        wrong = ((self.labellings != gold) & (gold >= 0)).sum(axis=1)
        return replace(self, scores=self.scores + cost * wrong)

    def agreeing(self, given: IntArray) -> Enumeration:
        """Only labellings that have the given labels (−1 leaves a token free)."""
        agrees = ((self.labellings == given) | (given < 0)).all(axis=1)
        return replace(self, scores=np.where(agrees, self.scores, -np.inf))

    def allowed(self, start: BoolArray, end: BoolArray, pair: BoolArray) -> Enumeration:
        """Only labellings whose first label, last label and pairs of labels are allowed."""
        y = self.labellings
        fine = pair[y[:, :-1], y[:, 1:]].all(axis=1)
        if self.length:
            fine &= start[y[:, 0]] & end[y[:, -1]]
        return replace(self, scores=np.where(fine, self.scores, -np.inf))


def enumerate_chain(node: Array, steps: Array) -> Enumeration:
    """Every labelling of one chain; node (T, Y), steps[t] the scores (Y, Y) of the step into token t."""
    return enumerate_forest(node, steps, np.arange(-1, len(node) - 1))


def enumerate_forest(node: Array, steps: Array, before: IntArray) -> Enumeration:
    """Every labelling of one forest: the step into node t comes from before[t], −1 for roots."""
    length, n_labels = node.shape
    labellings = np.array(list(itertools.product(range(n_labels), repeat=length)), np.int64)
    labellings = labellings.reshape(n_labels**length, length)
    scores = node[np.arange(length), labellings].sum(axis=1)
    for t in np.flatnonzero(before >= 0).tolist():
        scores = scores + steps[t][labellings[:, before[t]], labellings[:, t]]
    return Enumeration(labellings, scores, n_labels, before)


def pairs_by_token(chain: Chain, scores: ChainParts) -> Array:
    """The scores of all label pairs at the step into each token, tokens × labels × labels: matrix and single pairs."""
    layout = chain.layout
    none = np.zeros((1, chain.n_labels, chain.n_labels))
    out: Array = np.concatenate([scores.pair, none])[layout.kind]  # −1 is the last one
    if layout.n_singles:
        assert layout.row is not None
        assert layout.single_start is not None
        assert layout.single is not None
        for t in np.flatnonzero(layout.row >= 0).tolist():
            row = slice(*layout.single_start[layout.row[t] : layout.row[t] + 2].tolist())
            pair = layout.single[row].astype(np.int64)
            out[t, pair >> 16, pair & 0xFFFF] += scores.single[row]
    return out


def enumerate_batch(chain: Chain, scores: ChainParts) -> Iterator[tuple[slice, Enumeration]]:
    """The tokens and the enumeration of every sequence or tree of a batch."""
    # The kind of a first token is not looked at, so it may be anything.
    kinds = np.where(chain.pair_kind < chain.n_kinds, chain.pair_kind, -1)
    pairs = pairs_by_token(chain.with_layout(replace(chain.layout, kind=kinds)), scores)
    for first, last in itertools.pairwise(chain.offsets.tolist()):
        tokens = slice(first, last)
        before = np.where(chain.before[tokens] < 0, -1, chain.before[tokens] - first)
        yield tokens, enumerate_forest(scores.node[tokens] + barred(chain)[tokens], pairs[tokens], before)


def barred(chain: Chain) -> Array:
    """−∞ for labels that a node cannot have, else 0: tokens × labels."""
    if not isinstance(chain, Tree) or chain.allowed is None or chain.node_kind is None:
        return np.zeros((chain.n_tokens, chain.n_labels))
    return np.where(chain.allowed, 0.0, -np.inf)[chain.node_kind]


@dataclass(frozen=True)
class GraphEnumeration:
    """All outputs of one instance of a graph, and their scores."""

    states: IntArray  # (n_outputs, n)
    scores: Array
    graph: Graph  # of this instance alone

    @property
    def log_z(self) -> float:
        high = self.scores.max()
        return float(high + np.log(np.exp((self.scores - high).astype(np.longdouble)).sum()))

    @property
    def probabilities(self) -> Array:
        return np.exp((self.scores - self.log_z).astype(np.longdouble)).astype(np.float64)

    def marginals(self) -> MRFParts:
        """The probability of every part."""
        out = MRFParts.zeros(self.graph)
        for states, p in zip(self.states, self.probabilities, strict=True):
            node, edge = self.graph.places(states)
            out.node[node] += p
            out.edge[edge] += p
        return out

    def conditional_log_probability(self, states: IntArray) -> float:
        """Σ_v log p(y_v | all others)."""
        total = 0.0
        mine = self.scores[(self.states == states).all(axis=1)][0]
        for v in range(self.graph.n_nodes):
            same = np.delete(self.states == states, v, axis=1).all(axis=1)
            total -= np.log(np.exp(self.scores[same] - mine).sum())
        return float(total)


def enumerate_graph(graph: Graph, scores: MRFParts) -> Iterator[tuple[slice, GraphEnumeration]]:
    """The variables and the enumeration of every instance."""
    for i in range(graph.n_instances):
        one = graph.part(i, i + 1)
        nodes, edges = graph.node_start[i : i + 2].tolist(), graph.edge_start[i : i + 2].tolist()
        node = scores.node[graph.node_at[nodes[0]] : graph.node_at[nodes[1]]]
        edge = scores.edge[graph.edge_at[edges[0]] : graph.edge_at[edges[1]]]
        states = np.array(list(itertools.product(*(range(K) for K in one.arity.tolist()))), np.int64)
        states = states.reshape(-1, one.n_nodes)
        places = [one.places(each) for each in states]
        total = np.array([node[of_node].sum() + edge[of_edge].sum() for of_node, of_edge in places])
        yield slice(*nodes), GraphEnumeration(states, total, one)


@cache
def all_trees(n: int, projective: bool, single_root: bool) -> IntArray:
    """The heads of every tree over n tokens (1 … n; 0 is the root), one tree a row."""
    heads = np.array(list(itertools.product(range(n + 1), repeat=n)), np.int64).reshape((n + 1) ** n, n)
    up = np.concatenate([np.zeros((len(heads), 1), np.int64), heads], axis=1)
    at = heads
    for _ in range(n):
        at = np.take_along_axis(up, at, axis=1)  # everybody goes to the head, n times
    fine = (at == 0).all(axis=1)
    if single_root and n:
        fine &= (heads == 0).sum(axis=1) == 1
    heads = heads[fine]
    return heads[[not projective or arcs_do_not_cross(tree) for tree in heads.tolist()]]


def arcs_do_not_cross(heads: list[int]) -> bool:
    """Whether every token between the ends of an arc descends from its head."""

    def descends(token: int, ancestor: int) -> bool:
        while token not in (0, ancestor):
            token = heads[token - 1]
        return token == ancestor

    return all(
        descends(between, head)
        for token, head in enumerate(heads, 1)
        for between in range(min(token, head) + 1, max(token, head))
    )


def enumerate_trees(trees: Arborescence, scores: ArcParts) -> Iterator[tuple[slice, slice, Enumeration]]:
    """The tokens, the arcs and the enumeration of every sentence; labellings are outputs, head · L + label."""
    arcs = 0
    for first, last in itertools.pairwise(trees.offsets.tolist()):
        n, n_labels = last - first, trees.n_labels
        here = slice(arcs, arcs + n * (n + 1))
        arcs = here.stop
        part = scores.arc[here].reshape(n, (n + 1) * n_labels)
        heads = all_trees(n, trees.projective, trees.single_root)
        labels = np.array(list(itertools.product(range(n_labels), repeat=n)), np.int64).reshape(
            n_labels**n, n
        )
        outputs = (heads[:, None] * n_labels + labels).reshape(len(heads) * len(labels), n)
        values = part[np.arange(n), outputs].sum(axis=1)
        yield slice(first, last), here, Enumeration(outputs, values, (n + 1) * n_labels, np.full(n, -1))
