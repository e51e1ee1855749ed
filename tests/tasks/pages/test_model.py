"""A reader of pages is a labeller of trees of its own kind."""

from __future__ import annotations

from parsimon.tasks.trees.model import TreeModel
from toy_pages import learnt


def test_its_kind_and_what_it_knows_of_nodes() -> None:
    model = learnt()
    assert isinstance(model, TreeModel)
    assert model.kind == "page"
    assert model.node_kinds is not None
    assert "height" in model.labels
