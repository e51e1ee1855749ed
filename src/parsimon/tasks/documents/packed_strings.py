"""Strings in model files: their bytes end to end in one array, their lengths in another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def pack_strings(strings: Iterable[str]) -> tuple[Any, Any]:
    """Bytes, and how many of them each string has.

    >>> text, length = pack_strings(["one", "", "é"])
    >>> length.tolist(), unpack_strings(text, length)
    ([3, 0, 2], ['one', '', 'é'])
    """
    text = [string.encode("utf-8", "surrogatepass") for string in strings]
    return np.frombuffer(b"".join(text), np.uint8), np.array([len(each) for each in text], np.int64)


def unpack_strings(text: Any, length: Any) -> list[str]:
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
