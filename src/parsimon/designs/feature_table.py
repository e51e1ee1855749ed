"""What the features of a problem mean: the template, the attribute and the label of each, by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from parsimon._core import FeatureRows
from parsimon.arrays import Array, IntArray
from parsimon.designs.feature_index import FeatureIndex
from parsimon.features.space import CountsFirings, NumberedFeatures


@dataclass(frozen=True)
class FeatureTable:
    """Features as attribute × label, for groupings and inspection.

    Features of tokens come first, attribute by attribute; those of steps, which have a pair of labels, follow.
    """

    space: NumberedFeatures
    index: FeatureIndex
    labels: tuple[str, ...]

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.index.n_features

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.index.n_labels

    def label_names(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels

    def template_names(self) -> list[str]:
        """The templates as written."""
        return self.space.template_names()

    def template_of_attributes(self) -> tuple[IntArray, IntArray]:
        """The template of every attribute of tokens, and of every attribute of steps."""
        node = self.space.node_templates(np.arange(self.space.n_node))
        return node, self.space.pair_templates(np.arange(self.space.n_pair))

    def firings(self) -> Array:
        """How many attributes each template has where it has any."""
        if isinstance(self.space, CountsFirings):
            return self.space.firings()
        return np.ones(len(self.template_names()))

    def starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        return self.index.node.starts(), self.index.pair.starts() + self.index.node.n_features

    def parts(
        self, features: IntArray, values: Array
    ) -> Iterator[tuple[FeatureRows, IntArray, IntArray, Array]]:
        """Ascending features with their values, those of tokens and those of steps: rows, templates of attributes,
        numbers within the part, values."""
        node, pair = self.index.split(features)
        templates = self.template_of_attributes()
        cut = len(node)
        yield self.index.node, templates[0], np.ascontiguousarray(node, np.int64), values[:cut]
        yield self.index.pair, templates[1], np.ascontiguousarray(pair, np.int64), values[cut:]

    def bias_templates(self) -> IntArray:
        """Templates of attributes that look at nothing."""
        node, pair = self.space.constant()
        return np.concatenate([self.space.node_templates(node), self.space.pair_templates(pair)])

    def labels_of(self, features: IntArray) -> IntArray:
        """The label of each feature; of a pair of labels the second."""
        features = np.asarray(features, np.int64)
        shift = self.index.node.n_features
        out = np.empty(len(features), np.int64)
        for part, rows in ((features < shift, self.index.node), (features >= shift, self.index.pair)):
            numbers = features[part] - (shift if rows is self.index.pair else 0)
            out[part] = rows.describe(np.ascontiguousarray(numbers))[1] % self.n_labels
        return out

    def attribute_name(self, feature: int) -> str:
        """The name of a feature's attribute."""
        shift = self.index.node.n_features
        if feature < shift:
            attribute, _ = self.index.node.describe(np.array([feature], np.int64))
            return self.space.node_names(attribute)[0]
        attribute, _ = self.index.pair.describe(np.array([feature - shift], np.int64))
        return self.space.pair_names(attribute)[0]

    def bias_features(self) -> IntArray:
        """Features that look at nothing but labels, biases and label bigrams, ascending."""
        node, pair = self.space.constant()

        def all_of(rows: FeatureRows, attributes: IntArray) -> IntArray:
            attribute = np.repeat(attributes.astype(np.int64), rows.width)
            found = rows.find(attribute, np.tile(np.arange(rows.width, dtype=np.int32), len(attributes)))
            return found[found >= 0]

        shift = self.index.node.n_features
        return np.concatenate(
            [np.sort(all_of(self.index.node, node)), np.sort(all_of(self.index.pair, pair)) + shift]
        )
