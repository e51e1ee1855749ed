"""Linear chains: a label at every token, scored by itself and together with the label before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.base import Oracle
from parsimon.workspace import Workspace


@dataclass
class ChainParts:
    """A number for every part of a batch of chains: scores, marginals or indicators.

    ``node[t, y]``: label y at token t. ``pair[k, x, y]``: label x followed by y in a step of kind k. All steps
    of one kind are scored alike, so their marginals are summed.
    """

    node: Array  # (n_tokens, Y)
    pair: Array  # (n_kinds, Y, Y)

    def subtract(self, other: ChainParts) -> None:
        """``self -= other``."""
        self.node -= other.node
        self.pair -= other.pair

    def scale(self, factor: float) -> None:
        """``self *= factor``."""
        self.node *= factor
        self.pair *= factor


class Chain:
    """A batch of label sequences, laid end to end.

    >>> import numpy as np
    >>> from parsimon.structures import Chain, ChainParts
    >>> chain = Chain(lengths=[3], n_labels=2)
    >>> scores = ChainParts(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]), np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> best, labels = chain.argmax(scores)
    >>> labels.tolist(), float(best[0])
    ([0, 0, 1], 4.0)
    """

    oracles: ClassVar[frozenset[Oracle]] = frozenset(Oracle)
    exact: ClassVar[bool] = True

    def __init__(
        self,
        lengths: IntArray | list[int],
        n_labels: int,
        *,
        pair_kind: IntArray | None = None,
        n_kinds: int = 1,
        weights: Array | None = None,
        threads: int = 1,
        workspace: Workspace | None = None,
    ) -> None:
        lengths = np.asarray(lengths)
        self.offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=self.offsets[1:])
        n_tokens = int(self.offsets[-1])
        if pair_kind is None:
            pair_kind = np.zeros(n_tokens, np.int32)
        self.pair_kind = np.ascontiguousarray(pair_kind, np.int32)
        self.n_labels = n_labels
        self.n_kinds = n_kinds
        self.weights = weights
        self.threads = threads
        self.first = 0  # the number of the first sequence, for messages
        self._workspace = workspace or Workspace()
        self.compiled = _core.Chain(self.offsets, self.pair_kind, weights, n_labels, n_kinds)

    @property
    def n_instances(self) -> int:
        """How many sequences there are."""
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all sequences."""
        return int(self.offsets[-1])

    def argmax(self, scores: ChainParts) -> tuple[Array, IntArray]:
        """The best label sequences (Viterbi), and their scores."""
        best = np.empty(self.n_instances)
        labels = np.empty(self.n_tokens, np.int32)
        if not self.compiled.argmax(scores.node, scores.pair, best, labels, self.threads):
            raise self._infeasible(best)
        return best, labels

    def cost_argmax(self, scores: ChainParts, gold: IntArray, cost: float = 1.0) -> tuple[Array, IntArray]:
        """argmax of score + cost · (number of labels that differ from gold). Unknown gold labels cost nothing."""
        node = self.augment(scores, gold, cost).node
        return self.argmax(ChainParts(node, scores.pair))

    def augment(self, scores: ChainParts, gold: IntArray, cost: float) -> ChainParts:
        """New scores, with `cost` added to every label that differs from gold."""
        node = scores.node.copy()
        known = np.flatnonzero(gold >= 0)
        node[known] += cost
        node[known, gold[known]] -= cost
        return ChainParts(node, scores.pair.copy())

    def marginals(self, scores: ChainParts) -> tuple[Array, ChainParts]:
        """log Z and marginals (forward–backward). Node marginals take the place of the node scores."""
        log_z = np.empty(self.n_instances)
        pair = np.empty_like(scores.pair)
        scratch = self._workspace.array("chain", 2 * self.n_tokens, self.n_labels + 3).reshape(-1)
        if not self.compiled.marginals(
            scores.node, scores.pair, log_z, scores.node, pair, scratch, self.threads
        ):
            raise self._infeasible(log_z)
        return log_z, ChainParts(scores.node, pair)

    def variances(self, marginals: ChainParts) -> ChainParts:
        """p(1 − p) of every part, those of pairs with p(x, y) taken as p(x) p(y): the Hessian's diagonal, nearly."""
        out = ChainParts(np.empty_like(marginals.node), np.empty_like(marginals.pair))
        self.compiled.variances(marginals.node, out.node, out.pair, self.threads)
        return out

    def kbest(self, scores: ChainParts, k: int) -> tuple[Array, IntArray]:
        """The k best label sequences: scores (k, n_sequences), −∞ where there are fewer; labels (k, n_tokens)."""
        values = np.empty((k, self.n_instances))
        labels = np.empty((k, self.n_tokens), np.int32)
        self.compiled.kbest(scores.node, scores.pair, values, labels, self.threads)
        return values, labels

    def sample(self, scores: ChainParts, n: int = 1, seed: int = 0) -> IntArray:
        """n draws from p(y) ∝ exp(score): labels (n, n_tokens). The same for any number of threads."""
        labels = np.empty((n, self.n_tokens), np.int32)
        if not self.compiled.sample(scores.node, scores.pair, seed, labels, self.threads):
            raise ParsimonError("some sequence has no possible labelling under the given constraints.")
        return labels

    def score(self, scores: ChainParts, output: IntArray) -> Array:
        """The score of complete label sequences."""
        out = np.empty(self.n_instances)
        self.compiled.score(
            scores.node, scores.pair, np.ascontiguousarray(output, np.int32), out, self.threads
        )
        return out

    def indicators(self, output: IntArray) -> ChainParts:
        """Ones (or the sequence's weight) at the parts of complete label sequences."""
        parts = ChainParts(
            np.zeros((self.n_tokens, self.n_labels)), np.zeros((self.n_kinds, self.n_labels, self.n_labels))
        )
        self.add_output(parts, output, 1.0)
        return parts

    def add_output(self, parts: ChainParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        self.compiled.add(np.ascontiguousarray(output, np.int32), times, parts.node, parts.pair)

    def missed(self, parts: ChainParts, gold: IntArray) -> float:
        """Σ over tokens of 1 − μ(gold label), where `parts` is μ − gold."""
        known = np.flatnonzero(gold >= 0)
        return -float(parts.node[known, gold[known]].sum())

    def constrain(self, scores: ChainParts, output: IntArray) -> ChainParts:
        """−∞ for every other label where `output` gives one (−1 leaves a token free)."""
        node = scores.node.copy()
        given = np.flatnonzero(output >= 0)
        kept = node[given, output[given]]
        node[given] = -np.inf
        node[given, output[given]] = kept
        return ChainParts(node, scores.pair)

    def weigh(self, values: Array) -> float:
        """Σ weight · value over sequences."""
        return float(np.sum(values if self.weights is None else values * self.weights))

    def _infeasible(self, values: Array) -> ParsimonError:
        which = int(np.flatnonzero(~(values > -np.inf))[0])
        if np.isnan(values[which]):
            return ParsimonError(f"the scores of sequence {which + self.first} are not numbers (NaN).")
        return ParsimonError(
            f"sequence {which + self.first} has no possible labelling under the given constraints."
        )
