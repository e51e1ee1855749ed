"""The model file: safetensors arrays with a JSON header. No pickle; a hostile file gives a clear error.

It only has non-zero weights, integers have the smallest type that holds them, and large arrays are compressed
(`packed_arrays.py`); those of format 2 were not. The header's `kind` says what model it is of; every kind has a `file`
of its own (`kinds.py`), which takes a model apart and puts it together.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, overload

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.files import write_file
from parsimon.forms import encodable, plain, shown, told
from parsimon.magnitudes import LARGEST_WEIGHT, first_wrong, why_not
from parsimon.tasks.info import checked_info
from parsimon.tasks.kinds import find_kind, get_kind
from parsimon.tasks.packed_arrays import decoded, pack, unpack, with_weights_as

if TYPE_CHECKING:
    from parsimon.tasks.kinds import Tensors

FORMAT, OLDEST = 3, 2
LONGEST_HEADER = 100_000_000  # bytes; safetensors takes no longer one either
Wanted = TypeVar("Wanted")


class Model(Protocol):
    """A model that can be saved: its kind is registered."""

    kind: ClassVar[str]

    @property
    def weights(self) -> Array:
        """The weights."""
        ...

    @property
    def info(self) -> dict[str, Any]:
        """A description of its training."""
        ...


def smallest(values: IntArray) -> IntArray:
    """The same non-negative integers in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def save_model(model: Model, path: str | Path, *, dtype: str = "float64") -> None:
    """Writes a model, completely or not at all.

    `dtype` is that of the weights in the file: float64, or float32, float16 or int8 (256 values) for a smaller one.
    """
    write_file(Path(path), dump_model(model, dtype=dtype))


def dump_model(model: Model, *, dtype: str = "float64") -> bytes:
    """A model as bytes."""
    from safetensors.numpy import save

    kind = get_kind(model.kind)
    try:
        info = {name: value for name, value in model.info.items() if name != "weights"}
        if dtype != "float64":
            info["weights"] = dtype
        info = checked_info(jsonable(info), kind.info)
        header, tensors = kind.file.take_apart(model)
    except ValueError as error:
        raise ParsimonError(f"the model cannot be written: {told(error)}.") from None
    tensors["weights"] = model.weights
    wrong = _wrong_number(tensors)
    if wrong is not None:  # before a good model is overwritten
        raise ParsimonError(f"the model cannot be kept: {wrong}.")
    tensors, packed = pack(
        {
            name: np.ascontiguousarray(smallest(v) if np.issubdtype(v.dtype, np.integer) else v)
            for name, v in with_weights_as(tensors, dtype).items()
        }
    )
    header = {"format": FORMAT, "kind": model.kind, **header, "info": info, "packed": packed}
    try:
        return bytes(save(tensors, metadata={"parsimon": json.dumps(header, ensure_ascii=False)}))
    except UnicodeEncodeError as error:
        raise ParsimonError(
            f"the model cannot be written: it has half of a surrogate pair, {shown(error.object[error.start])}, "
            "in one of its names."
        ) from None


@overload
def load_model(path: str | Path, kind: type[Wanted]) -> Wanted: ...
@overload
def load_model(path: str | Path, kind: None = None) -> Any: ...


def load_model(path: str | Path, kind: type[Any] | None = None) -> Any:
    """Reads a model. A file that is not one, or is damaged or from another version, is an error that says so.

    It is a `SequenceModel`, a `DocumentModel` or whatever was saved; one of another `kind` (a class of models) than is
    needed is an error, too.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:  # only what may be a model is read whole
            length = int.from_bytes(file.peek(8)[:8], "little")
            content = file.read() if 0 < length <= LONGEST_HEADER else b""
    except OSError as error:
        raise ParsimonError(f"the model {path} cannot be read: {error.strerror or error}.") from error
    return parse_model(content, str(path), kind)


@overload
def parse_model(content: bytes, name: str = ..., *, kind: type[Wanted]) -> Wanted: ...
@overload
def parse_model(content: bytes, name: str = ..., kind: type[Any] | None = None) -> Any: ...


def parse_model(content: bytes, name: str = "the model", kind: type[Any] | None = None) -> Any:
    """A model from its bytes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    header = _header(content, name)
    found = find_kind(str(header.get("kind")))
    if found is None:
        raise ParsimonError(
            f"{name} is a model of a kind that this version of Parsimon does not know ({shown(header.get('kind'))})."
        )
    try:
        header["info"] = checked_info(header["info"], found.info)
        tensors = decoded(unpack(load(content), header.pop("packed", {}), len(content)))
        wrong = _wrong_number(tensors)
        if wrong is not None:
            raise ValueError(wrong)
        model = found.file.put_together(header, tensors)
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
        raise ParsimonError(f"{name} is damaged ({told(error)}).") from None
    if kind is not None and not isinstance(model, kind):
        raise ParsimonError(f"{name} is a {found.name} model, but a {kind.kind} model is needed here.")
    return model


def _wrong_number(tensors: Tensors) -> str | None:
    """What is wrong with the first number that no prediction could be computed with, in any array of any kind."""
    for name, values in tensors.items():
        at = first_wrong(values, LARGEST_WEIGHT)
        if at is not None:
            return f"a number in {name} is {why_not(float(values.reshape(-1)[at]), LARGEST_WEIGHT)}"
    return None


def _header(content: bytes, name: str) -> dict[str, Any]:
    """The header of a file, if this version can read it."""
    try:
        length = int.from_bytes(content[:8], "little")
        outer = json.loads(content[8 : 8 + length]) if 0 < length <= len(content) - 8 else None
        text = outer["__metadata__"]["parsimon"] if outer else "null"
        header = json.loads(text)
        if not encodable(text) or "\\ud" in text.lower():  # halves of surrogate pairs: are there any?
            plain(header, "the header")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        header = None
    if not isinstance(header, dict) or "format" not in header:
        raise ParsimonError(f"{name} is not a Parsimon model, or is damaged.")
    if isinstance(header["format"], int) and 0 < header["format"] < OLDEST:
        raise ParsimonError(
            f"{name} has format {header['format']} of a version before the first release, which is not read any more; "
            "train the model again."
        )
    if not isinstance(header["format"], int) or not OLDEST <= header["format"] <= FORMAT:
        raise ParsimonError(
            f"{name} has format {shown(header['format'])}, but this version of Parsimon reads up to {FORMAT}; "
            "it was written by a newer version, so install that."
        )
    return header


def jsonable(value: Any) -> Any:
    """Settings and histories in types that JSON has; null for a number that is not finite."""
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
