"""Φ: the sparse linear map from weights to part scores, built from observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from parsimon._core import (
    BlockDescent,
    FeatureRows,
    LinearMap,
    OnlineChain,
    SummedChain,
    distinct_rows,
    feature_differences,
    lay_out,
    screen_nodes,
    screen_pairs,
    seen_features,
)
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.features.observations import Observations
from parsimon.label_schemes import Transitions
from parsimon.structures.chain import Chain, ChainParts, PairLayout
from parsimon.structures.sibling_tree import SiblingTree
from parsimon.structures.tree import Tree
from parsimon.workspace import Workspace


class Design(Protocol):
    """The map Φ of one batch of instances, for a set of features."""

    @property
    def n_features(self) -> int:
        """The length of w."""
        ...

    def scores(self, w: Array) -> Any:
        """Φ w, as parts."""
        ...

    def scores_of(self, values: Array, features: IntArray) -> Any:
        """Φ w where only the given features (ascending) are not zero."""
        ...

    def pullback(self, parts: Any, out: Array) -> None:
        """out += Φᵀ parts."""
        ...

    def pullback_squared(self, parts: Any, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts, the values of features squared."""
        ...

    def restrict(self, features: IntArray) -> Design:
        """The map of some features only (ascending numbers)."""
        ...

    def adapt(self, structure: Any) -> Any:
        """The structure with parts as this design scores them: fewer features may need fewer parts."""
        ...

    def part(self, where: slice) -> Design:
        """The map of some instances: those whose outputs are there in an array of outputs."""
        ...

    def differences(self, structure: Any, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output) of every instance; features ascend from one element of the list to the next."""
        ...


# Sparse vectors, one an instance: the number of the first feature; where each vector starts; features, counted from
# that first one; values.
SparseVectors = tuple[int, IntArray, IntArray, Array]


@dataclass(frozen=True)
class FeatureIndex:
    """Which features there are: an attribute with a label, or an attribute of a step with a pair of labels.

    Features are numbered attribute by attribute, the labels' before the label pairs'.
    """

    n_labels: int
    node: FeatureRows
    pair: FeatureRows

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.node.n_features + self.pair.n_features

    @classmethod
    def all_labels(cls, n_labels: int, node_attributes: int, pair_attributes: int) -> FeatureIndex:
        """Every attribute with every label, and with every pair of labels: Wapiti's and CRF++'s way."""
        return cls(
            n_labels, FeatureRows(node_attributes, n_labels), FeatureRows(pair_attributes, n_labels**2)
        )

    @classmethod
    def seen_pairs(
        cls,
        observations: Observations,
        labels: IntArray,
        n_labels: int,
        node_attributes: int,
        pair_attributes: int,
    ) -> FeatureIndex:
        """Only (attribute, label) and (attribute, label, label) that occur in the data: CRFsuite's way."""
        steps, before = observations.steps
        previous = np.where(before < 0, -1, labels[before])
        own = np.repeat(labels, observations.steps_into_each)
        pairs = np.where((previous >= 0) & (own >= 0), previous * n_labels + own, -1)
        node = seen_features(
            observations.node.start, observations.node.index, labels, node_attributes, n_labels
        )
        pair = seen_features(steps.start, steps.index, pairs, pair_attributes, n_labels**2)
        return cls(n_labels, node, pair)

    def split(self, features: IntArray) -> tuple[IntArray, IntArray]:
        """Feature numbers as those of the node part and those of the pair part."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        return features[:cut], features[cut:] - n


@dataclass(frozen=True)
class Forbidden:
    """Labels that may not begin or end a sequence, and pairs that may not follow each other: they score −∞."""

    allowed: Transitions
    first: BoolArray  # (n_tokens,)
    last: BoolArray

    @classmethod
    def of(cls, allowed: Transitions, lengths: IntArray) -> Forbidden:
        """For sequences of these lengths."""
        ends = np.cumsum(lengths[lengths > 0])
        first, last = (np.zeros(int(lengths.sum()), bool) for _ in range(2))
        first[ends - lengths[lengths > 0]] = True
        last[ends - 1] = True
        return cls(allowed, first, last)

    def strike_out(self, scores: ChainParts) -> None:
        """In place."""
        scores.pair[:, ~self.allowed.pair] = -np.inf
        for at, possible in ((self.first, self.allowed.start), (self.last, self.allowed.end)):
            if not possible.all():
                scores.node[np.ix_(np.flatnonzero(at), np.flatnonzero(~possible))] = -np.inf

    def part(self, where: slice) -> Forbidden:
        """Of the sequences whose tokens these are."""
        return Forbidden(self.allowed, self.first[where], self.last[where])


@dataclass(frozen=True)
class PairDesign:
    """Φ where labels are scored one by one and in pairs.

    Tokens are scored one by one; steps by matrices that many of them share, and by single pairs. In trees tokens are
    nodes, and steps lead from parents to children. There may be several steps into each token.
    """

    n_labels: int
    node: LinearMap
    steps: LinearMap  # distinct rows of attributes of steps; what the two maps of pairs are made of
    step_row: IntArray  # (n_tokens · steps into each,): the distinct row of each step
    pair: LinearMap  # matrices
    single: LinearMap  # single pairs: one score each, of the weights that are added up there
    layout: PairLayout
    threads: int = 1
    workspace: Workspace | None = None
    forbidden: Forbidden | None = None

    @classmethod
    def build(
        cls,
        n_labels: int,
        node: LinearMap,
        steps: LinearMap,
        step_row: IntArray,
        *,
        matrices: bool = False,
        forbidden: Forbidden | None = None,
        threads: int = 1,
        workspace: Workspace | None = None,
    ) -> Self:
        """Decides which attributes of steps go into matrices; all of them, if told so or some pairs are forbidden."""
        matrices = matrices or forbidden is not None
        kind, pair, row, row_kind, start, single, sums = lay_out(steps, step_row, n_labels, matrices, threads)
        layout = PairLayout(kind, pair.n_rows)
        if len(single):
            layout = PairLayout(kind, pair.n_rows, row, row_kind, start, single)
        return cls(n_labels, node, steps, step_row, pair, sums, layout, threads, workspace, forbidden)

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.node.n_features + self.steps.n_features

    @property
    def _steps_into_each(self) -> int:
        return len(self.step_row) // max(self.node.n_rows, 1)

    def scores(self, w: Array) -> ChainParts:
        """Φ w."""
        Y, cut = self.n_labels, self.node.n_features
        rows = self.node.n_rows
        node = np.empty((rows, Y)) if self.workspace is None else self.workspace.array("scores", rows, Y)
        self.node.scores(w[:cut], node, self.threads)
        return self._possible(ChainParts(node, *self._pair_scores(w[cut:])))

    def scores_of(self, values: Array, features: IntArray) -> ChainParts:
        """Φ w where only the given features (ascending) are not zero; parts are those of all features."""
        Y, cut = self.n_labels, self.node.n_features
        at = np.searchsorted(features, cut)
        few = self.node.restrict(np.ascontiguousarray(features[:at], np.int64), self.threads)
        w = np.zeros(self.steps.n_features)
        w[features[at:] - cut] = values[at:]
        node = np.empty((self.node.n_rows, Y))
        few.scores(values[:at], node, self.threads)
        return self._possible(ChainParts(node, *self._pair_scores(w)))

    def _possible(self, scores: ChainParts) -> ChainParts:
        """The scores, −∞ for what is forbidden."""
        if self.forbidden is not None:
            self.forbidden.strike_out(scores)
        return scores

    def _pair_scores(self, w: Array) -> tuple[Array, Array]:
        Y = self.n_labels
        pair, single = np.empty((self.pair.n_rows, Y * Y)), np.empty((self.single.n_rows, 1))
        self.pair.scores(w, pair, self.threads)
        if self.layout.n_singles:
            self.single.scores(w, single, self.threads)
        return pair.reshape(len(pair), Y, Y), single.reshape(-1)

    def pullback(self, parts: ChainParts, out: Array) -> None:
        """out += Φᵀ parts."""
        self._pullback(parts, out, squared=False)

    def pullback_squared(self, parts: ChainParts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts."""
        self._pullback(parts, out, squared=True)

    def _pullback(self, parts: ChainParts, out: Array, *, squared: bool) -> None:
        cut = self.node.n_features
        self.node.pullback(parts.node, out[:cut], self.threads, squared)
        self.pair.pullback(
            parts.pair.reshape(len(parts.pair), self.n_labels**2), out[cut:], self.threads, squared
        )
        if self.layout.n_singles:
            self.single.pullback(parts.single.reshape(-1, 1), out[cut:], self.threads, squared)

    def restrict(self, features: IntArray) -> Self:
        """The map of some features only."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        node = self.node.restrict(np.ascontiguousarray(features[:cut], np.int64), self.threads)
        steps = self.steps.restrict(np.ascontiguousarray(features[cut:] - n, np.int64), self.threads)
        return self.build(
            self.n_labels,
            node,
            steps,
            self.step_row,
            forbidden=self.forbidden,
            threads=self.threads,
            workspace=self.workspace,
        )

    def part(self, where: slice) -> Self:
        """The map of the sequences whose tokens these are."""
        each = self._steps_into_each
        steps = slice(where.start * each, where.stop * each)
        rows, step_row = np.unique(self.step_row[steps], return_inverse=True)
        if not len(rows):  # a chain has at least one kind of steps
            rows = np.zeros(1, np.int64)
        return self.build(
            self.n_labels,
            self.node.take(np.arange(where.start, where.stop, dtype=np.int64)),
            self.steps.take(rows.astype(np.int64)),
            step_row.astype(np.int32),
            forbidden=None if self.forbidden is None else self.forbidden.part(where),
            threads=self.threads,
            workspace=self.workspace,
        )

    def differences(self, structure: Chain, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output): of tokens with another label, and of steps with another pair."""
        Y, cut = self.n_labels, self.node.n_features
        other, before = gold != output, structure.before
        into = np.repeat(np.arange(len(gold)), self._steps_into_each)
        tokens, steps = np.flatnonzero(other), np.flatnonzero((other[into] | other[before]) & (before >= 0))
        before, into = before[steps], into[steps]
        found = []
        for offset, map, at, row, one, two in (
            (0, self.node, tokens, tokens, gold[tokens], output[tokens]),
            (
                cut,
                self.steps,
                into,
                self.step_row[steps],
                gold[before] * Y + gold[into],
                output[before] * Y + output[into],
            ),
        ):
            start = np.searchsorted(at, structure.offsets)
            row, one, two = (np.ascontiguousarray(each, np.int32) for each in (row, one, two))
            found.append((offset, *feature_differences(map, start, row, one, two, self.threads)))
        return found

    def keeping(self) -> Self:
        """The same, with scores in memory of their own."""
        return replace(self, workspace=None)

    def adapt(self, structure: Chain) -> Chain:
        """The chain with label pairs scored as they are here."""
        return structure.with_layout(self.layout)


