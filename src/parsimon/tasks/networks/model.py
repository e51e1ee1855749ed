"""A fitted Markov network: variables with their states, the edges that are left, and their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.data.discrete_table import Bins, State, code_of, encode, plain, unknown_state
from parsimon.designs.mrf import MRFDesign
from parsimon.errors import ParsimonError, nearest
from parsimon.structures.belief_propagation import BeliefPropagation
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.inference import Inference, InferenceReport
from parsimon.structures.junction_tree import JunctionTree
from parsimon.structures.pairwise_mrf import PairwiseMRF

INFERENCE: dict[str, Callable[[], Inference]] = {"bp": BeliefPropagation, "exact": JunctionTree}
SCORES = {"bethe": "bp", "exact": "exact"}  # log-likelihoods, by the inference that finds log Z
CHAINS = 8  # of Gibbs sampling, which may run side by side
METHODS = {inference: method for method, inference in SCORES.items()}
Evidence = Mapping[str, Any]


@dataclass(frozen=True)
class Edge:
    """Two variables that depend on each other, given all others."""

    first: str
    second: str
    strength: float
    signed: bool  # of two binary variables: above zero where both tend to be in their first states, or in their second
    stability: float | None = None


class PathEnd(Enum):
    """What ended a path; the values are in model files."""

    PATIENCE = "patience"  # so many graphs in a row were no better
    WEAKEST = "weakest strength"
    TIME = "time"  # the time limit, or Ctrl-C
    BROKEN = "inference"  # belief propagation no longer gave directions of descent


@dataclass(frozen=True, eq=False)
class NetworkPath:
    """Falling strengths, with a score of each (the larger, the better) and how many edges it leaves."""

    alphas: Array
    scores: Array
    n_edges: IntArray  # −1 where time ran out before they were counted
    criterion: str  # what the scores are
    best: int
    end: PathEnd = PathEnd.PATIENCE

    @property
    def complete(self) -> bool:
        """False if the time limit or Ctrl-C has ended it."""
        return self.end is not PathEnd.TIME

    @property
    def cut_off(self) -> bool:
        """Whether the last strength is the best and the path has more to come, so that a weaker one may be better."""
        return self.end is PathEnd.WEAKEST and self.best == len(self.alphas) - 1

    @property
    def alpha(self) -> float:
        """The strength with the best score."""
        return float(self.alphas[self.best])

    def to_dict(self) -> dict[str, Any]:
        """For model files and for JSON."""
        return {
            "alphas": self.alphas.tolist(),
            "scores": self.scores.tolist(),
            "n_edges": self.n_edges.tolist(),
            "criterion": self.criterion,
            "best": self.best,
            "end": self.end.value,
        }

    def summary(self) -> dict[str, Any]:
        """How many strengths were tried, and why no more."""
        return {
            "criterion": self.criterion,
            "strengths": len(self.alphas),
            "end": self.end.value,
            "cut_off": self.cut_off,
        }

    @classmethod
    def from_dict(cls, header: Mapping[str, Any]) -> NetworkPath:
        """From a model file, or a `ValueError` or `KeyError` that says what is wrong."""
        alphas, scores = np.array(header["alphas"], np.float64), np.array(header["scores"], np.float64)
        n_edges, best, end = np.array(header["n_edges"], np.int64), header["best"], PathEnd(header["end"])
        if alphas.ndim != 1 or not alphas.shape == scores.shape == n_edges.shape:
            raise ValueError("strengths, scores and numbers of edges must be lists of the same length")
        if not isinstance(best, int) or not 0 <= best < len(alphas):
            raise ValueError("the best strength is not one of the path")
        if not np.all(np.isfinite(alphas)):
            raise ValueError("a path has strengths that are no numbers")
        return cls(alphas, scores, n_edges, str(header["criterion"]), best, end)


@dataclass(frozen=True, eq=False)
class Stability:
    """On how many random halves of the rows edges were found. Pairs of variables that are not here: on none."""

    pairs: IntArray  # (n, 2): u < v, ascending
    frequencies: Array  # of each pair, the share of halves
    halves: int  # that were done
    wanted: int  # that were asked for; a time limit may leave some out
    threshold: float  # edges with at least this share are kept

    def to_dict(self) -> dict[str, Any]:
        """For model files and for JSON, without what is known of single pairs."""
        return {"halves": self.halves, "wanted": self.wanted, "threshold": self.threshold}

    def of_edges(self, edges: IntArray) -> Array:
        """The shares of some pairs."""
        known = {(u, v): share for (u, v), share in zip(self.pairs.tolist(), self.frequencies, strict=True)}
        return np.array([known.get((u, v), 0.0) for u, v in edges.tolist()])


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities of every variable's states, and how inference went."""

    states: tuple[Array, ...]  # (K_v,) for each variable
    log_z: float
    report: InferenceReport


