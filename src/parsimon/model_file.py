"""The model file: safetensors arrays with a JSON header. No pickle; a hostile file gives a clear error.

Only what is not zero is in it. Of a sequence model: the labels of each feature, its weight, and the strings and
tuples of the attributes that are left. Of a document model: the words that are left, and their weights. All
integers are in the smallest types that hold them. The header's `kind` says which of the two it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from parsimon.arrays import IntArray
from parsimon.atomic import write_atomically
from parsimon.design import FeatureIndex
from parsimon.errors import ParsimonError
from parsimon.features.item_features import ItemFeatures, MatrixFeatures
from parsimon.features.template_features import TemplateFeatures
from parsimon.sequence_model import SequenceModel

if TYPE_CHECKING:
    from parsimon.document_model import DocumentModel

Model: TypeAlias = "SequenceModel | DocumentModel"
Kind: TypeAlias = Literal["sequence", "document"]

FORMAT = 1
SPACES: dict[str, Any] = {space.kind: space for space in (TemplateFeatures, ItemFeatures, MatrixFeatures)}


def smallest(values: IntArray) -> IntArray:
    """The same non-negative integers in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def save_model(model: Model, path: str | Path, *, dtype: str = "float64") -> None:
    """Writes a model; nobody ever sees half of it. `dtype` is float64 or float32 (half the size)."""
    write_atomically_or_explain(Path(path), dump_model(model, dtype=dtype))


