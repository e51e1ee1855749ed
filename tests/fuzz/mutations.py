"""Changes to inputs: bytes, cells of lines, values of JSON, arrays, and the files that are made of the last two.

All of them draw from a `random.Random`, so a seed says what comes out.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

# What readers get wrong: ends of lines, broken UTF-8, marks of other formats, numbers at the edge of what fits.
TOKENS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\n\n\n", b"\t", b"\t\t", b"  ", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\xc2\x85", b"\xc2\xa0", b"\x0b", b"\x0c", b"\x1b[31m",
    b"-1", b"0", b"1.1", b"1-2", b"99999999999999999999", b"1e999", b"nan", b"inf", b"_", b"*", b"-", b"?", b"#",
    b'"', b"'", b",", b";", b"\\", b"<", b">", b"&", b"{", b"}", b"[", b"]", b"null", b"true", b"=", b"|", b"A" * 5000,
)  # fmt: skip

# The same for values of JSON and of Python.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 0.5, 1.5, -0.0, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, 2**63, 2**64,
    -(2**63), 10**30, 10**400, 1e308, -1e308, 1e135, 1e-320, float("nan"), float("inf"), -float("inf"), "", "a", "a\nb",
    "\t", "\x00", "\ud800", "\x1b[31m", "é" * 100, "%", "<script>", "../x", "*", "(", "B", "U:%x[0,0]",
    "U:%x[-99999,0]", "U:%x[0,9999999]", "CONVERGED", "x" * 10000, [], [[]], [None], [1], ["a"], ["a", "a"], [["a"]],
    {}, {"a": 1}, {"kind": "templates"}, [0] * 1000,
)  # fmt: skip

EDGES = (
    0, 1, -1, 2, 3, 5, 7, 100, -2, 127, 255, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62,
    2**63 - 1, -(2**63),
)  # fmt: skip
FRACTIONS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e135, 1e99, 1e-320, 0.0, -0.0, -1.0, 0.5, 1e6)
TYPES = (
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool",
    "complex128",
)


def change_bytes(content: bytes, choose: Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """One change that knows nothing of the format."""
    at, to = sorted((choose.randrange(len(content) + 1), choose.randrange(len(content) + 1)))
    change = choose.randrange(7)
    if change == 0 and content:
        at = choose.randrange(len(content))
        return (
            content[:at]
            + bytes([choose.choice([choose.randrange(256), content[at] ^ 1 << choose.randrange(8)])])
            + content[at + 1 :]
        )
    if change == 1:
        return content[:at] + content[min(to, at + 40) :]
    if change == 2:
        return content[:at] + content[at : min(to, at + 60)] * 2 + content[to:]
    if change == 3:
        return content[:at]
    if change == 4:
        lines = content.split(b"\n")
        choose.shuffle(lines)
        return b"\n".join(lines)
    token = choose.choice(tokens)
    return content[:at] + token + content[at if change == 5 else min(at + len(token), len(content)) :]


def change_cells(content: bytes, choose: Random, separator: bytes, cells: Sequence[bytes]) -> bytes:
    """One change to a cell of a line, or to a line."""
    lines = content.split(b"\n")
    at = choose.randrange(len(lines))
    row = lines[at].split(separator)
    cell, change = choose.randrange(len(row)), choose.randrange(6)
    if change <= 2:
        row[cell] = choose.choice(
            [*cells, choose.choice(row), choose.choice(choose.choice(lines).split(separator))]
        )
    elif change == 3:
        row.insert(cell, choose.choice([*cells, row[cell]]))
    elif change == 4:
        del row[cell]
    lines[at : at + (change != 5)] = [separator.join(row)]
    return b"\n".join(lines)


def change_value(root: Any, choose: Random, values: Sequence[Any] = VALUES) -> Any:
    """One change somewhere in lists and dictionaries; the changed copy."""
    if not (isinstance(root, dict | list) and root) or choose.random() < 0.02:
        return copy.deepcopy(choose.choice(values))
    root = copy.deepcopy(root)
    holder, key = _place(root, choose)
    value, change = holder[key], choose.randrange(6)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(choose.choice([value, choose.choice(values)])))
    elif change == 2:
        other, at = _place(root, choose)
        holder[key] = copy.deepcopy(other[at])
    elif change == 3 and isinstance(value, list):
        choose.shuffle(value)
    elif change == 3 and isinstance(value, int | float):
        holder[key] += choose.choice([-1, 1, 100, -100, 2**31, 0.5])
    elif change == 4 and isinstance(value, str):
        at = choose.randrange(len(value) + 1)
        letter = choose.choice(
            ["", "\n", "\t", "\ud800", "é", "(", "%", '"', "0", chr(choose.randrange(1, 128))]
        )
        holder[key] = value[:at] + letter + value[at + 1 :]
    else:
        holder[key] = copy.deepcopy(choose.choice(values))
    return root


def _place(holder: Any, choose: Random) -> tuple[Any, Any]:
    """A place somewhere below: what holds it and its key. Long lists do not draw more changes than single values."""
    while True:
        key = choose.choice(list(holder)) if isinstance(holder, dict) else choose.randrange(len(holder))
        inner = holder[key]
        if not (isinstance(inner, dict | list) and inner) or choose.random() < 0.3:
            return holder, key
        holder = inner


def change_array(array: Any, choose: Random) -> Any:
    """Another array: numbers at the edge, another length, shape, order or type."""
    array = np.array(array)
    change = choose.randrange(14)
    if change == 12:
        return np.array(3)
    if change == 13:
        order = choose.sample(range(array.size), array.size)
        return array.ravel()[order].reshape(array.shape)
    if change <= 4 and array.size:
        at = choose.randrange(array.size)
        if array.dtype.kind == "f":
            array.flat[at] = choose.choice(FRACTIONS)
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            array.flat[at] = max(
                limits.min,
                min(limits.max, choose.choice([*EDGES, int(array.flat[at]) + choose.choice([-1, 1])])),
            )
        else:
            array.flat[at] = not array.flat[at]
        return np.sort(array) if change == 4 and array.ndim else array
    if change == 5:
        return array[: choose.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
    if change == 6:
        return np.concatenate([array, array]) if array.ndim else array.reshape(1, 1)
    if change == 7:
        return array.reshape(choose.choice([(*array.shape, 1), (1, *array.shape), (-1,)]))
    if change == 8:
        return array.ravel()[:0].reshape((0, *array.shape[1:]))
    if change == 9:
        return array[::-1] if array.ndim else array
    if change == 10 and array.dtype == bool:
        return np.full(array.shape, 2, np.uint8).view(bool)  # bytes that are no truth values
    with np.errstate(all="ignore"):
        return array.astype(choose.choice(TYPES), casting="unsafe")


def change_safetensors(
    content: bytes, choose: Random, key: str, sign: Callable[[Any, Any], str] = lambda header, arrays: header
) -> bytes:
    """A file of arrays with a JSON header under `key`: one change to the header, to an array, or to the bytes.

    `sign` makes the metadata of the new header and arrays, for files with a digest.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load, save

    try:
        length = int.from_bytes(content[:8], "little")
        text = json.loads(content[8 : 8 + length])["__metadata__"][key]
        header, arrays = json.loads(text), dict(load(content))
        if isinstance(header, dict) and "digest" in header:
            header = json.loads(header["header"])
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError):
        return change_bytes(content, choose)
    change = choose.randrange(10)
    if change == 0:
        return change_bytes(content, choose)
    if change <= 5 or not arrays:
        header = change_value(header, choose)
    else:
        name = choose.choice(sorted(arrays))
        if choose.random() < 0.1:
            del arrays[name]
        elif choose.random() < 0.1:
            other = choose.choice(sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
        else:
            arrays[name] = change_array(arrays[name], choose)
    try:
        packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return bytes(save(packed, {key: sign(json.dumps(header), packed)}))
    except (SafetensorError, ValueError, KeyError, TypeError, UnicodeError):
        return change_bytes(content, choose)  # what cannot be written, such as complex numbers
