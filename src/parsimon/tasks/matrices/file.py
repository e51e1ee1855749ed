"""A matrix model in a model file: the columns that are left, their weights, and groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon.forms import count, flag, list_of, optional, text
from parsimon.label_values import values_for_file, values_from_file
from parsimon.penalties.groups import Groups
from parsimon.tasks.info import measure, setting, size
from parsimon.tasks.matrices.model import MatrixModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimon.forms import Form
    from parsimon.tasks.kinds import Header, Tensors

INFO: Mapping[str, Form] = {
    "rows": size,
    "candidate_columns": size,
    "groups_in_all": size,
    "alpha": measure,
    "fit_intercept": optional(flag),
    "group_weight": setting,
}

NAMES = optional(list_of(text))


def take_apart(model: MatrixModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights."""
    header: Header = {
        "columns": model.n_columns,
        "classes": None if model.classes is None else list(model.classes),
        "label_values": values_for_file(model.label_values),
        "groups": None,
        "names": None if model.names is None else list(model.names),
    }
    tensors: Tensors = {"kept": model.columns, "intercepts": model.intercepts}
    groups = model.groups
    if groups is not None:
        named = groups.names is not None
        header["groups"] = {
            "names": [groups.name(m) for m in range(groups.n_groups)] if named else None,
            "in_order": groups.in_order,
        }
        tensors["groups.ptr"], tensors["groups.weight"] = groups.ptr, groups.weight
        if groups.index is not None:
            tensors["groups.index"] = groups.index
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> MatrixModel:
    """The model from its header and arrays; an error if they are invalid."""
    weights, intercepts = (tensors[name].astype(np.float64) for name in ("weights", "intercepts"))
    if weights.ndim != 2 or intercepts.ndim != 1:
        raise ValueError("weights must be a table, and intercepts a vector")
    classes, names = (NAMES(header[which], which) for which in ("classes", "names"))
    n_columns = count(header["columns"], "columns")
    return MatrixModel(
        n_columns,
        _integers(tensors, "kept"),
        weights,
        intercepts,
        None if classes is None else tuple(classes),
        values_from_file(header["label_values"], classes or ()),
        None if header["groups"] is None else _groups(dict(header["groups"]), tensors, n_columns),
        dict(header["info"]),
        None if names is None else tuple(names),
    )


def _groups(header: Header, tensors: Tensors, n_columns: int) -> Groups:
    ptr, weight = _integers(tensors, "groups.ptr"), tensors["groups.weight"].astype(np.float64)
    if weight.ndim != 1:
        raise ValueError("the weights of groups must be a vector")
    index = None if header["in_order"] else _integers(tensors, "groups.index")
    if index is None and "groups.index" in tensors:
        raise ValueError("groups in order need no list of columns")
    names = NAMES(header["names"], "groups.names")
    if names is not None and len(names) != len(weight):
        raise ValueError("every group needs a name, or none has one")
    groups = Groups(ptr, index, weight, n_columns, names)
    if index is not None:
        inside = np.ones(len(index), bool)
        inside[ptr[:-1][np.diff(ptr) > 0]] = False  # the first of each group
        if np.any(np.diff(index, prepend=0)[inside] < 0):
            raise ValueError("the columns of a group must be in order")
    return groups


def _integers(tensors: Tensors, name: str) -> Any:
    values = tensors[name]
    if not np.issubdtype(values.dtype, np.integer) or values.ndim != 1:
        raise ValueError(f"{name} must be a vector of whole numbers")
    return values.astype(np.int64)
