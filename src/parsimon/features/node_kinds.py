"""Node kinds, and the labels that nodes of each kind may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels


@dataclass(frozen=True)
class NodeKinds:
    """The labels seen in training for each value of a column. A new value allows any label.

    >>> from parsimon.features.columns import Labels
    >>> from parsimon.features.node_kinds import NodeKinds
    >>> from parsimon.features.tree_columns import tree_columns
    >>> X = tree_columns([([("inner",), ("leaf",), ("leaf",)], [-1, 0, 0])])
    >>> kinds = NodeKinds.learn(X, 0, Labels.from_sequences([["record", "name", "price"]]))
    >>> kinds.names, kinds.allowed.tolist()
    (('inner', 'leaf'), [[True, False, False], [False, True, True]])
    """

    column: int
    names: tuple[str, ...]  # of the kinds
    allowed: BoolArray  # kinds × labels
    labels: tuple[str, ...]

    @classmethod
    def learn(cls, columns: Columns, column: int, labels: Labels) -> NodeKinds:
        """Learn the allowed labels from labelled trees (−1 marks an unknown label)."""
        numbers, names = _kinds_of(columns, column)
        if len(numbers) != len(labels.ids):
            raise ParsimonError(
                f"there are {len(numbers)} nodes but {len(labels.ids)} labels; give one label per node."
            )
        allowed = np.zeros((len(names), len(labels.names)), bool)
        known = labels.ids >= 0
        allowed[numbers[known], labels.ids[known]] = True
        allowed[numbers[~known]] = True  # an unknown label may be any
        return cls(column, names, allowed, labels.names)

    def limit(self, columns: Columns) -> Columns:
        """The same trees, with labels restricted by the kinds of nodes."""
        assert columns.links is not None
        numbers, names = _kinds_of(columns, self.column)
        known = {name: i for i, name in enumerate(self.names)}
        new = len(self.names)
        translate = np.array([known.get(name, new) for name in names], np.int32)
        allowed = np.concatenate([self.allowed, np.ones((1, len(self.labels)), bool)])
        links = columns.links.restrict(translate[numbers] if len(names) else numbers, allowed)
        return Columns(columns.ids, columns.lengths, columns.strings, links)

    def to_dict(self) -> dict[str, Any]:
        """The allowed labels of each kind, for a model file."""
        labels = [[self.labels[y] for y in np.flatnonzero(row).tolist()] for row in self.allowed]
        return {"column": self.column, "labels": dict(zip(self.names, labels, strict=True))}

    @classmethod
    def from_dict(cls, fields: dict[str, Any], labels: Sequence[str]) -> NodeKinds:
        """From what `to_dict` returned, for a model with these labels."""
        by_kind: dict[str, list[str]] = fields["labels"]
        allowed = np.array([[label in known for label in labels] for known in by_kind.values()], bool)
        return cls(
            int(fields["column"]), tuple(by_kind), allowed.reshape(len(by_kind), len(labels)), tuple(labels)
        )


def _kinds_of(columns: Columns, column: int) -> tuple[IntArray, tuple[str, ...]]:
    """The kind number of each node, and the names of the kinds."""
    if columns.n_tokens and not 0 <= column < columns.n_columns:
        raise ParsimonError(
            f"there is no column {column} with node kinds; columns are numbered from 0 to {columns.n_columns - 1}."
        )
    if not columns.n_tokens:
        return np.zeros(0, np.int32), ()
    ids, numbers = np.unique(columns.ids[column], return_inverse=True)
    return numbers.astype(np.int32), tuple(columns.strings.get_all(np.ascontiguousarray(ids)))
