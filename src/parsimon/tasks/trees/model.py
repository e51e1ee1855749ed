"""A fitted labeller of trees: that of sequences, with what it knows of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from parsimon.features.columns import Columns
from parsimon.features.node_kinds import NodeKinds
from parsimon.structures.label_schemes import Transitions
from parsimon.tasks.sequences.model import SequenceModel


@dataclass(frozen=True)
class TreeModel(SequenceModel):
    """What training leaves behind, and all that prediction needs."""

    kind: ClassVar[str] = "tree"
    below: Transitions | None = (
        None  # with steps from siblings: which labels may be below which (see seen_below.py)
    )
    node_kinds: NodeKinds | None = None  # which labels a node may have
    parent_column: int | None = None  # of the column files it was learnt from

    @classmethod
    def of(cls, model: SequenceModel, **more: Any) -> Any:
        """A labeller of trees with the weights of a sequence model."""
        return cls(
            model.labels,
            model.space,
            model.index,
            model.weights,
            model.info,
            model.order,
            model.scheme,
            **more,
        )

    def limited(self, X: Columns) -> Columns:
        """The trees, with the labels that nodes of each kind may have."""
        assert X.links is not None
        return X if self.node_kinds is None or X.links.allowed is not None else self.node_kinds.limit(X)

    def _possible(self, allowed: Transitions | None) -> Transitions | None:
        if self.below is None:
            return super()._possible(allowed)
        return self.below if allowed is None else self.below & allowed
