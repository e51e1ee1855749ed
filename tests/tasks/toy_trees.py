"""Small labelled trees, and models of them."""

from __future__ import annotations

from typing import Any

from parsimon.features import Labels, TemplateFeatures, TemplateSet
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.trees.training import TreeTraining

TEMPLATES = TemplateSet.parse("U0:%x[0,0]\nU1:%x[parent,0]/%x[0,0]\nB")
TREES = [([("table",), ("th",), ("td",)], [-1, 0, 0]), ([("list",), ("td",)], [-1, 0])] * 6
LABELS = [["X", "NAME", "VALUE"], ["X", "TEXT"]] * 6


def data() -> tuple[Any, Labels]:
    return tree_columns(TREES), Labels.from_sequences(LABELS)


def space(siblings: str | None = None) -> TemplateFeatures:
    templates = TEMPLATES if siblings is None else TEMPLATES.with_siblings()
    return TemplateFeatures(templates, siblings=siblings)


def learnt(siblings: str | None = None, kind: type[TreeTraining] = TreeTraining, **settings: Any) -> Any:
    training = kind(l1=0.1, siblings=siblings, **settings)
    return training.fit(space(siblings), *data())
