"""From labelled trees to a fitted model: training of sequences, with kinds of nodes and steps from parents."""

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
    """How a labeller of trees is trained. The space has to know of `siblings`, too."""

    kind: ClassVar[str] = "tree"
    model_class: ClassVar[type[TreeModel]] = TreeModel

    def limited(self, data: Labelled) -> Labelled:
        """Nodes may only have the labels that nodes of their kind have in training."""
        if self.kind_column is None or data.kinds is not None:
            return data
        kinds = NodeKinds.learn(data.X, self.kind_column, data.y)
        return replace(data, X=kinds.limit(data.X), kinds=kinds)

    def model_of(self, task: SequenceTask, result: Result) -> Any:
        """The model, with what it knows of nodes."""
        return self.model_class.of(super().model_of(task, result), below=task.below, node_kinds=task.kinds)
