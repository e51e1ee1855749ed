"""The model file: safetensors arrays with a JSON header. No pickle; a hostile file gives a clear error.

Only what is not zero is in it: the labels of each feature, its weight, and the strings and tuples of the
attributes that are left, all in the smallest integer types that hold them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.atomic import write_atomically
from parsimon.design import FeatureIndex
from parsimon.errors import ParsimonError
from parsimon.features.item_features import ItemFeatures, MatrixFeatures
from parsimon.features.template_features import TemplateFeatures
from parsimon.sequence_model import SequenceModel

FORMAT = 1
SPACES: dict[str, Any] = {space.kind: space for space in (TemplateFeatures, ItemFeatures, MatrixFeatures)}


def smallest(values: IntArray) -> IntArray:
    """The same non-negative integers in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def save_model(model: SequenceModel, path: str | Path, *, dtype: str = "float64") -> None:
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


def dump_model(model: SequenceModel, *, dtype: str = "float64") -> bytes:
    """A model as bytes."""
    from safetensors.numpy import save

    if dtype not in ("float64", "float32"):
        raise ParsimonError(f"weights are kept as float64 or float32, not {dtype!r}.")
    if len(model.weights) and np.abs(model.weights).max() > np.finfo(dtype).max:
        raise ParsimonError("a weight is too large for float32; keep float64.")
    settings, arrays = model.space.state()
    tensors: dict[str, Any] = {f"space.{name}": values for name, values in arrays.items()}
    tensors["weights"] = model.weights.astype(dtype)
    for name, rows in (("node", model.index.node), ("pair", model.index.pair)):
        attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        tensors[f"{name}.features"] = np.bincount(attribute, minlength=rows.n_attributes)
        tensors[f"{name}.column"] = column
    header = {
        "format": FORMAT,
        "kind": "sequence",
        "labels": list(model.labels),
        "space": {"kind": model.space.kind, **settings},
        "info": jsonable(model.info),
    }
    packed = {
        name: np.ascontiguousarray(smallest(v) if np.issubdtype(v.dtype, np.integer) else v)
        for name, v in tensors.items()
    }
    return bytes(save(packed, metadata={"parsimon": json.dumps(header, ensure_ascii=False)}))


def load_model(path: str | Path) -> SequenceModel:
    """Reads a model. A file that is not one, or is damaged or from a newer version, is an error that says so."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParsimonError(f"the model {path} cannot be read: {error.strerror or error}.") from error
    return parse_model(content, str(path))


def parse_model(content: bytes, name: str = "the model") -> SequenceModel:
    """A model from its bytes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

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
    try:
        return _assemble(header, load(content))
    except (
        SafetensorError,
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
        AttributeError,
    ) as error:
        raise ParsimonError(
            f"{name} is damaged ({str(error).splitlines()[0] if str(error) else 'unreadable'})."
        ) from None


def _assemble(header: dict[str, Any], tensors: dict[str, Any]) -> SequenceModel:
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
