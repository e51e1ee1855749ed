"""Φ: the sparse linear map from weights to part scores, built from observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from parsimon._core import FeatureRows, LinearMap, OnlineChain, distinct_rows, seen_features
from parsimon.arrays import Array, IntArray
from parsimon.features.observations import Observations
from parsimon.structures.chain import Chain, ChainParts
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

    def pullback(self, parts: Any, out: Array) -> None:
        """out += Φᵀ parts."""
        ...

    def pullback_squared(self, parts: Any, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts, the values of features squared."""
        ...

    def restrict(self, features: IntArray) -> Design:
        """The map of some features only (ascending numbers)."""
        ...


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
        previous = np.concatenate([[-1], labels[:-1]])
        first = np.concatenate([[0], np.cumsum(observations.lengths)[:-1]]).astype(np.int64)
        previous[first[observations.lengths > 0]] = -1
        pairs = np.where((previous >= 0) & (labels >= 0), previous * n_labels + labels, -1)
        node = seen_features(
            observations.node.start, observations.node.index, labels, node_attributes, n_labels
        )
        pair = seen_features(
            observations.pair.start, observations.pair.index, pairs, pair_attributes, n_labels**2
        )
        return cls(n_labels, node, pair)

    def split(self, features: IntArray) -> tuple[IntArray, IntArray]:
        """Feature numbers as those of the node part and those of the pair part."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        return features[:cut], features[cut:] - n


@dataclass(frozen=True)
class ChainDesign:
    """Φ for chains: tokens are scored one by one, steps by their distinct kinds."""

    n_labels: int
    node: LinearMap
    pair: LinearMap
    threads: int = 1
    workspace: Workspace | None = None

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.node.n_features + self.pair.n_features

    def scores(self, w: Array) -> ChainParts:
        """Φ w."""
        Y, cut = self.n_labels, self.node.n_features
        rows = self.node.n_rows
        node = np.empty((rows, Y)) if self.workspace is None else self.workspace.array("scores", rows, Y)
        self.node.scores(w[:cut], node, self.threads)
        pair = np.empty((self.pair.n_rows, Y * Y))
        self.pair.scores(w[cut:], pair, self.threads)
        return ChainParts(node, pair.reshape(-1, Y, Y))

    def pullback(self, parts: ChainParts, out: Array) -> None:
        """out += Φᵀ parts."""
        cut = self.node.n_features
        self.node.pullback(parts.node, out[:cut], self.threads)
        self.pair.pullback(parts.pair.reshape(len(parts.pair), -1), out[cut:], self.threads)

    def pullback_squared(self, parts: ChainParts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts."""
        cut = self.node.n_features
        self.node.pullback(parts.node, out[:cut], self.threads, squared=True)
        self.pair.pullback(parts.pair.reshape(len(parts.pair), -1), out[cut:], self.threads, squared=True)

    def restrict(self, features: IntArray) -> ChainDesign:
        """The map of some features only."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        node = self.node.restrict(np.ascontiguousarray(features[:cut], np.int64), self.threads)
        pair = self.pair.restrict(np.ascontiguousarray(features[cut:] - n, np.int64), self.threads)
        return ChainDesign(self.n_labels, node, pair, self.threads, self.workspace)

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        return self.node.features.starts(), self.pair.features.starts() + self.node.n_features

    def new_learner(self, node_block: IntArray, pair_block: IntArray, n_blocks: int) -> OnlineChain:
        """An online learner for chains with these features; blocks part the attributes."""
        return OnlineChain(
            self.n_labels, self.node.features, self.pair.features, node_block, pair_block, n_blocks
        )

    def teach(self, learner: OnlineChain, structure: Chain, gold: IntArray) -> None:
        """Gives a learner this batch to learn from."""
        learner.add(self.node, self.pair, structure.compiled, np.ascontiguousarray(gold, np.int32))


def build_chain(
    observations: Observations,
    index: FeatureIndex,
    *,
    weights: Array | None = None,
    threads: int = 1,
    workspace: Workspace | None = None,
) -> tuple[ChainDesign, Chain]:
    """The design and the structure of a batch of sequences."""
    start, attributes, value, kind = distinct_rows(
        observations.pair.start, observations.pair.index, observations.pair.value
    )
    if len(start) == 1:  # no token, so no step; a chain has at least one kind of them
        start = np.zeros(2, np.int64)
    node = LinearMap(observations.node.start, observations.node.index, observations.node.value, index.node)
    pair = LinearMap(start, attributes, value, index.pair)
    chain = Chain(
        observations.lengths,
        index.n_labels,
        pair_kind=kind,
        n_kinds=pair.n_rows,
        weights=weights,
        threads=threads,
        workspace=workspace,
    )
    return ChainDesign(index.n_labels, node, pair, threads, workspace), chain
