"""Which features there are: attributes with labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsimon._core import FeatureRows, seen_features
from parsimon.arrays import IntArray
from parsimon.features.observations import Observations


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
