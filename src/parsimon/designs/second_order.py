"""Φ of second-order chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from parsimon._core import LinearMap, distinct_rows, feature_differences, lay_out, screen_nodes
from parsimon.arrays import Array, IntArray
from parsimon.designs.base import SparseVectors
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.pairs import Forbidden
from parsimon.designs.tag_labels import TagLabels
from parsimon.features.observations import Observations
from parsimon.structures.chain import ChainParts, PairLayout
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.second_order_chain import SecondOrderChain
from parsimon.structures.workspace import Workspace

FEW = 16  # kinds of steps


@dataclass(frozen=True)
class SecondOrderDesign:
    """Φ of second-order chains: tokens have features of tags and of pairs of tags, steps those of pairs and triples.

    A weight of a pair in a step is added to all triples that end with this pair.
    """

    labels: TagLabels
    node: LinearMap  # its columns are labels: tags, or tags and pairs
    steps: LinearMap  # distinct rows of attributes of steps; columns as `TagLabels.step_columns`
    step_row: IntArray  # (n_tokens,): the row of each step
    threads: int = 1
    workspace: Workspace | None = None
    forbidden: Forbidden | None = None  # tags

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.node.n_features + self.steps.n_features

    @property
    def _n_bigrams(self) -> int:
        """How many columns of steps are pairs of tags; the others are triples."""
        pairs = self.labels.pairs
        return pairs.n_labels - pairs.n_first if self.labels.single else 0

    def scores(self, w: Array, node: Array | None = None) -> ChainParts:
        """Φ w; `node` are scores of tokens that are known already."""
        cut, rows, width = self.node.n_features, self.node.n_rows, self.node.features.width
        if node is None:
            node = (
                np.empty((rows, width))
                if self.workspace is None
                else self.workspace.array("scores", rows, width)
            )
            self.node.scores(w[:cut], node, self.threads)
        return self._possible(ChainParts(node, self._triple_scores(w[cut:])))

    def scores_of(self, values: Array, features: IntArray) -> ChainParts:
        """Φ w where only the given features (ascending) are not zero; parts are those of all features."""
        cut = self.node.n_features
        at = np.searchsorted(features, cut)
        few = self.node.restrict(np.ascontiguousarray(features[:at], np.int64), self.threads)
        w = np.zeros(self.steps.n_features)
        w[features[at:] - cut] = values[at:]
        node = np.empty((self.node.n_rows, self.node.features.width))
        few.scores(values[:at], node, self.threads)
        return self._possible(ChainParts(node, self._triple_scores(w)))

    def _triple_scores(self, w: Array) -> Array:
        columns = np.empty((self.steps.n_rows, self.steps.features.width))
        self.steps.scores(w, columns, self.threads)
        cut, pairs = self._n_bigrams, self.labels.pairs
        triples = columns[:, cut:]
        if cut:
            triples = triples + columns[:, :cut][:, pairs.triples[1] - pairs.n_first]
        return np.ascontiguousarray(triples)

    def _possible(self, scores: ChainParts) -> ChainParts:
        """The scores, −∞ for what is forbidden."""
        if self.forbidden is None:
            return scores
        pairs, allowed, node = self.labels.pairs, self.forbidden.allowed, scores.node
        for at, tags in ((self.forbidden.first, allowed.start), (self.forbidden.last, allowed.end)):
            where = np.flatnonzero(at)
            if self.labels.single:
                node[np.ix_(where, np.flatnonzero(~tags))] = -np.inf
            else:
                node[np.ix_(where, np.flatnonzero(~tags[pairs.tag]))] = -np.inf
        two = pairs.triples[1]
        wrong = ~allowed.pair[pairs.before[two], pairs.tag[two]]
        scores.pair[:, wrong] = -np.inf
        return scores

    def pullback(self, parts: ChainParts, out: Array) -> None:
        """out += Φᵀ parts."""
        self._pullback(parts, out, squared=False)

    def pullback_squared(self, parts: ChainParts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts."""
        self._pullback(parts, out, squared=True)

    def _pullback(self, parts: ChainParts, out: Array, *, squared: bool) -> None:
        cut = self.node.n_features
        self.node.pullback(parts.node, out[:cut], self.threads, squared)
        self.steps.pullback(self._step_columns(parts.pair), out[cut:], self.threads, squared)

    def _step_columns(self, triples: Array) -> Array:
        """Numbers of triples, and before them their sums by the second pair."""
        pairs, cut = self.labels.pairs, self._n_bigrams
        if not cut:
            return triples
        out = np.zeros((len(triples), cut + triples.shape[1]))
        out[:, cut:] = triples
        for k, row in enumerate(triples):
            out[k, :cut] = np.bincount(pairs.triples[1] - pairs.n_first, row, minlength=cut)
        return out

    def restrict(self, features: IntArray) -> Self:
        """The map of some features only."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        node = self.node.restrict(np.ascontiguousarray(features[:cut], np.int64), self.threads)
        steps = self.steps.restrict(np.ascontiguousarray(features[cut:] - n, np.int64), self.threads)
        row, steps = self._restricted_steps(steps)
        return replace(self, node=node, steps=steps, step_row=row)

    def _restricted_steps(self, steps: LinearMap) -> tuple[IntArray, LinearMap]:
        """The row of each step, and rows that are distinct again, now that attributes are left out."""
        row, rows, *_ = lay_out(steps, self.step_row, self.labels.n_labels, True, self.threads)
        return row, rows

    def part(self, where: slice) -> Self:
        """The map of the sequences whose tokens these are."""
        rows, step_row = np.unique(self.step_row[where], return_inverse=True)
        if not len(rows):  # a chain has at least one kind of steps
            rows = np.zeros(1, np.int64)
        return replace(
            self,
            node=self.node.take(np.arange(where.start, where.stop, dtype=np.int64)),
            steps=self.steps.take(rows.astype(np.int64)),
            step_row=step_row.astype(np.int32),
            forbidden=None if self.forbidden is None else self.forbidden.part(where),
        )

    def alone(self, worker: int) -> Self:
        """The same on one thread, in memory that is this worker's own."""
        memory = None if self.workspace is None else self.workspace.of_worker(worker)
        return replace(self, threads=1, workspace=memory)

    def adapt(self, structure: SecondOrderChain) -> SecondOrderChain:
        """The chain with triples scored as they are here."""
        return structure.with_layout(PairLayout(self.step_row, self.steps.n_rows))

    def differences(
        self, structure: SecondOrderChain, gold: IntArray, output: IntArray
    ) -> list[SparseVectors]:
        """f(gold) − f(output): of tokens with another tag or another pair, and of steps with another pair or triple."""
        found = []
        of_gold, of_output = (self._columns(structure, tags) for tags in (gold, output))
        for offset, map, row, one, two in (
            (0, self.node, np.arange(len(gold)), of_gold[0], of_output[0]),
            (self.node.n_features, self.steps, self.step_row, of_gold[1], of_output[1]),
        ):
            kind, at = np.nonzero(one != two)
            order = np.argsort(at, kind="stable")
            kind, at = kind[order], at[order]
            start = np.searchsorted(at, structure.offsets)
            rows, more, less = (
                np.ascontiguousarray(each, np.int32) for each in (row[at], one[kind, at], two[kind, at])
            )
            found.append((offset, *feature_differences(map, start, rows, more, less, self.threads)))
        return found

    def _columns(self, structure: SecondOrderChain, tags: IntArray) -> tuple[IntArray, IntArray]:
        """The columns of each token, and of the step into it, one kind of columns a row; −1 for none."""
        pairs, before = self.labels.pairs, structure.before
        inside = before >= 0
        number = pairs.number(np.where(inside, tags[before], -1), tags)
        last = np.where(inside, number[before], -1)
        first_triple = np.searchsorted(pairs.triples[0], np.arange(pairs.n_labels))
        first_after = np.searchsorted(pairs.before, np.arange(pairs.n_tags))
        triple = self._n_bigrams + first_triple[last] + number - first_after[tags[before]]
        node, steps = [], [np.where(inside, triple, -1)]
        if self.labels.single:
            node.append(tags)
            steps.append(np.where(inside, number - pairs.n_first, -1))
        if structure.paired:
            node.append(number + self.labels.n_tag_labels)
        return np.stack(node), np.stack(steps)


