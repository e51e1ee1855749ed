"""Tree labellers in model files: a sequence model and limits on the labels of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parsimon.features.node_kinds import NodeKinds
from parsimon.tasks.sequences import file as sequence_file
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.seen_below import below_as_lists, below_from_lists

if TYPE_CHECKING:
    from parsimon.tasks.kinds import Header, Tensors

INFO = sequence_file.INFO


def take_apart(model: TreeModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights."""
    header, tensors = sequence_file.take_apart(model)
    header["below"] = None if model.below is None else below_as_lists(model.below)
    header["node_kinds"] = None if model.node_kinds is None else model.node_kinds.to_dict()
    header["parent_column"] = model.parent_column
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> TreeModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    model: TreeModel = labeller(TreeModel, header, tensors)
    return model


def labeller(kind: type[TreeModel], header: Header, tensors: Tensors) -> Any:
    """The model, of a given class."""
    model = sequence_file.put_together(header, tensors)
    below, kinds, column = header["below"], header["node_kinds"], header["parent_column"]
    if column is not None and (not isinstance(column, int) or isinstance(column, bool) or column < 0):
        raise ValueError("the column of parents must be a number")
    return kind.of(
        model,
        below=None if below is None else below_from_lists(below, len(model.labels)),
        node_kinds=None if kinds is None else NodeKinds.from_dict(kinds, model.labels),
        parent_column=column,
    )
