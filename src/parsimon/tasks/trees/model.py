"""A fitted tree labeller: a sequence model with limits on the labels of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from parsimon.features.columns import Columns
from parsimon.features.node_kinds import NodeKinds
from parsimon.structures.label_schemes import Transitions
from parsimon.tasks.sequences.model import SequenceModel


@dataclass(frozen=True)
class TreeModel(SequenceModel):
    """The result of training: everything that prediction needs."""

    kind: ClassVar[str] = "tree"
    of_trees: ClassVar[bool] = True
    below: Transitions | None = (
        None  # with steps from siblings: the possible labels of children (see seen_below.py)
    )
    node_kinds: NodeKinds | None = None  # the possible labels of each kind of nodes
    parent_column: int | None = None  # in the column files of the training data

    @classmethod
    def of(cls, model: SequenceModel, **more: Any) -> Any:
        """A tree labeller with the weights of a sequence model."""
        return cls(
            model.labels,
            model.space,
            model.index,
            model.weights,
            model.info,
            model.order,
            model.scheme,
            model.label_values,
            **more,
        )

    def limited(self, X: Columns) -> Columns:
        """The trees with the possible labels of each node."""
        assert X.links is not None
        return X if self.node_kinds is None or X.links.allowed is not None else self.node_kinds.limit(X)

    def _possible(self, allowed: Transitions | None) -> Transitions | None:
        if self.below is None:
            return super()._possible(allowed)
        return self.below if allowed is None else self.below & allowed