@dataclass(frozen=True)
class TreeDesign(PairDesign):
    """Φ for trees and chains, with one step into each token: screening and online learners work on these too."""

    def screen(
        self, batches: Sequence[tuple[TreeDesign, Chain, ChainParts]], threshold: float
    ) -> tuple[IntArray, Array]:
        """All features with a gradient above a threshold in absolute value, ascending, and their gradients.

        The gradient is Σ over batches of Φᵀ parts, with parts that a chain made while `keeping` where they came from;
        nothing is as long as the number of features, of which there may be billions.
        """
        first, nodes = screen_nodes([(d.node, p.node) for d, _, p in batches], threshold, self.threads)
        given = []
        for design, chain, parts in batches:
            assert parts.origins is not None
            terms = [(sign, p.compiled, p.node) for sign, p in parts.origins.posteriors]
            weight = chain.weight_of_tokens()
            outputs = [(times * weight, labels) for times, labels in parts.origins.outputs]
            given.append((design.steps, design.step_row, chain.compiled, terms, outputs))
        second, pairs = screen_pairs(given, threshold, self.threads)
        return np.concatenate([first, second + self.node.n_features]), np.concatenate([nodes, pairs])

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        return self.node.features.starts(), self.steps.features.starts() + self.node.n_features

    def new_learner(
        self, structure: Chain, node_block: IntArray, pair_block: IntArray, n_blocks: int
    ) -> OnlineChain:
        """An online learner for chains with these features; blocks part the attributes."""
        return OnlineChain(
            self.n_labels, self.node.features, self.steps.features, node_block, pair_block, n_blocks
        )

    def new_summed_learner(self, node_exempt: BoolArray, pair_exempt: BoolArray) -> SummedChain:
        """An online learner with a cumulative L1 penalty, except on the attributes marked."""
        return SummedChain(self.n_labels, self.node.features, self.steps.features, node_exempt, pair_exempt)

    def teach(self, learner: OnlineChain | SummedChain, structure: Chain, gold: IntArray) -> None:
        """Gives a learner this batch to learn from."""
        learner.add(
            self.node, self.steps, self.step_row, structure.compiled, np.ascontiguousarray(gold, np.int32)
        )


