"""The options of training readers of web pages."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.tasks.options import changed
from parsimon.tasks.trees.options import TreeOptions

KIND_COLUMN = 0  # of what makes of a page (see columns.py): element or text


@dataclass(kw_only=True, eq=False, repr=False)
class PageOptions(TreeOptions):
    """What labellers of trees have; kinds of nodes are known."""

    kind_column: int | None = changed(TreeOptions, "kind_column", KIND_COLUMN, from_python_only=True)
