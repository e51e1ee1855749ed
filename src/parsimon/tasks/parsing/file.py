"""A parser in a model file: two models of features, that of arcs and that of relations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from parsimon.features.arc_features import ArcFeatures
from parsimon.tasks.info import SHARED_BY_LABELLERS, setting
from parsimon.tasks.parsing.first_pass import FirstPass
from parsimon.tasks.parsing.model import ParserModel
from parsimon.tasks.sequences import file as sequence_file
from parsimon.tasks.sequences.model import SequenceModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimon.forms import Form
    from parsimon.tasks.kinds import Header, Tensors

INFO: Mapping[str, Form] = {**SHARED_BY_LABELLERS, "format": setting}


def take_apart(model: ParserModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights of arcs."""
    arcs, tensors = sequence_file.take_apart(model.arcs)
    tensors = {f"arcs.{name}": values for name, values in tensors.items()}
    header = {
        "arcs": arcs,
        "projective": model.projective,
        "single_root": model.single_root,
        "relations": None,
        "first_pass": None,
    }
    if model.first_pass is not None:
        first, more = sequence_file.take_apart(model.first_pass.arcs)
        header["first_pass"] = {"arcs": first, "margin": model.first_pass.margin}
        tensors |= {f"first_pass.{name}": values for name, values in more.items()}
        tensors["first_pass.weights"] = model.first_pass.arcs.weights
    if model.relations is not None:
        header["relations"], more = sequence_file.take_apart(model.relations)
        tensors |= {f"relations.{name}": values for name, values in more.items()}
        tensors["relations.weights"] = model.relations.weights
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> ParserModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    arcs = _arcs(header["arcs"], {**_under("arcs", tensors), "weights": tensors["weights"]})
    relations = None
    if header["relations"] is not None:
        relations = _model(header["relations"], _under("relations", tensors))
    projective, single_root = header["projective"], header["single_root"]
    if not isinstance(projective, bool) or not isinstance(single_root, bool):
        raise ValueError("what trees there are is not said")
    first_pass = _first_pass(header.get("first_pass"), tensors)  # files of format 2 have none
    model = ParserModel(arcs, relations, projective, single_root, dict(header["info"]), first_pass)
    return model.prepare()


def _first_pass(header: Any, tensors: Tensors) -> FirstPass | None:
    if header is None:
        return None
    margin = header["margin"]
    if not isinstance(margin, float) or not 0 <= margin < math.inf:
        raise ValueError("the margin of the first pass is no number")
    return FirstPass(_arcs(header["arcs"], _under("first_pass", tensors)), margin)


def _under(name: str, tensors: Tensors) -> Tensors:
    return {key.removeprefix(f"{name}."): v for key, v in tensors.items() if key.startswith(f"{name}.")}


def _arcs(header: Header, tensors: Tensors) -> SequenceModel:
    model = _model(header, tensors)
    if len(model.labels) != 1:
        raise ValueError("arcs have one label")
    return model


def _model(header: Header, tensors: Tensors) -> SequenceModel:
    model = sequence_file.put_together({**header, "info": {}}, tensors)
    if not isinstance(model.space, ArcFeatures) or model.index.pair.n_features:
        raise ValueError("these are no features of arcs")
    return model
