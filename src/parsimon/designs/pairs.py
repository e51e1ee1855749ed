"""Φ where labels are scored one by one and in pairs: chains and trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from parsimon._core import (
    BlockDescent,
    LinearMap,
    LogLossPass,
    OnlineChain,
    SummedChain,
    feature_differences,
    lay_out,
    restrict_maps,
    screen_nodes,
    screen_pairs,
)
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.base import SparseVectors, SteepFeatures
from parsimon.structures.chain import Chain, ChainParts, PairLayout
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace

# So many matrices, of so many features, are few: then screening finds the gradients of all of them.
FEW_KINDS, FEW_FEATURES = 16, 1 << 20


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
        """Decides which attributes of steps go into matrices: all, with `matrices` or if some pairs are forbidden."""
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

    def scores(self, w: Array, node: Array | None = None) -> ChainParts:
        """Φ w; `node` are scores of tokens that are known already."""
        Y, cut = self.n_labels, self.node.n_features
        rows = self.node.n_rows
        if node is None:
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
        return self._with_maps(node, steps)

    def _with_maps(self, node: LinearMap, steps: LinearMap) -> Self:
        """The same with fewer features."""
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

    def alone(self, worker: int) -> Self:
        """The same on one thread, in memory that is this worker's own."""
        memory = None if self.workspace is None else self.workspace.of_worker(worker)
        return replace(self, threads=1, workspace=memory)

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

    def adapt(self, structure: Chain) -> Chain:
        """The chain with label pairs scored as they are here."""
        return structure.with_layout(self.layout)


@dataclass(frozen=True)
class TreeDesign(PairDesign):
    """Φ for trees and chains, with one step into each token: screening and online learners work on these too."""

    @property
    def restricts_transitions(self) -> bool:
        """Whether some pairs of labels are forbidden."""
        return self.forbidden is not None

    def with_own_memory(self) -> Self:
        """The same, with scores in memory of their own."""
        return replace(self, workspace=None)

    def screen(
        self, batches: Sequence[tuple[TreeDesign, Chain, ChainParts]], threshold: float
    ) -> tuple[IntArray, Array]:
        """All features with a gradient above a threshold in absolute value, ascending, and their gradients.

        The gradient is Σ over batches of Φᵀ parts, with parts that a chain `with_own_memory` has made;
        nothing is as long as the number of features, of which there may be billions.
        """
        first, nodes = screen_nodes([(d.node, p.node, []) for d, _, p in batches], threshold, self.threads)
        given = []
        for design, chain, parts in batches:
            assert parts.origins is not None
            terms = [(sign, p.compiled, p.node) for sign, p in parts.origins.posteriors]
            weight = chain.weight_of_tokens()
            outputs = [(times * weight, labels) for times, labels in parts.origins.outputs]
            given.append((design.steps, design.step_row, chain.compiled, terms, outputs))
        second, pairs = screen_pairs(given, threshold, self.threads)
        return np.concatenate([first, second + self.node.n_features]), np.concatenate([nodes, pairs])

    def restrict_all(self, designs: Sequence[Self], features: IntArray) -> list[Self]:
        """The maps of some features only, for designs with the same features."""
        nodes, steps = self._restricted_maps(designs, features)
        return [design._with_maps(*maps) for design, *maps in zip(designs, nodes, steps, strict=True)]

    def _restricted_maps(
        self, designs: Sequence[Self], features: IntArray
    ) -> tuple[list[LinearMap], list[LinearMap]]:
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        return (
            restrict_maps([design.node for design in designs], features[:cut], self.threads),
            restrict_maps([design.steps for design in designs], features[cut:] - n, self.threads),
        )

    def new_pass(self, batches: Sequence[tuple[Self, Chain, IntArray]]) -> LogLossPass | None:
        """The log loss of chains or trees, unless some pairs of labels are forbidden."""
        if any(design.forbidden is not None for design, _, _ in batches):
            return None
        return LogLossPass(
            [
                (
                    design.node,
                    design.pair,
                    design.single,
                    chain.compiled,
                    np.ascontiguousarray(gold, np.int32),
                )
                for design, chain, gold in batches
            ],
            self.threads,
        )

    def screen_together(
        self,
        batches: Sequence[tuple[Self, Chain, IntArray]],
        values: Array,
        features: IntArray,
        threshold: float,
    ) -> SteepFeatures | None:
        """Where features of label pairs are few: with all of them, so that nothing of the recursions need be kept."""
        if not all(design._has_few_pairs for design, _, _ in batches):
            return None
        cut = self.node.n_features
        n = int(np.searchsorted(features, cut))
        nodes = restrict_maps([design.node for design, _, _ in batches], features[:n], self.threads)
        narrow = [
            (replace(design, node=node), chain, gold)
            for (design, chain, gold), node in zip(batches, nodes, strict=True)
        ]
        w = np.zeros(n + self.steps.n_features)
        w[:n], w[features[n:] - cut + n] = values[:n], values[n:]
        compiled = self.new_pass(narrow)
        if compiled is None:
            return None
        losses, log_z, gradient, _, marginals, failed = compiled.evaluate(w, False, True, self.threads)
        if failed >= 0 or not np.all(np.isfinite(log_z)) or marginals is None:
            return None
        first, of_nodes = screen_nodes(
            [
                (design.node, of_labels, [(-chain.weight_of_tokens(), np.ascontiguousarray(gold, np.int32))])
                for (design, chain, gold), of_labels in zip(batches, marginals, strict=True)
            ],
            threshold,
            self.threads,
        )
        pairs = gradient[n:]
        second = np.flatnonzero(np.abs(pairs) > threshold)
        return SteepFeatures(
            float(np.sum(losses)),
            np.concatenate([first, second + cut]),
            np.concatenate([of_nodes, pairs[second]]),
            np.concatenate([gradient[:n], pairs[features[n:] - cut]]),
            marginals,
        )

    @property
    def _has_few_pairs(self) -> bool:
        few = self.layout.n_kinds <= FEW_KINDS and self.steps.n_features <= FEW_FEATURES
        return few and not self.layout.n_singles and self.forbidden is None

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
