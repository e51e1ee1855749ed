"""Which features there are: attributes with labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from parsimon._core import FeatureRows, seen_features
from parsimon.arrays import IntArray
from parsimon.features.observations import Observations, Rows

if TYPE_CHECKING:
    from parsimon.designs.tag_labels import TagLabels


@dataclass(frozen=True)
class FeatureIndex:
    """Which features there are: an attribute with a label, or an attribute of a step with a pair of labels.

    Features are numbered attribute by attribute, the labels' before the label pairs'. In second-order chains labels are
    tags and pairs of tags, which `tags` knows.
    """

    n_labels: int
    node: FeatureRows
    pair: FeatureRows
    tags: TagLabels | None = None

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

    @classmethod
    def second_order(
        cls, tags: TagLabels, node_attributes: int, pair_attributes: int, *, paired: bool
    ) -> FeatureIndex:
        """Every attribute of tokens with every tag (where `paired` also every pair), of steps with every triple."""
        columns = tags.step_columns
        start = np.arange(pair_attributes + 1, dtype=np.int64) * len(columns)
        pair = FeatureRows(pair_attributes, tags.n_labels**2, start, np.tile(columns, pair_attributes))
        node = FeatureRows(node_attributes, tags.n_labels if paired else tags.n_tag_labels)
        return cls(tags.n_labels, node, pair, tags)

    @classmethod
    def second_order_seen(
        cls,
        observations: Observations,
        labels: IntArray,
        tags: TagLabels,
        node_attributes: int,
        pair_attributes: int,
        *,
        paired: bool,
    ) -> FeatureIndex:
        """Of these only what occurs in the data, in which every token has a tag."""
        pairs, Y = tags.pairs, tags.n_tag_labels
        previous = np.where(observations.before < 0, -1, labels[observations.before])
        number = pairs.number(previous, labels)
        before = np.where(observations.before < 0, -1, number[observations.before])
        steps = observations.pair
        own, into = [], []
        if tags.single:
            own.append(labels)
            into.append(np.where(previous >= 0, previous * tags.n_labels + labels, -1))
        if paired:
            own.append(number + Y)
        into.append(np.where(before >= 0, (before + Y) * tags.n_labels + number + Y, -1))

        def seen(rows: Rows, columns: list[IntArray], n_attributes: int, width: int) -> FeatureRows:
            n = len(columns)
            start = np.concatenate([[0], np.cumsum(np.tile(np.diff(rows.start), n))]).astype(np.int64)
            every = np.concatenate(columns).astype(np.int32)
            return seen_features(start, np.tile(rows.index, n), every, n_attributes, width)

        node = seen(observations.node, own, node_attributes, tags.n_labels if paired else Y)
        return cls(tags.n_labels, node, seen(steps, into, pair_attributes, tags.n_labels**2), tags)

    @cached_property
    def steps(self) -> FeatureRows:
        """The features of steps with the columns that there are for second-order chains, and no others."""
        assert self.tags is not None
        attribute, column = self.pair.describe(np.arange(self.pair.n_features, dtype=np.int64))
        start = np.searchsorted(attribute, np.arange(self.pair.n_attributes + 1)).astype(np.int64)
        place = np.searchsorted(self.tags.step_columns, column).astype(np.int32)
        return FeatureRows(self.pair.n_attributes, len(self.tags.step_columns), start, place)

    def split(self, features: IntArray) -> tuple[IntArray, IntArray]:
        """Feature numbers as those of the node part and those of the pair part."""
        n = self.node.n_features
        cut = np.searchsorted(features, n)
        return features[:cut], features[cut:] - n
