"""Enumeration: every labelling of a small chain or tree with its score, and so every answer an oracle can give.

Nothing here is clever, which is the point: sums run over all labellings, in extended precision.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.structures import Chain, ChainParts, Tree


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
