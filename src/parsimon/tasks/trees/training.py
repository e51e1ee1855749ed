"""Training of tree labellers: that of sequence labellers, with steps from parents and limits by kinds of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from parsimon.features.node_kinds import NodeKinds
from parsimon.solvers import Result
from parsimon.tasks.sequences.training import Labelled, LabellingTraining, SequenceTask
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.options import TreeOptions


@dataclass(kw_only=True)
class TreeTraining(TreeOptions, LabellingTraining):
    """How a tree labeller is trained. The feature space must have the same `siblings`."""

    kind: ClassVar[str] = "tree"
    model_class: ClassVar[type[TreeModel]] = TreeModel

    def limited(self, data: Labelled) -> Labelled:
        """Limits nodes to the labels that nodes of their kind have in the training data."""
        if self.kind_column is None or data.kinds is not None:
            return data
        kinds = NodeKinds.learn(data.X, self.kind_column, data.y)
        return replace(data, X=kinds.limit(data.X), kinds=kinds)

    def model_of(self, task: SequenceTask, result: Result) -> Any:
        """The model with the limits on labels."""
        return self.model_class.of(super().model_of(task, result), below=task.below, node_kinds=task.kinds)