def feature_bounds(arity: IntArray, edges: IntArray) -> IntArray:
    """Where the features of each variable begin, then those of each edge, and where the last end.

    >>> feature_bounds(np.array([2, 3, 1]), np.array([[0, 1]])).tolist()
    [0, 1, 3, 3, 5]
    """
    free = np.asarray(arity, np.int64) - 1
    sizes = np.concatenate([free, free[edges[:, 0]] * free[edges[:, 1]]])
    return np.concatenate([[0], np.cumsum(sizes)])


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """What learning leaves behind, and all that marginals, samples and drawings need.

    P(x) ∝ exp(Σ_v b(x_v)·w_v + Σ_{uv} b(x_u)ᵀ W_uv b(x_v)), with the sum-to-zero contrasts b(·) of
    `parsimon.designs.mrf`: ±1 for two states. `weights` has the w_v of all variables, then the W_uv of all `edges`.

    >>> states = (("no", "yes"), ("dry", "wet"))
    >>> model = NetworkModel(("rain", "street"), states, np.array([[0, 1]]), np.array([0.0, 0.0, 1.0]))
    >>> given = model.marginals({"rain": "yes"})
    >>> given.states[1].round(3).tolist()
    [0.119, 0.881]
    """

    kind: ClassVar[str] = "network"
    names: tuple[str, ...]
    categories: tuple[tuple[State, ...], ...]
    edges: IntArray  # (E, 2): u < v, ascending
    weights: Array
    info: dict[str, Any] = field(default_factory=dict)
    alpha: float | None = None  # the strength of the penalty
    loss: str = "pseudo-likelihood"
    inference: str = "bp"
    path: NetworkPath | None = None  # how alpha was chosen
    stability: Stability | None = None
    bins: Bins = field(default_factory=dict)  # of variables that were numbers
    left_out: tuple[str, ...] = ()  # columns of the table that are no variables

    # ---- what it is made of --------------------------------------------------------------------------------

    @cached_property
    def arity(self) -> IntArray:
        """How many states each variable has."""
        return np.array([len(states) for states in self.categories], np.int64)

    @cached_property
    def bounds(self) -> IntArray:
        """Where the weights of each variable begin, then those of each edge."""
        return feature_bounds(self.arity, self.edges)

    @property
    def score_method(self) -> str:
        """The likelihood by which rows are scored: that of the loss, as far as inference finds it."""
        return METHODS[self.inference] if self.loss == "log" else "pseudo-likelihood"

    @property
    def n_features(self) -> int:
        """How many weights there must be."""
        return int(self.bounds[-1])

    def features_of_node(self, v: int) -> IntArray:
        """The numbers of a variable's weights."""
        return np.arange(self.bounds[v], self.bounds[v + 1])

    def features_of_edge(self, e: int) -> IntArray:
        """The numbers of an edge's weights."""
        at = len(self.names) + e
        return np.arange(self.bounds[at], self.bounds[at + 1])

    @cached_property
    def graph(self) -> Graph:
        """The variables and the edges that are left."""
        return Graph.single(self.arity, self.edges)

    @cached_property
    def scores(self) -> MRFParts:
        """What every state, and every pair of states along an edge, adds to the logarithm of P."""
        parts: MRFParts = MRFDesign.contrasts(self.graph).scores(self.weights)
        return parts

    # ---- edges ---------------------------------------------------------------------------------------------

    @cached_property
    def signed(self) -> BoolArray:
        """Whether both ends of an edge have two states, so that its strength has a sign."""
        return np.asarray(np.all(self.arity[self.edges] == 2, axis=1))

    @cached_property
    def strengths(self) -> Array:
        """The norm of each edge's weights; of binary pairs, the one weight itself."""
        out = np.zeros(len(self.edges))
        for e, signed in enumerate(self.signed.tolist()):
            weights = self.weights[self.features_of_edge(e)]
            out[e] = weights[0] if signed else np.linalg.norm(weights)
        return out

    def strongest(self, top: int | None = None, variable: str | None = None) -> list[Edge]:
        """The edges, the strongest first; those of one variable only, if it is named."""
        chosen = np.arange(len(self.edges))
        if variable is not None:
            chosen = np.flatnonzero(np.any(self.edges == self.number(variable), axis=1))
        frequencies = None if self.stability is None else self.stability.of_edges(self.edges)
        order = chosen[np.argsort(-np.abs(self.strengths[chosen]), kind="stable")][:top]
        return [
            Edge(
                self.names[self.edges[e, 0]],
                self.names[self.edges[e, 1]],
                float(self.strengths[e]),
                bool(self.signed[e]),
                None if frequencies is None else float(frequencies[e]),
            )
            for e in order.tolist()
        ]

    # ---- probabilities -------------------------------------------------------------------------------------

    def number(self, variable: str) -> int:
        """The place of a variable, by its name."""
        if variable not in self.names:
            close = nearest(str(variable), self.names)
            hint = f"did you mean {close!r}?" if close else "its variables are its table's columns."
            raise ParsimonError(f"the network has no variable {variable!r}; {hint}")
        return self.names.index(variable)

    def known(self, evidence: Evidence | None) -> IntArray:
        """The numbers of the states that are given (or of the bins of numbers), −1 where none is."""
        out = np.full(len(self.names), -1)
        for name, state in (evidence or {}).items():
            v, states = self.number(name), self.categories[self.number(name)]
            out[v] = code_of(state, states, self.bins.get(name))
            if out[v] < 0:
                raise ParsimonError(unknown_state(name, plain(state), states))
        return out

    def encode(self, X: Any) -> IntArray:
        """The rows of a table as numbers of states."""
        return encode(X, self.names, self.categories, bins=self.bins, left_out=self.left_out)

    def _field(self, evidence: Evidence | None, inference: str, threads: int) -> tuple[PairwiseMRF, MRFParts]:
        """The structure, and scores under which what is given is certain."""
        structure = PairwiseMRF(self.graph, inference=INFERENCE[inference](), threads=threads)
        return structure, structure.constrain(self.scores, self.known(evidence))

    def marginals(
        self, evidence: Evidence | None = None, *, inference: str = "bp", threads: int = 1
    ) -> Marginals:
        """The probability of every state of every variable, given the states of some."""
        structure, scores = self._field(evidence, inference, threads)
        log_z, parts = structure.marginals(scores)
        assert structure.inference_report is not None
        states = tuple(np.split(parts.node, self.graph.node_at[1:-1]))
        return Marginals(states, float(log_z[0]), structure.inference_report)

    def most_likely(
        self, evidence: Evidence | None = None, *, inference: str = "bp", threads: int = 1
    ) -> tuple[IntArray, InferenceReport]:
        """The states of all variables that are likeliest together, given those of some."""
        structure, scores = self._field(evidence, inference, threads)
        _, states = structure.argmax(scores)
        assert structure.inference_report is not None
        return np.asarray(states, np.int64), structure.inference_report

    def sample(
        self,
        n: int,
        evidence: Evidence | None = None,
        *,
        seed: int = 0,
        burn_in: int = 200,
        thin: int = 10,
        threads: int = 1,
    ) -> IntArray:
        """Rows of states by Gibbs sampling, (n, variables): `thin` sweeps from one draw of a chain to its next."""
        structure, scores = self._field(evidence, "bp", threads)
        draws = structure.sample(scores, n, seed, burn_in=burn_in, thin=thin, chains=CHAINS)
        return np.asarray(draws, np.int64)

    def conditional_scores(self, codes: IntArray) -> list[Array]:
        """Of every variable, what its states score given the others in each row: (rows, K_v) each."""
        node, edge = (
            np.split(values, at[1:-1])
            for values, at in (
                (self.scores.node, self.graph.node_at),
                (self.scores.edge, self.graph.edge_at),
            )
        )
        out = [np.broadcast_to(own, (len(codes), len(own))) for own in node]
        for (u, v), flat in zip(self.edges.tolist(), edge, strict=False):
            table = flat.reshape(len(node[u]), len(node[v]))
            out[u] = out[u] + table.T[codes[:, v]]
            out[v] = out[v] + table[codes[:, u]]
        return out

    def log_likelihood(self, codes: IntArray, method: str = "exact", *, threads: int = 1) -> Array:
        """Of every row: log P, with log Z as belief propagation (``bethe``) or a junction tree (``exact``) finds it;
        or the log pseudo-likelihood Σ_v log P(x_v | the others).
        """
        if method == "pseudo-likelihood":
            return sum(
                (
                    _log_softmax_at(scores, codes[:, v])
                    for v, scores in enumerate(self.conditional_scores(codes))
                ),
                np.zeros(len(codes)),
            )
        if method not in SCORES:
            raise ParsimonError(
                f"there is no score {method!r}; choose from pseudo-likelihood, {', '.join(SCORES)}."
            )
        log_z = self.marginals(inference=SCORES[method], threads=threads).log_z
        out = np.full(len(codes), -log_z)
        for v, at in enumerate(self.graph.node_at[:-1].tolist()):
            out += self.scores.node[at + codes[:, v]]
        for (u, v), at in zip(self.edges.tolist(), self.graph.edge_at[:-1].tolist(), strict=True):
            out += self.scores.edge[at + codes[:, u] * self.arity[v] + codes[:, v]]
        return out


def _log_softmax_at(scores: Array, which: IntArray) -> Array:
    return np.asarray(scores[np.arange(len(scores)), which] - np.logaddexp.reduce(scores, axis=1))
