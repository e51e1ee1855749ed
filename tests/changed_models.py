"""Model files whose header and arrays are changed by hand, as a damaged or hostile file may have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

Change = Callable[
    [Any, Any], Any
]  # of a header and its arrays, in place; or the text that takes the header's place


def changed(content: bytes, change: Change) -> bytes:
    """The file after the change."""
    from safetensors.numpy import load, save

    from parsimon.tasks.packed_arrays import unpack

    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])
    tensors = unpack(load(content), header.pop("packed"), len(content))  # nothing has to be packed
    text = change(header, tensors)
    return bytes(save(tensors, metadata={"parsimon": text if isinstance(text, str) else json.dumps(header)}))


def setting(*path: Any, to: Any) -> Change:
    """Another value in the header."""

    def change(header: Any, tensors: Any) -> None:
        for key in path[:-1]:
            header = header[key]
        header[path[-1]] = to

    return change


def tensor(name: str, to: Any) -> Change:
    """Another array, made of the one that is there."""

    def change(header: Any, tensors: Any) -> None:
        tensors[name] = np.ascontiguousarray(to(tensors[name]))

    return change


def without(name: str) -> Change:
    """An entry of the header, or an array, is gone."""

    def change(header: Any, tensors: Any) -> None:
        header.pop(name) if name in header else tensors.pop(name)

    return change