@dataclass(frozen=True)
class FewStepsDesign(SecondOrderDesign):
    """The same with few kinds of steps: their parts are small enough to be kept for a look at all features."""

    def _restricted_steps(self, steps: LinearMap) -> tuple[IntArray, LinearMap]:
        """As they are, so that the parts of few features are also those of all."""
        return self.step_row, steps

    def with_own_memory(self) -> Self:
        """The same, with scores in memory of their own."""
        return replace(self, workspace=None)

    def screen(
        self, batches: Sequence[tuple[SecondOrderDesign, SecondOrderChain, ChainParts]], threshold: float
    ) -> tuple[IntArray, Array]:
        """All features with a gradient above a threshold in absolute value, ascending, and their gradients.

        Of steps, there are few features, so their gradient is had as a whole.
        """
        first, nodes = screen_nodes([(d.node, p.node, []) for d, _, p in batches], threshold, self.threads)
        gradient = np.zeros(self.steps.n_features)
        for design, _, parts in batches:
            design.steps.pullback(design._step_columns(parts.pair), gradient, self.threads)
        steep = np.flatnonzero(np.abs(gradient) > threshold)
        return np.concatenate([first, steep + self.node.n_features]), np.concatenate([nodes, gradient[steep]])


def build_second_order(
    observations: Observations,
    index: FeatureIndex,
    *,
    weights: Array | None = None,
    allowed: Transitions | None = None,
    threads: int = 1,
    workspace: Workspace | None = None,
) -> tuple[SecondOrderDesign, SecondOrderChain]:
    """The design and the structure of a batch of sequences; `allowed` says which tags may follow each other."""
    labels, rows = index.tags, observations.pair
    assert labels is not None
    start, attributes, value, step_row = distinct_rows(rows.start, rows.index, rows.value)
    if len(start) == 1:  # no token, so no step; a chain has at least one kind of them
        start = np.zeros(2, np.int64)
    node = LinearMap(observations.node.start, observations.node.index, observations.node.value, index.node)
    steps = LinearMap(start, attributes, value, index.steps)
    forbidden = None if allowed is None else Forbidden.of(allowed, observations.lengths)
    kind = FewStepsDesign if steps.n_rows <= FEW else SecondOrderDesign
    design = kind(labels, node, steps, step_row, threads, workspace, forbidden)
    chain = SecondOrderChain(
        observations.lengths,
        labels.pairs,
        tags=labels.single,
        paired=index.node.width > labels.n_tag_labels,
        kind=step_row,
        n_kinds=steps.n_rows,
        weights=weights,
        threads=threads,
        workspace=workspace,
    )
    return design, chain
