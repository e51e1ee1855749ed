"""Small trees with two kinds of nodes, and models of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.training import TreeTraining

TEMPLATES = TemplateSet.parse("U0:%x[0,1]\nB")


def trees(n: int = 20, seed: int = 0) -> tuple[Columns, Labels]:
    """Boxes with leaves: the label of a leaf depends on that of its box."""
    random = np.random.default_rng(seed)
    out, labels = [], []
    for _ in range(n):
        nodes, parents, names = [("box", "top")], [-1], ["TOP"]
        for _ in range(random.integers(1, 4)):
            good = bool(random.random() < 0.5)
            nodes.append(("box", "good" if good else "bad"))
            parents.append(0)
            names.append("GOOD" if good else "BAD")
            at = len(nodes) - 1
            for _ in range(random.integers(1, 3)):
                nodes.append(("leaf", str(random.integers(3))))
                parents.append(at)
                names.append("YES" if good else "NO")
        out.append((nodes, parents))
        labels.append(names)
    return tree_columns(out), Labels.from_sequences(labels)


def space(siblings: str | None = None) -> TemplateFeatures:
    templates = TEMPLATES if siblings is None else TEMPLATES.with_siblings()
    return TemplateFeatures(templates, siblings=siblings)


def model(**settings: Any) -> TreeModel:
    fitted = TreeTraining(**{"l1": 0.05, "l2": 0.01, **settings}).fit(
        space(settings.get("siblings")), *trees()
    )
    assert isinstance(fitted, TreeModel)
    return fitted
