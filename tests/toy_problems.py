"""Small random learning problems, and their objective by enumeration, with Φ as a plain matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brute_force import Enumeration, enumerate_forest
from parsimon.designs.chains import build_chain
from parsimon.designs.feature_index import FeatureIndex
from parsimon.features.links import Links
from parsimon.features.observations import Observations, Rows
from parsimon.losses import get_loss
from parsimon.penalties import ElasticNet, Penalty
from parsimon.problem import Batch, InMemoryProblem
from parsimon.structures import Chain, Tree


@dataclass(frozen=True)
class Toy:
    """Observations and gold labels of a few short sequences or small trees."""

    observations: Observations
    gold: Any
    n_labels: int
    n_node: int
    n_pair: int
    weights: Any = None
    candidates: str = "all"

    @property
    def index(self) -> FeatureIndex:
        if self.candidates == "seen":
            return FeatureIndex.seen_pairs(
                self.observations, self.gold, self.n_labels, self.n_node, self.n_pair
            )
        return FeatureIndex.all_labels(self.n_labels, self.n_node, self.n_pair)

    def problem(
        self, loss: Any = "log", penalty: Penalty | None = None, *, batch: int = 7, threads: int = 1
    ) -> InMemoryProblem:
        """The problem, in batches of about that many tokens."""
        batches = []
        for chosen, tokens, part in self.observations.batches(batch):
            weights = None if self.weights is None else self.weights[chosen]
            design, chain = build_chain(part, self.index, weights=weights, threads=threads)
            batches.append(Batch(design, chain, self.gold[tokens]))
        return InMemoryProblem(tuple(batches), get_loss(loss), penalty or ElasticNet(), self.index.n_features)

    def before(self, tokens: slice) -> Any:
        """Where the steps of one sequence or tree come from, counted from its first token."""
        before = self.observations.before[tokens]
        return np.where(before < 0, -1, before - tokens.start)

    def structure(self, tokens: slice) -> Chain:
        """One sequence or tree, every step with a matrix of its own."""
        length = tokens.stop - tokens.start
        kinds = {"pair_kind": np.arange(length), "n_kinds": length}
        if self.observations.links is None:
            return Chain([length], self.n_labels, **kinds)  # type: ignore[arg-type]
        return Tree([length], self.before(tokens), self.n_labels, **kinds)  # type: ignore[arg-type]

    def enumerations(self, w: Any) -> Iterator[tuple[slice, float, Enumeration]]:
        """Tokens, weight and all labellings of every sequence, scored by definition."""
        node_map, pair_map = dense_map(self.index, self.observations)
        node, pair = node_map @ w, pair_map @ w
        at = 0
        for i, length in enumerate(self.observations.lengths.tolist()):
            tokens = slice(at, at + length)
            at += length
            weight = 1.0 if self.weights is None else float(self.weights[i])
            yield tokens, weight, enumerate_forest(node[tokens], pair[tokens], self.before(tokens))

    def loss(self, name: str, w: Any) -> float:
        """Σ loss from the definitions."""
        total = 0.0
        for tokens, weight, outputs in self.enumerations(w):
            gold = self.gold[tokens]
            if name == "log":
                value = outputs.log_z - outputs.agreeing(gold).log_z
            elif name == "hinge":
                value = outputs.with_cost(gold, 1.0).best()[0] - outputs.score_of(gold)
            else:
                value = outputs.best()[0] - outputs.score_of(gold)
            total += weight * value
        return total


def dense_map(index: FeatureIndex, observations: Observations) -> tuple[Any, Any]:
    """Φ as arrays: (tokens, labels, features) and (tokens, labels, labels, features)."""
    Y, n = index.n_labels, index.n_features
    parts = []
    for rows, features, first, width in (
        (observations.node, index.node, 0, Y),
        (observations.pair, index.pair, index.node.n_features, Y * Y),
    ):
        phi = np.zeros((len(rows), width, n))
        attribute, column = features.describe(np.arange(features.n_features, dtype=np.int64))
        for r in range(len(rows)):
            for i in range(rows.start[r], rows.start[r + 1]):
                value = 1.0 if rows.value is None else rows.value[i]
                for k in np.flatnonzero(attribute == rows.index[i]):
                    phi[r, column[k], first + k] += value
        parts.append(phi)
    return parts[0], parts[1].reshape(-1, Y, Y, n)


def random_rows(rng: np.random.Generator, n: int, n_attributes: int, real: bool) -> Rows:
    """Zero to three attributes a row, sometimes the same one twice."""
    counts = rng.integers(0, 4, n)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    index = rng.integers(n_attributes, size=int(start[-1])).astype(np.int32)
    return Rows(start, index, rng.normal(size=len(index)) if real else None)


def random_parents(rng: np.random.Generator, lengths: Sequence[int], roots: float = 0.2) -> Any:
    """The parent of every node of random forests, whose nodes come in any order."""
    parents, at = [], 0
    for length in lengths:
        place = at + rng.permutation(length)
        parent = np.full(length, -1)
        for t in range(1, length):
            if rng.random() >= roots:
                parent[place[t] - at] = place[rng.integers(t)]
        parents.append(parent)
        at += length
    return np.concatenate([np.zeros(0, np.int64), *parents]).astype(np.int32)


def make_toy(
    seed: int,
    *,
    lengths: tuple[int, ...] = (3, 1, 0, 4, 2),
    n_labels: int = 3,
    n_node: int = 5,
    n_pair: int = 2,
    real: bool = False,
    weighted: bool = False,
    missing: float = 0.0,
    candidates: str = "all",
    trees: bool = False,
) -> Toy:
    """Random observations and labels, the same for the same seed."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    observations = Observations(
        random_rows(rng, n, n_node, real),
        random_rows(rng, n, n_pair, real) if n_pair else Rows.identical(n, 0),
        np.array(lengths, np.int32),
        Links(random_parents(rng, lengths)) if trees else None,
    )
    gold = rng.integers(n_labels, size=n).astype(np.int32)
    gold[rng.random(n) < missing] = -1
    weights = rng.uniform(0.0, 2.0, len(lengths)) if weighted else None
    return Toy(observations, gold, n_labels, n_node, n_pair, weights, candidates)


