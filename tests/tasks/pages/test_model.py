"""The model of a reader of pages is one of trees, under another name."""

from __future__ import annotations

from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.trees.model import TreeModel
from toy_pages import model


def test_its_name() -> None:
    assert PageModel.kind == "page"
    assert issubclass(PageModel, TreeModel)
    assert model().needs_columns > 10
