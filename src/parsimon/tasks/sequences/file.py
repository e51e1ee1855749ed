"""A sequence model in a model file: the labels of each feature, and the strings and tuples of what is left."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon.designs.feature_index import FeatureIndex
from parsimon.forms import count, line, list_of, number, optional, record
from parsimon.label_values import values_for_file, values_from_file
from parsimon.structures.label_schemes import SCHEMES
from parsimon.tasks import naming
from parsimon.tasks.info import SHARED_BY_LABELLERS, measure, setting
from parsimon.tasks.sequences.model import SequenceModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimon.forms import Form
    from parsimon.tasks.kinds import Header, Tensors

GROWN_STAGE = record(
    {"templates": count, "attributes": count, "possible_attributes": count},
    {"features": count, "candidate_features": count, "objective": number, "until": count},
    closed=True,
)
INFO: Mapping[str, Form] = {
    **SHARED_BY_LABELLERS,
    "candidates": setting,
    "order": count,
    "debias": measure,
    "growth": optional(record({"stages": list_of(GROWN_STAGE)}, {"parents": line})),
}

# The class of each kind of feature space, imported when a model has it.
SPACES = {
    "templates": ("template_features", "TemplateFeatures"),
    "items": ("item_features", "ItemFeatures"),
    "matrix": ("item_features", "MatrixFeatures"),
    "arcs": ("arc_features", "ArcFeatures"),
}


def take_apart(model: SequenceModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights."""
    settings, arrays = model.space.state()
    tensors: Tensors = {f"space.{name}": values for name, values in arrays.items()}
    for name, rows in (("node", model.index.node), ("pair", model.index.pair)):
        attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        tensors[f"{name}.features"] = np.bincount(attribute, minlength=rows.n_attributes)
        tensors[f"{name}.column"] = column
    space = {"kind": model.space.kind, **settings}
    header = {"labels": naming.labels(list(model.labels), "labels"), "order": model.order, "space": space}
    if values := values_for_file(model.label_values):
        header["label_values"] = values
    if model.scheme is not None:
        header["scheme"] = model.scheme
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> SequenceModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    labels = tuple(naming.labels(header["labels"], "labels"))
    settings = dict(header["space"])
    module, name = SPACES[settings.pop("kind")]
    space_class = getattr(import_module(f"parsimon.features.{module}"), name)
    arrays = {name.removeprefix("space."): v for name, v in tensors.items() if name.startswith("space.")}
    space = space_class.from_state(settings, arrays)
    weights = tensors["weights"].astype(np.float64)
    if weights.ndim != 1:
        raise ValueError("weights are not a vector")
    if len(set(labels)) != len(labels) or not labels:
        raise ValueError("labels must be there, and differ")
    order = header.get("order", 1)
    if order not in (1, 2):
        raise ValueError(f"labels of order {order} are not known here")
    tags = None
    if order == 2:
        from parsimon.tasks.sequences.second_order import TagPairs

        tags = TagPairs.parse(labels).labels
    width = len(labels)
    if tags is not None and not np.any(tensors["node.column"] >= tags.n_tag_labels):
        width = tags.n_tag_labels  # no feature of a token has a pair of tags
    index = FeatureIndex(
        len(labels),
        _rows(tensors, "node", space.n_node, width),
        _rows(tensors, "pair", space.n_pair, len(labels) ** 2),
        tags,
    )
    if index.n_features != len(weights):
        raise ValueError("there are not as many weights as features")
    if tags is not None and not np.isin(tensors["pair.column"], tags.step_columns).all():
        raise ValueError("a feature of a step has labels that cannot follow each other")
    scheme = header.get("scheme")
    if scheme is not None and scheme not in SCHEMES:
        raise ValueError(f"there is no scheme {scheme!r}")
    model = SequenceModel(labels, space, index, weights, dict(header["info"]), order, scheme)
    return replace(model, label_values=values_from_file(header.get("label_values", {}), model.tags))


def _rows(tensors: Tensors, name: str, n_attributes: int, width: int) -> Any:
    from parsimon._core import FeatureRows

    counts = tensors[f"{name}.features"].astype(np.int64)
    if len(counts) != n_attributes:
        raise ValueError("there are not as many attributes as the header says")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return FeatureRows(n_attributes, width, start, tensors[f"{name}.column"].astype(np.int32))
