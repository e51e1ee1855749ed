"""Labellers of trees know which labels nodes may have."""

from __future__ import annotations

from parsimon.features.tree_columns import tree_columns
from toy_trees import data, learnt


def test_labels_are_limited_by_kinds() -> None:
    model = learnt(kind_column=0)
    limited = model.limited(tree_columns([([("td",), ("th",)], [-1, 0])]))
    assert limited.links is not None
    assert limited.links.allowed is not None
    labels = model.as_labels(model.decode(model.observe(limited)), limited.lengths)
    assert next(iter(labels))[1] == "NAME"  # all that a th can be
    assert model.limited(limited) is limited


def test_without_kinds_anything_goes() -> None:
    X, _ = data()
    assert learnt().limited(X) is X
