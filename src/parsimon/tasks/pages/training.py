"""From web pages with their values to a model that finds the records: training of trees whose leaves are texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.pages.options import PageOptions
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.training import TreeTraining


@dataclass(kw_only=True)
class PageTraining(PageOptions, TreeTraining):
    """How a reader of web pages is trained."""

    kind: ClassVar[str] = "page"
    model_class: ClassVar[type[TreeModel]] = PageModel