class SiblingDesign(PairDesign):
    """Φ for trees with two steps into each node, from the parent and from the sibling before; by matrices only."""

    @classmethod
    def build(cls, *args: Any, **settings: Any) -> Self:
        """With all attributes of steps in matrices."""
        return super().build(*args, **{**settings, "matrices": True})


@dataclass(frozen=True)
class ChainDesign(TreeDesign):
    """Φ for chains, which block coordinate descent works on too."""

    def new_descent(self) -> BlockDescent:
        """Block coordinate descent on chains with these features."""
        return BlockDescent(self.n_labels)

    def teach_descent(self, descent: BlockDescent, structure: Chain, gold: IntArray) -> None:
        """Gives it this batch."""
        descent.add(
            self.node, self.steps, self.step_row, structure.compiled, np.ascontiguousarray(gold, np.int32)
        )


def build_chain(
    observations: Observations,
    index: FeatureIndex,
    *,
    weights: Array | None = None,
    allowed: Transitions | None = None,
    threads: int = 1,
    workspace: Workspace | None = None,
) -> tuple[PairDesign, Chain]:
    """The design and the structure of a batch of sequences, or of trees where observations have links.

    `allowed` says which labels may follow each other or, where steps come from siblings too, be below each other.
    """
    rows, _ = observations.steps
    start, attributes, value, step_row = distinct_rows(rows.start, rows.index, rows.value)
    if len(start) == 1:  # no token, so no step; a chain has at least one kind of them
        start = np.zeros(2, np.int64)
    node = LinearMap(observations.node.start, observations.node.index, observations.node.value, index.node)
    steps = LinearMap(start, attributes, value, index.pair)
    shared: dict[str, Any] = {"threads": threads, "workspace": workspace}
    if observations.beside is not None:
        design: PairDesign = SiblingDesign.build(index.n_labels, node, steps, step_row, **shared)
        possible = None if allowed is None else np.concatenate([allowed.start[None], allowed.pair])
        return design, _tree(
            partial(SiblingTree, possible=possible), observations, design, weights=weights, **shared
        )
    forbidden = None if allowed is None else Forbidden.of(allowed, observations.lengths)
    kind = ChainDesign if observations.links is None else TreeDesign
    design = kind.build(index.n_labels, node, steps, step_row, forbidden=forbidden, **shared)
    if observations.links is not None:
        return design, _tree(Tree, observations, design, weights=weights, **shared)
    return design, Chain(
        observations.lengths, index.n_labels, layout=design.layout, weights=weights, **shared
    )


def _tree(kind: Callable[..., Tree], observations: Observations, design: PairDesign, **shared: Any) -> Tree:
    links = observations.links
    assert links is not None
    limits = {"node_kind": links.node_kind, "allowed": links.allowed}
    return kind(observations.lengths, links.parent, design.n_labels, layout=design.layout, **limits, **shared)


def width(observations: Observations, index: FeatureIndex, allowed: Transitions | None) -> int:
    """How many numbers a token takes up while a structure is at work on it."""
    if observations.beside is None:
        return index.n_labels
    if allowed is None:
        return index.n_labels * (index.n_labels + 1)
    return int(allowed.start.sum() + allowed.pair.sum())
