"""Linear chains: a label at every token, scored by itself and together with the label before it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.magnitudes import check_scores
from parsimon.structures.base import Oracle
from parsimon.structures.workspace import Workspace


@dataclass(frozen=True)
class Posterior:
    """What forward and backward found: the probability of any label pair at any step can be had from it."""

    compiled: _core.ChainPosterior
    node: Array  # marginals of labels


@dataclass
class Origins:
    """What parts are the sum of: Σ sign · marginals + Σ times · indicators of an output."""

    posteriors: list[tuple[float, Posterior]] = field(default_factory=list)
    outputs: list[tuple[float, IntArray]] = field(default_factory=list)


@dataclass
class ChainParts:
    """A number for every part of a batch of chains: scores, marginals or indicators.

    ``node[t, y]``: label y at token t. ``pair[k, x, y]``: label x followed by y in a step whose matrix is k.
    ``single[e]``: a single pair of labels in steps of a row (see `PairLayout`). All steps of one kind or row are
    scored alike, so their marginals are summed. A chain `with_own_memory` also records what its parts came from.
    """

    node: Array  # (n_tokens, Y)
    pair: Array  # (n_kinds, Y, Y)
    single: Array = field(default_factory=lambda: np.zeros(0))  # (n_singles,)
    origins: Origins | None = None

    def subtract(self, other: ChainParts) -> None:
        """``self -= other``."""
        self.node -= other.node
        self.pair -= other.pair
        self.single -= other.single
        if self.origins is not None and other.origins is not None:
            self.origins.posteriors += [(-sign, p) for sign, p in other.origins.posteriors]
            self.origins.outputs += [(-times, labels) for times, labels in other.origins.outputs]

    def scale(self, factor: float) -> None:
        """``self *= factor``."""
        self.node *= factor
        self.pair *= factor
        self.single *= factor


@dataclass(frozen=True)
class PairLayout:
    """How label pairs are scored: by a matrix that many steps share, by single pairs, or by both added up.

    With hundreds of labels and few weights that are not zero, most steps need a handful of pairs, not a matrix.
    """

    kind: IntArray  # (n_tokens,): the matrix of the step into each token, −1 for none
    n_kinds: int
    row: IntArray | None = None  # (n_tokens,): its row of single pairs, −1 for none
    row_kind: IntArray | None = None  # (n_rows,): the matrix that all steps of a row have
    single_start: IntArray | None = None  # (n_rows + 1,)
    single: IntArray | None = None  # (n_singles,): x · 65536 + y, ascending within a row

    @property
    def n_singles(self) -> int:
        """How many single pairs there are in all rows."""
        return 0 if self.single is None else len(self.single)


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

    oracles: ClassVar[frozenset[Oracle]] = frozenset(Oracle) - {Oracle.MEAN, Oracle.CONDITIONALS}
    exact: ClassVar[bool] = True
    draws_independently: ClassVar[bool] = True
    instance: ClassVar[str] = "sequence"  # what an instance is called in messages
    steps: ClassVar[int] = 1  # so many lead into each token

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
        layout: PairLayout | None = None,
    ) -> None:
        lengths = np.asarray(lengths)
        self.offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=self.offsets[1:])
        n_tokens = int(self.offsets[-1])
        if layout is None:
            kinds = np.zeros(n_tokens * self.steps, np.int32) if pair_kind is None else pair_kind
            layout = PairLayout(np.ascontiguousarray(kinds, np.int32), n_kinds)
        self.n_labels = n_labels
        self.weights = weights
        self.threads = threads
        self.first = 0  # the number of the first sequence, for messages
        self._workspace: Workspace | None = workspace or Workspace()
        self._lay_out(layout)

    def _lay_out(self, layout: PairLayout) -> None:
        self.layout = layout
        self.compiled = _core.Chain(
            self.offsets,
            layout.kind,
            self.weights,
            self.n_labels,
            layout.n_kinds,
            layout.row,
            layout.row_kind,
            layout.single_start,
            layout.single,
        )

    def with_layout(self, layout: PairLayout) -> Self:
        """The same sequences with label pairs scored in another way."""
        other = copy(self)
        other._lay_out(layout)
        return other

    def cost(self, gold: IntArray, output: IntArray, cost: float | Array) -> Array:
        """Σ of cost · [wrong label], or of cost[gold, label], over the tokens of every sequence."""
        of_tokens = cost[gold, output] if isinstance(cost, np.ndarray) else cost * (gold != output)
        sequence = np.repeat(np.arange(self.n_instances), np.diff(self.offsets))
        total: Array = np.bincount(sequence, of_tokens, minlength=self.n_instances).astype(np.float64)
        return total

    def part(self, first: int, last: int) -> tuple[Self, slice]:
        """The sequences from `first` to before `last`, all steps scored alike, and where their tokens are."""
        where = slice(int(self.offsets[first]), int(self.offsets[last]))
        other = copy(self)
        other._workspace = Workspace()
        other.weights = None if self.weights is None else self.weights[first:last]
        other.offsets = self.offsets[first : last + 1] - self.offsets[first]
        other.first = self.first + first
        other._take_part(where)
        other._lay_out(PairLayout(np.zeros((where.stop - where.start) * self.steps, np.int32), 1))
        return other, where

    def _take_part(self, where: slice) -> None:
        """Leaves only some tokens; for what a structure knows of tokens beyond their number."""

    def with_own_memory(self) -> Self:
        """The same sequences; its parts record what they came from, and stay valid when others are made."""
        other = copy(self)
        other._workspace = None
        return other

    def alone(self, worker: int) -> Self:
        """The same sequences on one thread, in memory that is this worker's own."""
        other = copy(self)
        other.threads = 1
        other._workspace = None if self._workspace is None else self._workspace.of_worker(worker)
        return other

    @property
    def before(self) -> IntArray:
        """The token that the step into each token comes from, −1 for the first of a sequence."""
        before = np.arange(-1, self.n_tokens - 1, dtype=np.int32)
        before[self.offsets[:-1][np.diff(self.offsets) > 0]] = -1
        return before

    @property
    def pair_kind(self) -> IntArray:
        """The matrix of the step into each token, −1 for none."""
        return self.layout.kind

    @property
    def n_kinds(self) -> int:
        """How many matrices of pair scores there are."""
        return self.layout.n_kinds

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
        self._check(scores)
        best = np.empty(self.n_instances)
        labels = np.empty(self.n_tokens, np.int32)
        if not self.compiled.argmax(scores.node, scores.pair, scores.single, best, labels, self.threads):
            raise self._infeasible(best)
        return best, labels

    def cost_argmax(
        self, scores: ChainParts, gold: IntArray, cost: float | Array = 1.0
    ) -> tuple[Array, IntArray]:
        """argmax of score + cost of labels that differ from gold. Where gold is not known nothing costs anything."""
        node = self.augment(scores, gold, cost).node
        return self.argmax(ChainParts(node, scores.pair, scores.single))

    def augment(self, scores: ChainParts, gold: IntArray, cost: float | Array) -> ChainParts:
        """New scores, with its cost added to every label that differs from gold."""
        node = scores.node.copy()
        known = np.flatnonzero(gold >= 0)
        if isinstance(cost, np.ndarray):
            node[known] += cost[gold[known]]
        else:
            node[known] += cost
            node[known, gold[known]] -= cost
        return ChainParts(node, scores.pair.copy(), scores.single.copy())

    def marginals(self, scores: ChainParts) -> tuple[Array, ChainParts]:
        """log Z and marginals (forward–backward). Node marginals take the place of the node scores."""
        log_z = np.empty(self.n_instances)
        pair, single = np.empty_like(scores.pair), np.empty_like(scores.single)
        kept, scratch = None, np.zeros(0)
        if self._workspace is None:
            kept = _core.ChainPosterior()
        else:
            scratch = self._workspace.array("chain", 2 * self.n_tokens, self.n_labels + 3).reshape(-1)
        if not self.compiled.marginals(
            scores.node,
            scores.pair,
            scores.single,
            log_z,
            scores.node,
            pair,
            single,
            scratch,
            kept,
            self.threads,
        ):
            raise self._infeasible(log_z)
        check_scores(self.instance, log_z)
        origins = None if kept is None else Origins([(1.0, Posterior(kept, scores.node.copy()))])
        return log_z, ChainParts(scores.node, pair, single, origins)

    def minimum_risk(self, scores: ChainParts, gather: Callable[[Array], Array] | None = None) -> IntArray:
        """The labellings with the largest sum of marginals: the fewest wrong labels are expected of them.

        What is not possible stays so. If it is not labels that should be right but what several of them stand for,
        `gather` adds up their probabilities (tokens × labels).

        >>> import numpy as np
        >>> from parsimon.structures import Chain, ChainParts
        >>> chain, pair = Chain([2], n_labels=2), np.array([[[-9.0, 0.0], [-0.2, -0.2]]])
        >>> scores = ChainParts(np.zeros((2, 2)), pair)
        >>> chain.argmax(scores)[1].tolist(), chain.minimum_risk(scores).tolist()
        ([0, 1], [1, 1])
        """
        possible = scores.node > -np.inf
        pair, single = (np.where(np.isneginf(each), each, 0.0) for each in (scores.pair, scores.single))
        _, parts = self.marginals(ChainParts(scores.node.copy(), scores.pair, scores.single))
        worth = parts.node if gather is None else gather(parts.node)
        return self.argmax(ChainParts(np.where(possible, worth, -np.inf), pair, single))[1]

    def variances(self, marginals: Array) -> ChainParts:
        """p(1 − p) of every part from the marginals of labels, those of pairs with p(x, y) taken as p(x) p(y).

        That is the Hessian's diagonal by part scores, nearly.
        """
        out = self._zeros()
        self.compiled.variances(marginals, out.node, out.pair, out.single, self.threads)
        return out

    def _zeros(self) -> ChainParts:
        Y = self.n_labels
        return ChainParts(
            np.zeros((self.n_tokens, Y)), np.zeros((self.n_kinds, Y, Y)), np.zeros(self.layout.n_singles)
        )

    def kbest(self, scores: ChainParts, k: int) -> tuple[Array, IntArray]:
        """The k best label sequences: scores (k, n_sequences), −∞ where there are fewer; labels (k, n_tokens)."""
        self._check(scores)
        values = np.empty((k, self.n_instances))
        labels = np.empty((k, self.n_tokens), np.int32)
        self.compiled.kbest(scores.node, scores.pair, scores.single, values, labels, self.threads)
        return values, labels

    def sample(self, scores: ChainParts, n: int = 1, seed: int = 0) -> IntArray:
        """n draws from p(y) ∝ exp(score): labels (n, n_tokens). The same for any number of threads."""
        self._check(scores)
        labels = np.empty((n, self.n_tokens), np.int32)
        if not self.compiled.sample(scores.node, scores.pair, scores.single, seed, labels, self.threads):
            raise ParsimonError(
                f"some {self.instance} has no possible labelling under the given constraints."
            )
        return labels

    def score(self, scores: ChainParts, output: IntArray) -> Array:
        """The score of complete label sequences."""
        out = np.empty(self.n_instances)
        self.compiled.score(
            scores.node, scores.pair, scores.single, np.ascontiguousarray(output, np.int32), out, self.threads
        )
        return out

    def indicators(self, output: IntArray) -> ChainParts:
        """Ones (or the sequence's weight) at the parts of complete label sequences."""
        parts = self._zeros()
        if self._workspace is None:
            parts.origins = Origins()
        self.add_output(parts, output, 1.0)
        return parts

    def add_output(self, parts: ChainParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        labels = np.ascontiguousarray(output, np.int32)
        self.compiled.add(labels, times, parts.node, parts.pair, parts.single)
        if parts.origins is not None:
            parts.origins.outputs.append((times, labels))

    def weight_of_tokens(self) -> Array:
        """The weight of each token's sequence."""
        lengths = np.diff(self.offsets)
        return np.repeat(np.ones(len(lengths)) if self.weights is None else self.weights, lengths)

    def expected_cost(self, parts: ChainParts, gold: IntArray, cost: float | Array) -> float:
        """Σ over tokens of Σ_y μ(y)·cost(gold, y), where `parts` is μ − gold; gold itself costs nothing.

        If all wrong labels cost the same, that is cost · (1 − μ(gold)) a token.
        """
        known = np.flatnonzero(gold >= 0)
        if isinstance(cost, np.ndarray):
            return float(np.sum(parts.node[known] * cost[gold[known]]))
        return -cost * float(parts.node[known, gold[known]].sum())

    def of_labels(self, node: Array) -> Array:
        """Of marginals of tokens, those of labels."""
        return node

    def log_outputs(self) -> Array:
        """Every token may have any label."""
        return np.asarray(np.diff(self.offsets) * np.log(self.n_labels))

    def constrain(self, scores: ChainParts, output: IntArray) -> ChainParts:
        """−∞ for every other label where `output` gives one (−1 leaves a token free)."""
        node = scores.node.copy()
        given = np.flatnonzero(output >= 0)
        kept = node[given, output[given]]
        node[given] = -np.inf
        node[given, output[given]] = kept
        return ChainParts(node, scores.pair, scores.single)

    def weigh(self, values: Array) -> float:
        """Σ weight · value over sequences."""
        return float(np.sum(values if self.weights is None else values * self.weights))

    def _check(self, scores: ChainParts) -> None:
        """Refuses scores of which `marginals` could make nothing, either."""
        check_scores(self.instance, scores.node, scores.pair, scores.single)

    def _infeasible(self, values: Array) -> ParsimonError:
        which = int(np.flatnonzero(~(values > -np.inf))[0])
        if np.isnan(values[which]):
            return ParsimonError(f"the scores of {self.instance} {which + self.first} are not numbers (NaN).")
        return ParsimonError(
            f"{self.instance} {which + self.first} has no possible labelling under the given constraints."
        )