def by_cvxpy(toy: Toy, loss: str, penalty: ElasticNet, prices: Any = None) -> float:
    """The optimum of the problem written out over all labellings."""
    import cvxpy as cp

    n = toy.index.n_features
    node_map, pair_map = dense_map(toy.index, toy.observations)
    w = cp.Variable(n)
    c = np.ones(n) if penalty.weight is None else penalty.weight
    total = penalty.l1 * (c @ cp.abs(w)) + penalty.l2 / 2 * (c @ cp.square(w))
    for tokens, weight, outputs in toy.enumerations(np.zeros(n)):
        if not outputs.length:
            continue
        here, y = np.arange(tokens.start, tokens.stop), outputs.labellings
        steps = np.flatnonzero(outputs.before >= 0)
        pairs = pair_map[here[steps], y[:, outputs.before[steps]], y[:, steps]]
        features = node_map[here, y].sum(axis=1) + pairs.sum(axis=1)
        gold = int(np.flatnonzero((y == toy.gold[tokens]).all(axis=1))[0])
        cost = (y != toy.gold[tokens]).sum(axis=1) if loss == "hinge" else np.zeros(len(y))
        if prices is not None:
            cost = prices[toy.gold[tokens], y].sum(axis=1)
        gather = cp.log_sum_exp if loss == "log" else cp.max
        total += weight * (gather((features - features[gold]) @ w + cost))
    problem = cp.Problem(cp.Minimize(total))
    problem.solve(solver=cp.CLARABEL)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return float(problem.value)
