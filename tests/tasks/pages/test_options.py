"""Options of readers of pages: those of trees; kinds of nodes need no flag."""

from __future__ import annotations

from parsimon.tasks.options import options_of
from parsimon.tasks.pages.columns import COLUMNS, KIND
from parsimon.tasks.pages.options import KIND_COLUMN, PageOptions
from parsimon.tasks.pages.training import PageTraining
from parsimon.tasks.trees.options import TreeOptions


def test_kinds_are_known() -> None:
    assert set(options_of(PageOptions)) == set(options_of(TreeOptions))
    assert options_of(PageOptions)["kind_column"].from_python_only
    assert PageTraining().kind_column == KIND_COLUMN == KIND
    assert COLUMNS[KIND_COLUMN] == "kind"
