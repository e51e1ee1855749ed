"""The arrays of a model file in less room: weights of fewer bits, if that is wanted, and compressed bytes.

Numbers of neighbours differ little in their upper bytes, so the first bytes of all numbers are compressed first, then
their second ones, and so on. Weights of eight bits say which of 256 values is meant, or zero; the values are those that
have the least squared error, as far as Lloyd's algorithm finds them.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.forms import count, list_of, record, text
from parsimon.tasks.options import DTYPES

LEVELS = ".levels"  # the name of what the codes of an array mean
WORTH_IT = 4096  # bytes; smaller arrays stay as they are
MOST_UNPACKED = 64 << 20, 200  # bytes in all, and times the size of the file: the larger of both is allowed
ROUNDS = 30

DESCRIBED = record({"dtype": text, "shape": list_of(count)}, closed=True)


def is_weights(name: str) -> bool:
    """Whether an array has weights, to which the wanted type applies."""
    return name.rpartition(".")[2] == "weights"


def with_weights_as(tensors: dict[str, Any], dtype: str) -> dict[str, Any]:
    """The arrays with all weights in a type of fewer bits; refuses what does not fit."""
    if dtype not in DTYPES:
        raise ParsimonError(f"weights are kept as one of {', '.join(DTYPES)}, not {dtype!r}.")
    out = {}
    for name, values in tensors.items():
        if not is_weights(name):
            out[name] = values
        elif dtype == "int8":
            out[name], out[name + LEVELS] = coded(values)
        else:
            if values.size and np.abs(values).max() > np.finfo(dtype).max:
                raise ParsimonError(f"a weight is too large for {dtype}; keep float64.")
            out[name] = values.astype(dtype)
    return out


def decoded(tensors: dict[str, Any]) -> dict[str, Any]:
    """The arrays as they were before some became codes, but for what that has cost; a `ValueError` or `IndexError`."""
    out = {name: values for name, values in tensors.items() if not name.endswith(LEVELS)}
    for name, levels in tensors.items():
        if name.endswith(LEVELS):
            what = name.removesuffix(LEVELS)
            if (
                levels.ndim != 1
                or not np.issubdtype(levels.dtype, np.floating)
                or out[what].dtype != np.uint8
            ):
                raise ValueError("the weights are no codes of levels")
            out[what] = levels[out[what]]
    return out


def coded(values: Array) -> tuple[IntArray, Array]:
    """A code of eight bits for every value, and what the codes mean. Zeros, and only they, stay zeros.

    >>> codes, levels = coded(np.array([0.5, 0.0, -2.0, 0.5]))
    >>> levels[codes].tolist()
    [0.5, 0.0, -2.0, 0.5]
    """
    other = values[values != 0]
    if not values.size:
        return np.zeros(values.shape, np.uint8), np.zeros(1)
    zeros = len(other) < values.size
    own = lloyd(np.sort(other), 255 if zeros else 256)
    codes = np.zeros(values.shape, np.uint8)
    if len(other):
        codes[values != 0] = nearest(own, other)
    if zeros:
        codes[values == 0] = len(own)
        own = np.append(own, 0.0)
    return codes, own


def nearest(ascending: Array, values: Array) -> IntArray:
    """The place of the nearest of ascending numbers, which is exact where a value is one of them."""
    if len(ascending) == 1:
        return np.zeros(len(values), np.int64)
    above = np.clip(np.searchsorted(ascending, values), 1, len(ascending) - 1)
    return np.asarray(above - (values - ascending[above - 1] < ascending[above] - values))


def lloyd(ascending: Array, n: int) -> Array:
    """At most n values for which Σ (x − nearest value)² is small: each is the mean of those that it is nearest to.

    Lloyd (1982), beginning with levels as dense as the cube root of the density of the values, which is best when they
    are many (Panter & Dite 1951). Distinct values stay as they are, if they are so few.
    """
    distinct = np.unique(ascending)
    if len(distinct) <= n:
        return distinct
    total = np.concatenate([[0.0], np.cumsum(ascending)])
    dense = np.concatenate([[0.0], np.cumsum(np.diff(ascending) ** (2 / 3))])  # Σ dx · (1 / dx)^⅓
    levels = np.interp((np.arange(n) + 0.5) / n * dense[-1], dense, ascending)
    for _ in range(ROUNDS):
        cut = np.searchsorted(ascending, (levels[1:] + levels[:-1]) / 2)
        begin, end = np.append(0, cut), np.append(cut, len(ascending))
        some = end > begin
        levels = (total[end[some]] - total[begin[some]]) / (end - begin)[some]
    return np.asarray(levels[levels != 0])


def pack(tensors: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays, of which those that gain by it are compressed, and the types and shapes of these."""
    out, described = {}, {}
    for name, values in tensors.items():
        out[name] = values
        if values.nbytes < WORTH_IT:
            continue
        planes = values.reshape(-1).view(np.uint8).reshape(-1, values.itemsize).T
        small = zlib.compress(planes.tobytes(), 9 if values.itemsize < 4 else 6)
        if len(small) < 0.95 * values.nbytes:
            out[name] = np.frombuffer(small, np.uint8)
            described[name] = {"dtype": str(values.dtype), "shape": list(values.shape)}
    return out, described


def unpack(tensors: dict[str, Any], described: Any, size: int) -> dict[str, Any]:
    """The arrays that `pack` was given; a `ValueError` if there is something else. `size` is that of the file."""
    if not isinstance(described, dict):
        raise ValueError("the packed arrays are not described")
    left = max(MOST_UNPACKED[0], MOST_UNPACKED[1] * size)
    out = dict(tensors)
    for name, form in described.items():
        form = DESCRIBED(form, f"packed.{name}")
        dtype = np.dtype(form["dtype"])
        if dtype.kind not in "uif" or tensors[name].dtype != np.uint8:
            raise ValueError(f"the packed array {name} has no numbers")
        wanted = math.prod(form["shape"]) * dtype.itemsize
        left -= wanted
        if left < 0:
            raise ValueError("its arrays unpack to more than a file of this size may hold")
        stream = zlib.decompressobj()
        try:
            planes = stream.decompress(tensors[name].tobytes(), wanted + 1)
        except zlib.error:
            raise ValueError(f"the packed array {name} is cut or changed") from None
        if len(planes) != wanted or not stream.eof:
            raise ValueError(f"the packed array {name} has another size than it should have")
        rows = np.frombuffer(planes, np.uint8).reshape(dtype.itemsize, -1)
        out[name] = np.ascontiguousarray(rows.T).reshape(-1).view(dtype).reshape(form["shape"])
    return out
