"""A document model in a model file: the words that are left, their weights, and how texts are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.data.text.reader import TextReader
from parsimon.label_values import values_for_file, values_from_file
from parsimon.tasks import naming
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.packed_strings import pack_strings, unpack_strings
from parsimon.tasks.info import measure, setting, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimon.forms import Form
    from parsimon.tasks.kinds import Header, Tensors

INFO: Mapping[str, Form] = {
    "documents": size,
    "sentences": size,
    "tokens": size,
    "candidate_words": size,
    "groups": setting,
    "group_weight": setting,
    "groups_in_all": size,
    "relevant_groups": size,
    "relevant_sentences": size,
    "sentence": measure,
    "window": size,
    "stopping": setting,
    "rho": measure,
    "values": setting,
    "min_count": size,
    "min_documents": size,
    "max_documents": measure,
    "max_words": size,
    "max_iter": size,
    "tol": measure,
}


def take_apart(model: DocumentModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights."""
    header: Header = {
        "labels": naming.labels(list(model.labels), "labels"),
        "values": model.values,
        "reader": model.reader.settings(),
    }
    if values := values_for_file(model.label_values):
        header["label_values"] = values
    tensors: Tensors = {"bias": model.bias}
    tensors["words.text"], tensors["words.length"] = pack_strings(model.known)
    if model.spread is not None:
        tensors["spread"] = model.spread.astype(np.float32)
    if model.all_idf is not None:
        tensors["idf"] = model.all_idf
        tensors["weighed"] = model.places
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> DocumentModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    known = unpack_strings(tensors["words.text"], tensors["words.length"])
    if len(set(known)) != len(known):
        raise ValueError("a word is there twice")
    weights, bias = (tensors[name].astype(np.float64) for name in ("weights", "bias"))
    idf = tensors["idf"].astype(np.float64) if "idf" in tensors else None
    if weights.ndim != 2 or bias.ndim != 1 or (idf is not None) != (header["values"] == "tf-idf"):
        raise ValueError("weights must be a table, biases a vector, and idf is there with tf-idf")
    weighed = known if idf is None else [known[i] for i in _places(tensors["weighed"], len(known))]
    labels = tuple(naming.labels(header["labels"], "labels"))
    return DocumentModel(
        labels,
        tuple(weighed),
        weights,
        bias,
        TextReader.from_settings(dict(header["reader"])),
        header["values"],
        all_words=() if idf is None else tuple(known),
        all_idf=idf,
        info=dict(header["info"]),
        label_values=values_from_file(header.get("label_values", {}), labels),
        spread=_spread(tensors["spread"]) if "spread" in tensors else None,  # files had none once
    )


def _spread(values: Any) -> Any:
    """Standard deviations."""
    out = values.astype(np.float64)
    if out.ndim != 1 or not np.all(np.isfinite(out)) or np.any(out < 0):
        raise ValueError("spreads must be a vector of numbers, zero or more")
    return out


def _places(places: IntArray, n: int) -> list[int]:
    """Numbers below n, all different."""
    if not np.issubdtype(places.dtype, np.integer) or places.ndim != 1:
        raise ValueError("places of words must be integers")
    out: list[int] = places.tolist()
    if any(not 0 <= place < n for place in out) or len(set(out)) != len(out):
        raise ValueError("a word with a weight is not there")
    return out
