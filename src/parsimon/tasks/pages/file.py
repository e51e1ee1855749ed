"""A reader of web pages in a model file: a labeller of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.trees.file import INFO, labeller, take_apart

if TYPE_CHECKING:
    from parsimon.tasks.kinds import Header, Tensors

__all__ = ["INFO", "put_together", "take_apart"]


def put_together(header: Header, tensors: Tensors) -> PageModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    model: PageModel = labeller(PageModel, header, tensors)
    if model.node_kinds is None:
        raise ValueError("a reader of pages must know kinds of nodes")
    return model
