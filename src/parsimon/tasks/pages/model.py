"""A fitted reader of web pages: a labeller of their trees, whose labels are attributes of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsimon.tasks.trees.model import TreeModel


@dataclass(frozen=True)
class PageModel(TreeModel):
    """The result of training: everything that prediction needs."""

    kind: ClassVar[str] = "page"
