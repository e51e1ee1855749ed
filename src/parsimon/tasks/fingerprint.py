"""Fingerprints: short strings that tell data and settings apart, so that no checkpoint is taken for another's."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType
from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class HasContent(Protocol):
    """Data that say themselves what is in them."""

    def content(self) -> Iterable[Any]:
        """Texts, numbers and arrays; the same for the same data."""
        ...


def fingerprint(*things: Any) -> str:
    """The same for things that are equal, and hardly ever for others.

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
    """What a thing is, as bytes, each part with its kind and length before it."""
    if isinstance(thing, str | bytes):
        text = thing.encode("utf-8", "surrogatepass") if isinstance(thing, str) else thing
        yield b"%s%d:" % (b"s" if isinstance(thing, str) else b"b", len(text))
        yield text
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        yield f"a{thing.dtype.str}{thing.shape}:".encode()
        yield np.ascontiguousarray(thing).tobytes()
    elif isinstance(thing, HasContent):
        yield from _sequence(type(thing).__name__, thing.content())
    elif isinstance(thing, Mapping):
        yield from _sequence("map", (part for pair in thing.items() for part in pair))
    elif isinstance(thing, list | tuple | np.ndarray):
        yield from _sequence("list", thing)
    elif is_dataclass(thing) and not isinstance(thing, type):
        values = ((each.name, getattr(thing, each.name)) for each in fields(thing) if each.compare)
        yield from _sequence(type(thing).__name__, values)
    elif isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        code = thing.__code__
        constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
        yield from _sequence("function", [thing.__qualname__, code.co_code, constants, code.co_names, cells])
    elif callable(thing):
        yield f"f{getattr(thing, '__qualname__', type(thing).__qualname__)};".encode()
    else:
        yield f"v{thing!r};".encode()


def _sequence(name: str, parts: Iterable[Any]) -> Iterator[bytes]:
    yield f"({name} ".encode()
    for part in parts:
        yield from _pieces(part)
    yield b")"
