"""Pairwise Markov random fields: discrete variables, scored by themselves and in pairs, on any graph."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.base import Oracle
from parsimon.structures.belief_propagation import BeliefPropagation
from parsimon.structures.flat import Weighted
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.inference import Inference, InferenceReport
from parsimon.structures.table import Table

Output: TypeAlias = IntArray | Table  # a state for every variable (−1: not given), or many of them


class PairwiseMRF(Weighted):
    """A batch of graphs whose variables are scored one by one and in pairs.

    p(y) ∝ exp(Σ_v θ_v(y_v) + Σ_uv θ_uv(y_u, y_v)). Edges whose scores are all zero take no part in inference, for their
    ends are independent given the others. So a graph of all possible edges costs little more than one of those that
    score. The marginals of such edges are the products of their ends' under belief propagation (Zhu, Lao & Xing 2010,
    §5.3), and exact with a junction tree.

    An output is an array with a state for every variable, or, for one instance, a `Table` of many such rows, which
    then counts as their mean.

    >>> import numpy as np
    >>> from parsimon.structures import Graph, MRFParts, PairwiseMRF
    >>> mrf = PairwiseMRF(Graph.single([2, 2, 2], [(0, 1), (1, 2)]))
    >>> alike = [1.0, 0.0, 0.0, 1.0]
    >>> scores = MRFParts(np.array([0.0, 2.0, 0, 0, 0, 0]), np.array([*alike, *alike]))
    >>> best, states = mrf.argmax(scores)
    >>> states.tolist(), float(best[0])
    ([1, 1, 1], 4.0)
    >>> log_z, marginals = mrf.marginals(scores)
    >>> marginals.node.reshape(3, 2)[:, 1].round(3).tolist(), mrf.inference_report.all_converged
    ([0.881, 0.676, 0.581], True)
    """

    oracles: ClassVar[frozenset[Oracle]] = frozenset(
        {Oracle.ARGMAX, Oracle.COST_ARGMAX, Oracle.MARGINALS, Oracle.SAMPLE, Oracle.CONDITIONALS}
    )

    def __init__(
        self,
        graph: Graph,
        *,
        weights: Array | None = None,
        inference: Inference | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(graph.n_instances, None if weights is None else np.asarray(weights, np.float64))
        self.graph = graph
        self.inference: Inference = BeliefPropagation() if inference is None else inference
        self.threads = threads
        self.first = 0  # the number of the first instance, for messages
        self.edge_numbers: IntArray = np.arange(graph.n_edges)  # among those of the graph there was at first
        self._engine = self.inference.engine(graph, threads)
        self._means: tuple[Table, MRFParts] | None = None

    @property
    def exact(self) -> bool:
        """Whether inference is exact on every graph; belief propagation is so on trees only."""
        return self.inference.exact

    @property
    def inference_report(self) -> InferenceReport | None:
        """How the last argmax or marginals went."""
        return self._engine.report

    # --- other batches ------------------------------------------------------------------------------------------------

    def with_edges(self, numbers: IntArray) -> PairwiseMRF:
        """The same variables with only some edges, by their (ascending) numbers in the graph there was at first.

        Messages of belief propagation are shared with this structure.
        """
        if np.array_equal(numbers, self.edge_numbers):
            return self
        kept = np.searchsorted(self.edge_numbers, numbers)
        if np.any(kept >= len(self.edge_numbers)) or not np.array_equal(self.edge_numbers[kept], numbers):
            raise ParsimonError("a structure can only be restricted to edges that it has.")
        other = copy(self)
        for cached in ("_node_weights", "_edge_weights"):
            other.__dict__.pop(cached, None)
        other.graph, other.edge_numbers = self.graph.restrict(kept), np.asarray(numbers)
        other._engine = self._engine.restrict(other.graph, kept)
        other._means = None
        return other

    def part(self, first: int, last: int) -> tuple[PairwiseMRF, slice]:
        """The instances from `first` to before `last`, and where their variables are."""
        other = PairwiseMRF(
            self.graph.part(first, last),
            weights=None if self.weights is None else self.weights[first:last],
            inference=self.inference,
            threads=self.threads,
        )
        other.first = self.first + first
        return other, slice(int(self.graph.node_start[first]), int(self.graph.node_start[last]))

    # --- inference ----------------------------------------------------------------------------------------------------

    def argmax(self, scores: MRFParts) -> tuple[Array, IntArray]:
        """The best states, or nearly: max-product, or exact with a junction tree. And their scores."""
        self._check(scores)
        states = self._engine.argmax(scores)
        best = self.score(scores, states)
        return self._feasible(best), states

    def cost_argmax(
        self, scores: MRFParts, gold: IntArray, cost: float | Array = 1.0
    ) -> tuple[Array, IntArray]:
        """argmax of score + cost of states that differ from gold. Where gold is not known nothing costs anything."""
        return self.argmax(self.augment(scores, gold, cost))

    def marginals(self, scores: MRFParts) -> tuple[Array, MRFParts]:
        """log Z of every instance, and the marginals of all parts."""
        self._check(scores)
        log_z, parts = self._engine.marginals(scores)
        self._feasible(log_z)
        self._count(parts)
        return log_z, parts

    def sample(
        self,
        scores: MRFParts,
        n: int = 1,
        seed: int = 0,
        *,
        burn_in: int = 100,
        thin: int = 1,
        chains: int = 4,
        start: IntArray | None = None,
    ) -> IntArray:
        """n draws from p(y) ∝ exp(score), nearly: states (n, variables), by Gibbs sampling.

        Draws come from several chains in turn. Each first runs `burn_in` sweeps over all variables, then `thin` of them
        before each further draw. They begin with the states of `start`; where that is −1 (and everywhere without it) a
        variable is drawn first given only those already drawn. The same seed gives the same draws for any number of
        threads.
        """
        if min(n, burn_in, thin, chains) < 1:
            raise ParsimonError(
                f"n, burn_in, thin and chains must be at least 1, not {n}, {burn_in}, {thin} and {chains}."
            )
        self._check(scores)
        states = np.empty((n, self.graph.n_nodes), np.int32)
        given = np.full(self.graph.n_nodes, -1) if start is None else self._states(start)
        if not self.graph.compiled.sample(
            scores.node, scores.edge, seed, min(chains, n), burn_in, thin, given, states, self.threads
        ):
            raise ParsimonError("some variable has no possible state under the given constraints.")
        return states

    def conditionals(self, scores: MRFParts, gold: Output) -> tuple[Array, MRFParts, Array]:
        """−Σ_v log p(y_v | all others) of every instance, its derivatives by part scores, and (2, node parts) moments.

        The moments are the means, over rows, of p(y | others) and of p(1 − p).
        """
        self._check(scores)
        if isinstance(gold, Table):
            self._mean_parts(gold)  # whether it fits
            states: IntArray = gold.states
            shares = gold.shares
        else:
            states, shares = self._states(gold).reshape(-1, 1), np.ones(1)
        values, moments = np.empty(self.graph.n_nodes), np.empty((2, len(scores.node)))
        parts = MRFParts(np.empty_like(scores.node), np.empty_like(scores.edge))
        self.graph.compiled.conditionals(
            scores.node, scores.edge, states, shares, values, moments, parts.node, parts.edge, self.threads
        )
        self._count(parts)
        return -self._feasible(-self._by_instance(values)), parts, moments

    def conditional_variances(self, moments: Array) -> MRFParts:
        """The second derivatives of `conditionals` by node scores, and those by edge scores nearly.

        That of a pair of states (a, b) is Σ_r p_u(a | r)(1 − p_u(a | r)) [y_v = b], and the same with the ends swapped;
        here the mean of the product is taken as the product of the means.
        """
        mean, variance = moments
        u, v = self.graph.ends_of_parts
        parts = MRFParts(variance.copy(), variance[u] * mean[v] + variance[v] * mean[u])
        self._count(parts)
        return parts

    def variances(self, marginals: Array) -> MRFParts:
        """p(1 − p) of every part from the marginals of nodes, those of edges with p(x, y) taken as p(x) p(y)."""
        parts, (u, v) = MRFParts.zeros(self.graph), self.graph.ends_of_parts
        p = marginals
        if self.weights is not None:
            p = np.divide(p, self._node_weights, out=np.zeros_like(p), where=self._node_weights > 0)
        pair = p[u] * p[v]
        parts.node[:], parts.edge[:] = p * (1 - p), pair * (1 - pair)
        self._count(parts)
        return parts

    # --- outputs ------------------------------------------------------------------------------------------------------

    def score(self, scores: MRFParts, output: Output) -> Array:
        """The score of a complete output; of a table, the mean over its rows."""
        if isinstance(output, Table):
            means = self._mean_parts(output)
            return np.array([_mean(means.node, scores.node) + _mean(means.edge, scores.edge)])
        node, edge = self.graph.places(output)
        of_edges = np.bincount(self.graph.instance_of_edge, scores.edge[edge], minlength=self.n_instances)
        return self._by_instance(scores.node[node]) + of_edges

    def indicators(self, output: Output) -> MRFParts:
        """Ones (or the instance's weight) at the parts of a complete output."""
        parts = MRFParts.zeros(self.graph)
        self.add_output(parts, output, 1.0)
        return parts

    def add_output(self, parts: MRFParts, output: Output, times: float) -> None:
        """parts += times · indicators(output)."""
        if isinstance(output, Table):
            means = self._mean_parts(output)
            times = times if self.weights is None else times * float(self.weights[0])
            parts.node += times * means.node
            parts.edge += times * means.edge
            return
        weights = np.ones(self.n_instances) if self.weights is None else self.weights
        node, edge = self.graph.places(output)
        parts.node[node] += times * weights[self.graph.instance_of_node]
        parts.edge[edge] += times * weights[self.graph.instance_of_edge]

    def constrain(self, scores: MRFParts, output: IntArray) -> MRFParts:
        """−∞ for every other state where `output` gives one (−1 leaves a variable free)."""
        given = np.repeat(np.asarray(output), self.graph.arity)
        state = np.arange(len(scores.node)) - np.repeat(self.graph.node_at[:-1], self.graph.arity)
        return MRFParts(np.where((given >= 0) & (state != given), -np.inf, scores.node), scores.edge)

    def log_outputs(self) -> Array:
        """Every variable may have any of its states."""
        return self._by_instance(np.log(self.graph.arity))

    # --- costs --------------------------------------------------------------------------------------------------------

    def augment(self, scores: MRFParts, gold: IntArray, cost: float | Array) -> MRFParts:
        """New scores, with its cost added to every state that differs from gold."""
        return MRFParts(scores.node + self._costs(gold, cost), scores.edge.copy())

    def cost(self, gold: IntArray, output: IntArray, cost: float | Array) -> Array:
        """Σ of cost · [wrong state], or of cost[gold, state], over the variables of every instance."""
        return self._by_instance(self._costs(gold, cost)[self.graph.node_at[:-1] + output])

    def expected_cost(self, parts: MRFParts, gold: IntArray, cost: float | Array) -> float:
        """Σ over variables of Σ_y μ(y)·cost(gold, y), where `parts` is μ − gold; gold itself costs nothing."""
        return float(dot(parts.node, self._costs(gold, cost)))

    def _costs(self, gold: Output, cost: float | Array) -> Array:
        """What every state of every variable costs."""
        if isinstance(gold, Table):
            raise ParsimonError(
                "a cost compares one output with another, so it cannot be had for a table of them."
            )
        at, known = self.graph.node_at[:-1], gold >= 0
        if not isinstance(cost, np.ndarray):
            out = np.repeat(np.where(known, float(cost), 0.0), self.graph.arity)
            out[at[known] + gold[known]] = 0.0
            return out
        if np.any(self.graph.arity != len(cost)):
            raise ParsimonError(
                f"a table of costs for {len(cost)} states needs variables with as many, and some have another number."
            )
        return np.asarray(np.where(known[:, None], cost[gold], 0.0).reshape(-1))

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def _by_instance(self, of_nodes: Array) -> Array:
        """Sums over the variables of every instance."""
        total = np.bincount(self.graph.instance_of_node, of_nodes, minlength=self.n_instances)
        return total.astype(np.float64)

    @cached_property
    def _node_weights(self) -> Array:
        """The weight of every node part's instance."""
        assert self.weights is not None
        return np.repeat(self.weights[self.graph.instance_of_node], self.graph.arity)

    @cached_property
    def _edge_weights(self) -> Array:
        """The weight of every edge part's instance."""
        assert self.weights is not None
        return np.repeat(self.weights[self.graph.instance_of_edge], np.diff(self.graph.edge_at))

    def _count(self, parts: MRFParts) -> None:
        """Multiplies by weights."""
        if self.weights is None:
            return
        if self.n_instances == 1:
            parts.scale(float(self.weights[0]))
            return
        parts.node *= self._node_weights
        parts.edge *= self._edge_weights

    def _mean_parts(self, table: Table) -> MRFParts:
        """The shares of a table's rows that have each part; kept until another table comes."""
        if self.n_instances != 1:
            raise ParsimonError(f"a table is the output of one instance, and there are {self.n_instances}.")
        if self._means is None or self._means[0] is not table:
            self._means = (table, table.means(self.graph))
        return self._means[1]

    def _states(self, output: IntArray) -> IntArray:
        states = np.ascontiguousarray(output, np.int32)
        if states.shape != (self.graph.n_nodes,) or np.any(states >= self.graph.arity):
            raise ParsimonError(
                f"an output needs one of its states for each of {self.graph.n_nodes} variables."
            )
        return states

    def _check(self, scores: MRFParts) -> None:
        for values in (scores.node, scores.edge):
            if not np.max(values, initial=-np.inf) < np.inf:
                raise ParsimonError("the scores of a Markov random field must be numbers below infinity.")

    def _feasible(self, values: Array) -> Array:
        if not np.all(values > -np.inf):
            which = int(np.flatnonzero(~(values > -np.inf))[0])
            raise ParsimonError(
                f"no possible output of instance {which + self.first} was found under the given constraints."
            )
        return values


def _mean(shares: Array, scores: Array) -> float:
    """Σ share · score, where what has no share may be impossible."""
    total = float(dot(shares, scores))
    return total if np.isfinite(total) else float(np.sum(scores[shares > 0] * shares[shares > 0]))