def write_atomically_or_explain(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; a failure is said in one sentence."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ParsimonError(
            f"{path} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error


def dump_model(model: Model, *, dtype: str = "float64") -> bytes:
    """A model as bytes."""
    from safetensors.numpy import save

    if dtype not in ("float64", "float32"):
        raise ParsimonError(f"weights are kept as float64 or float32, not {dtype!r}.")
    if model.weights.size and np.abs(model.weights).max() > np.finfo(dtype).max:
        raise ParsimonError("a weight is too large for float32; keep float64.")
    header, tensors = _sequence_parts(model) if isinstance(model, SequenceModel) else _document_parts(model)
    header = {"format": FORMAT, **header, "info": jsonable(model.info)}
    tensors["weights"] = model.weights.astype(dtype)
    packed = {
        name: np.ascontiguousarray(smallest(v) if np.issubdtype(v.dtype, np.integer) else v)
        for name, v in tensors.items()
    }
    return bytes(save(packed, metadata={"parsimon": json.dumps(header, ensure_ascii=False)}))


def _sequence_parts(model: SequenceModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of a sequence model in the header, and its arrays but the weights."""
    settings, arrays = model.space.state()
    tensors: dict[str, Any] = {f"space.{name}": values for name, values in arrays.items()}
    for name, rows in (("node", model.index.node), ("pair", model.index.pair)):
        attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        tensors[f"{name}.features"] = np.bincount(attribute, minlength=rows.n_attributes)
        tensors[f"{name}.column"] = column
    space = {"kind": model.space.kind, **settings}
    return {"kind": "sequence", "labels": list(model.labels), "space": space}, tensors


def _document_parts(model: DocumentModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same of a document model."""
    header = {
        "kind": "document",
        "labels": list(model.labels),
        "values": model.values,
        "reader": model.reader.settings(),
    }
    tensors: dict[str, Any] = {"bias": model.bias}
    text = [word.encode("utf-8", "surrogatepass") for word in model.known]
    tensors["words.text"] = np.frombuffer(b"".join(text), np.uint8)
    tensors["words.length"] = np.array([len(word) for word in text], np.int64)
    if model.all_idf is not None:
        tensors["idf"] = model.all_idf
        tensors["weighed"] = model.places
    return header, tensors


@overload
def load_model(path: str | Path, kind: Literal["sequence"]) -> SequenceModel: ...
@overload
def load_model(path: str | Path, kind: Literal["document"]) -> DocumentModel: ...
@overload
def load_model(path: str | Path, kind: None = None) -> Any: ...


def load_model(path: str | Path, kind: Kind | None = None) -> Any:
    """Reads a model. A file that is not one, or is damaged or from a newer version, is an error that says so.

    It is a `SequenceModel` or a `DocumentModel`, whichever was saved; one of another `kind` than the one that is
    needed is an error, too.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParsimonError(f"the model {path} cannot be read: {error.strerror or error}.") from error
    return parse_model(content, str(path), kind)


@overload
def parse_model(content: bytes, name: str = ..., *, kind: Literal["sequence"]) -> SequenceModel: ...
@overload
def parse_model(content: bytes, name: str = ..., *, kind: Literal["document"]) -> DocumentModel: ...
@overload
def parse_model(content: bytes, name: str = ..., kind: Kind | None = None) -> Any: ...


def parse_model(content: bytes, name: str = "the model", kind: Kind | None = None) -> Any:
    """A model from its bytes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    header = _header(content, name)
    found = str(header.get("kind"))
    if found not in ASSEMBLE:
        raise ParsimonError(
            f"{name} is a model of a kind that this version of Parsimon does not know ({found})."
        )
    if kind is not None and found != kind:
        raise ParsimonError(f"{name} is a {found} model, but a {kind} model is needed here.")
    try:
        return ASSEMBLE[found](header, load(content))
    except (
        SafetensorError,
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
        AttributeError,
        RecursionError,
        re.error,
    ) as error:
        if isinstance(error.__cause__, ImportError):  # the model is all right
            raise ParsimonError(f"{name} cannot be used: {error}") from None
        raise ParsimonError(
            f"{name} is damaged ({str(error).splitlines()[0] if str(error) else 'unreadable'})."
        ) from None


def _header(content: bytes, name: str) -> dict[str, Any]:
    """What the file says of itself, if this version can read it."""
    try:
        length = int.from_bytes(content[:8], "little")
        outer = json.loads(content[8 : 8 + length]) if 0 < length <= len(content) - 8 else None
        header = json.loads(outer["__metadata__"]["parsimon"]) if outer else None
    except (ValueError, KeyError, TypeError, RecursionError):
        header = None
    if not isinstance(header, dict) or "format" not in header:
        raise ParsimonError(f"{name} is not a Parsimon model, or is damaged.")
    if not isinstance(header["format"], int) or header["format"] > FORMAT:
        raise ParsimonError(
            f"{name} has format {header['format']}, but this version of Parsimon reads up to {FORMAT}; "
            "it was written by a newer version, so install that."
        )
    return header


def _sequence_model(header: dict[str, Any], tensors: dict[str, Any]) -> SequenceModel:
    labels = tuple(str(label) for label in header["labels"])
    settings = dict(header["space"])
    space_class = SPACES[settings.pop("kind")]
    arrays = {name.removeprefix("space."): v for name, v in tensors.items() if name.startswith("space.")}
    space = space_class.from_state(settings, arrays)
    weights = tensors["weights"].astype(np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all():
        raise ValueError("a weight is not finite, or weights are not a vector")
    if len(set(labels)) != len(labels) or not labels:
        raise ValueError("labels must be there, and differ")
    index = FeatureIndex(
        len(labels),
        _rows(tensors, "node", space.n_node, len(labels)),
        _rows(tensors, "pair", space.n_pair, len(labels) ** 2),
    )
    if index.n_features != len(weights):
        raise ValueError("there are not as many weights as features")
    return SequenceModel(labels, space, index, weights, dict(header["info"]))


def _document_model(header: dict[str, Any], tensors: dict[str, Any]) -> DocumentModel:
    from parsimon.document_model import DocumentModel
    from parsimon.text.reader import TextReader

    known = _strings(tensors["words.text"], tensors["words.length"])
    if len(set(known)) != len(known):
        raise ValueError("a word is there twice")
    weights, bias = (tensors[name].astype(np.float64) for name in ("weights", "bias"))
    idf = tensors["idf"].astype(np.float64) if "idf" in tensors else None
    for values in (weights, bias, *(() if idf is None else (idf,))):
        if not np.isfinite(values).all():
            raise ValueError("a number is not finite")
    if weights.ndim != 2 or bias.ndim != 1 or (idf is not None) != (header["values"] == "tf-idf"):
        raise ValueError("weights must be a table, biases a vector, and idf is there with tf-idf")
    weighed = known if idf is None else [known[i] for i in _places(tensors["weighed"], len(known))]
    return DocumentModel(
        tuple(str(label) for label in header["labels"]),
        tuple(weighed),
        weights,
        bias,
        TextReader.from_settings(dict(header["reader"])),
        header["values"],
        all_words=() if idf is None else tuple(known),
        all_idf=idf,
        info=dict(header["info"]),
    )


ASSEMBLE: dict[str, Any] = {"sequence": _sequence_model, "document": _document_model}


def _strings(text: Any, length: Any) -> list[str]:
    """Strings that stand end to end, given how many bytes each has."""
    if not np.issubdtype(length.dtype, np.integer) or length.ndim != 1 or text.ndim != 1:
        raise ValueError("lengths of words must be integers")
    content, ends = text.astype(np.uint8).tobytes(), np.cumsum(length, dtype=np.float64)
    if (length < 0).any() or (ends[-1] if len(ends) else 0) != len(content):
        raise ValueError("the words do not have the lengths that they should have")
    ends = ends.astype(np.int64)
    return [
        content[b:e].decode("utf-8", "surrogatepass")
        for b, e in zip((ends - length.astype(np.int64)).tolist(), ends.tolist(), strict=True)
    ]


def _places(places: IntArray, n: int) -> list[int]:
    """Numbers below n, all different."""
    if not np.issubdtype(places.dtype, np.integer) or places.ndim != 1:
        raise ValueError("places of words must be integers")
    out: list[int] = places.tolist()
    if any(not 0 <= place < n for place in out) or len(set(out)) != len(out):
        raise ValueError("a word with a weight is not there")
    return out


def _rows(tensors: dict[str, Any], name: str, n_attributes: int, width: int) -> Any:
    from parsimon._core import FeatureRows

    counts = tensors[f"{name}.features"].astype(np.int64)
    if len(counts) != n_attributes:
        raise ValueError("there are not as many attributes as the header says")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return FeatureRows(n_attributes, width, start, tensors[f"{name}.column"].astype(np.int32))


def jsonable(value: Any) -> Any:
    """Settings and histories as JSON has them."""
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value
