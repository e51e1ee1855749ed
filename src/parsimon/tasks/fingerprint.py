"""Fingerprints: short strings that identify data and settings, so that a checkpoint is only used where it belongs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from functools import partial
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType
from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class HasContent(Protocol):
    """Data that can list their own content."""

    def content(self) -> Iterable[Any]:
        """Texts, numbers and arrays; the same for the same data."""
        ...


def fingerprint(*things: Any) -> str:
    """The same string for things that are equal, in every process, and almost certainly another one for others.

    >>> import numpy as np
    >>> from parsimon.tasks.fingerprint import fingerprint
    >>> fingerprint("a", [1, 2], np.zeros(2)) == fingerprint("a", [1, 2], np.zeros(2))
    True
    >>> fingerprint(["a", "bc"]) == fingerprint(["ab", "c"])
    False
    """
    one, two, n = 0, 1, 0
    for piece in _pieces(things):
        one, two, n = zlib.crc32(piece, one), zlib.adler32(piece, two), n + len(piece)
    return f"{one:08x}{two:08x}-{n}"


def _pieces(thing: Any) -> Iterator[bytes]:
    """A thing as bytes. Every part begins with its kind and, if it is not a list, its length."""
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, str):
        yield from _sized(b"s", thing.encode("utf-8", "surrogatepass"))
    elif isinstance(thing, bytes):
        yield from _sized(b"b", thing)
    elif isinstance(thing, float) and thing.is_integer():  # 1.0 is the same as 1
        yield from _sized(b"v", repr(int(thing)).encode())
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        yield f"a{thing.dtype.str}{thing.shape}:".encode()
        yield np.ascontiguousarray(thing).tobytes()
    elif isinstance(thing, np.ndarray):
        yield from _sequence(f"objects {thing.shape}", thing.reshape(-1).tolist())
    elif isinstance(thing, HasContent) and not isinstance(thing, type):
        yield from _sequence(type(thing).__name__, thing.content())
    elif isinstance(thing, Mapping):
        yield from _sequence("map", (part for pair in thing.items() for part in pair))
    elif isinstance(thing, Set):
        yield from _unordered("set", thing)
    elif isinstance(thing, list | tuple):
        yield from _sequence("list", thing)
    elif is_dataclass(thing) and not isinstance(thing, type):
        # Arrays are left out of == because they cannot be compared, but they count here.
        values = ((each, getattr(thing, each.name)) for each in fields(thing))
        counted = [
            (each.name, value) for each, value in values if each.compare or isinstance(value, np.ndarray)
        ]
        yield from _sequence(type(thing).__name__, counted)
    elif callable(thing):
        yield from _callable(thing)
    elif getattr_static(type(thing), "__repr__") is object.__repr__:  # which has an address in it
        yield from _object(thing)
    else:
        yield from _sized(b"v", repr(thing).encode("utf-8", "surrogatepass"))


def _sized(kind: bytes, content: bytes) -> Iterator[bytes]:
    yield b"%s%d:" % (kind, len(content))
    yield content


def _sequence(name: str, parts: Iterable[Any]) -> Iterator[bytes]:
    yield f"({name} ".encode()
    for part in parts:
        yield from _pieces(part)
    yield b")"


def _unordered(name: str, parts: Iterable[Any]) -> Iterator[bytes]:
    """The parts in the order of their bytes: that of a set differs from process to process."""
    yield f"({name} ".encode()
    yield from sorted(b"".join(_pieces(part)) for part in parts)
    yield b")"


def _callable(thing: Callable[..., Any]) -> Iterator[bytes]:
    """A function by its name and its code; other callables by what they are made of."""
    if isinstance(thing, partial):
        yield from _sequence("partial", (thing.func, thing.args, thing.keywords))
    elif isinstance(thing, MethodType):
        yield from _sequence("method", (thing.__func__, thing.__self__))
    elif isinstance(thing, FunctionType):
        defaults = (thing.__defaults__, thing.__kwdefaults__)
        yield from _sequence(
            "function", (thing.__qualname__, *_code(thing.__code__), *defaults, _closure(thing))
        )
    elif isinstance(thing, type):
        yield from _sequence("class", (thing.__module__, thing.__qualname__))
    elif isinstance(getattr_static(type(thing), "__call__"), FunctionType):
        yield from _object(thing)
    else:  # a function of a compiled module; NumPy's have no qualified name in old versions
        name = getattr(thing, "__name__", type(thing).__qualname__)
        yield from _sized(b"f", repr(getattr(thing, "__qualname__", name)).encode())


def _code(code: CodeType) -> Iterator[Any]:
    yield code.co_code
    yield code.co_names
    for constant in code.co_consts:
        yield list(_code(constant)) if isinstance(constant, CodeType) else constant


def _closure(function: FunctionType) -> list[Any]:
    """The values that a function has from around it; of functions among them only the code."""
    try:
        values = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one of them has no value yet
        return []
    return [list(_code(each.__code__)) if isinstance(each, FunctionType) else each for each in values]


def _object(thing: Any) -> Iterator[bytes]:
    """An object by its class and its attributes."""
    kind = type(thing)
    attributes = vars(thing) if hasattr(thing, "__dict__") else {}
    yield from _sequence("object", (kind.__module__, kind.__qualname__, sorted(attributes.items())))
