"""Options of readers of web pages."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.tasks.options import changed
from parsimon.tasks.trees.options import TreeOptions

KIND_COLUMN = 0  # element or text (see columns.py)


@dataclass(kw_only=True, eq=False, repr=False)
class PageOptions(TreeOptions):
    """The options of tree labellers, with a fixed column for the kind of a node."""

    kind_column: int | None = changed(TreeOptions, "kind_column", KIND_COLUMN, from_python_only=True)
