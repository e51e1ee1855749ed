"""Training of readers of web pages."""

from __future__ import annotations

from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import page_tree
from parsimon.tasks.pages.page import TEXT
from toy_pages import learnt, page


def test_values_are_found_on_a_new_page() -> None:
    model, new = learnt(), page(42)
    X = model.limited(tree_columns([page_tree(new)]))
    labels = [model.labels[y] for y in model.decode(model.observe(X))]
    found = [
        t for tag, t, y in zip(new.tags, new.texts, labels, strict=True) if tag == TEXT and y == "height"
    ]
    assert found == ["6-42"]
