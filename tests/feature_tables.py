"""A small table of features, written down by hand, for those who group features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SmallTable:
    """Attributes of tokens and of steps as (template, numbers of labels or label pairs seen)."""

    templates: tuple[str, ...]
    node: tuple[tuple[int, tuple[int, ...]], ...]
    pair: tuple[tuple[int, tuple[int, ...]], ...] = ()
    bias: tuple[int, ...] = ()  # templates that look at nothing but labels
    labels: tuple[str, ...] = ("X", "Y", "Z")

    @property
    def n_features(self) -> int:
        return sum(len(seen) for _, seen in (*self.node, *self.pair))

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    def template_names(self) -> list[str]:
        return list(self.templates)

    def label_names(self) -> tuple[str, ...]:
        return self.labels

    def template_of_attributes(self) -> tuple[Any, Any]:
        node, pair = (np.array([t for t, _ in part], np.int64) for part in (self.node, self.pair))
        return node, pair

    def starts(self) -> tuple[Any, Any]:
        node, pair = (
            np.cumsum([0, *(len(seen) for _, seen in part)]).astype(np.int64)
            for part in (self.node, self.pair)
        )
        return node, pair + node[-1]

    def all_features(self) -> list[tuple[int, str, int]]:
        """Template, attribute and (second) label of every feature, one by one."""
        return [
            (template, f"{kind}{a}", label % self.n_labels)
            for kind, part in (("node", self.node), ("pair", self.pair))
            for a, (template, seen) in enumerate(part)
            for label in seen
        ]

    def labels_of(self, features: Any) -> Any:
        every = self.all_features()
        return np.array([every[f][2] for f in features], np.int64)

    def attribute_name(self, feature: int) -> str:
        return self.all_features()[feature][1]

    def firings(self) -> Any:
        return np.ones(len(self.template_names()))

    def bias_features(self) -> Any:
        return np.array([f for f, (t, _, _) in enumerate(self.all_features()) if t in self.bias], np.int64)


# Two templates of tokens, a bias, one of steps that looks at the input and the label bigram; "caps" has no attribute.
TABLE = SmallTable(
    ("word", "caps", "bias", "step", "bigram"),
    node=((0, (0, 1, 2)), (0, ()), (0, (1,)), (2, (0, 1, 2))),
    pair=((3, (0, 4)), (3, (8,)), (4, tuple(range(9)))),
    bias=(2, 4),
)
