"""Damage to files of arrays with a JSON header: bytes, the header's values, and arrays, by a seeded generator."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from safetensors.numpy import load, save

Path = tuple[Any, ...]  # of keys and places, from the outermost object to a value

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 7, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(2**63)),
    *(0.5, 1.5, -0.0, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf),
    *("", "a", "é" * 50, "\x00", "\x1b[31m", "\n", "a\nb", "a\tb", "\ud800", "<script>", "%", "x" * 10_000),
    *("U:%x[0,0]", "U:%x[-99999,0]", "U:%x[0,9999999]", "B", "*", "(", "../../etc/passwd", "CONVERGED"),
    *([], [[]], [None], [1], ["a"], ["a", "a"], [["a"]], [0] * 1000, {}, {"a": 1}, {"kind": "templates"}),
]
INTEGERS = [0, 1, -1, 2, 127, 128, 255, 65535, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, 1e30, -1.0, 0.5]
TYPES = [np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.bool_]


def paths(value: Any, here: Path = (), most: int = 12) -> Iterator[Path]:
    """The paths of all values within a value; of long lists the first ones."""
    if here:
        yield here
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value[:most]))
    for key, each in inside:
        yield from paths(each, (*here, key), most)


def at(value: Any, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


class Damage:
    """Ways to damage a file; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def bytes(self, content: bytes) -> bytes:
        """Bytes that are others, left out or repeated."""
        r, out = self.random, bytearray(content)
        way = r.random()
        if way < 0.2:
            return content[: r.randrange(len(content))]
        if way < 0.3:
            i, j, n = r.randrange(len(out)), r.randrange(len(out)), r.randrange(1, 64)
            return bytes(out[:i] + out[j : j + n] + out[i + (n if r.random() < 0.5 else 0) :])
        header = min(len(out), 8 + int.from_bytes(content[:8], "little"))
        for _ in range(r.choice([1, 1, 2, 4, 16])):
            i = r.randrange(len(out)) if r.random() < 0.5 else r.randrange(header)
            out[i] = r.choice([r.randrange(256), out[i] ^ (1 << r.randrange(8)), 0, 255, ord("9")])
        return bytes(out)

    def header(self, header: Any) -> Any:
        """A header in which some values are others, of another type, moved or not there."""
        r, header = self.random, copy.deepcopy(header)
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            known = list(paths(header))
            if known:
                self._value(header, r.choice(self._of_one_part(known)), known)
        return header

    def _of_one_part(self, known: list[Path]) -> list[Path]:
        """Paths below one outermost name, so that long lists do not take all the damage."""
        first = self.random.choice(sorted({path[0] for path in known}))
        below = [path for path in known if path[0] == first]
        lists = [path for path in below if len(path) < 4]
        return lists if self.random.random() < 0.3 else below

    def _value(self, header: Any, path: Path, known: list[Path]) -> None:
        r, into, key = self.random, at(header, path[:-1]), path[-1]
        value, way = into[key], r.random()
        if way < 0.15:
            del into[key]
        elif way < 0.25 and isinstance(value, list) and value:
            value.append(copy.deepcopy(r.choice([*value, *VALUES])))
        elif way < 0.32 and isinstance(value, list):
            r.shuffle(value)
        elif way < 0.42:
            into[key] = copy.deepcopy(at(header, r.choice(known)))
        elif way < 0.55 and isinstance(value, str) and value:
            letters = list(value)
            letters[r.randrange(len(letters))] = r.choice([chr(r.randrange(1, 128)), "", "\n", "\ud800", "é"])
            into[key] = "".join(letters)
        elif way < 0.7 and isinstance(value, int | float):
            into[key] = value + r.choice([-1, 1, 100, -100, 2**31, 0.5])
        else:
            into[key] = copy.deepcopy(r.choice(VALUES))

    def arrays(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """Arrays of which some have other values, types or shapes, are exchanged or not there."""
        r, arrays = self.random, dict(arrays)
        for _ in range(r.choice([1, 1, 2])):
            if not arrays:
                break
            name, other = r.choice(sorted(arrays)), r.choice(sorted(arrays))
            way = r.random()
            if way < 0.1:
                del arrays[name]
            elif way < 0.2:
                arrays[name], arrays[other] = arrays[other], arrays[name]
            else:
                arrays[name] = np.ascontiguousarray(self._array(arrays[name].copy()))
        return arrays

    def _array(self, values: Any) -> Any:
        r, way = self.random, self.random.random()
        if way < 0.5 and values.size:
            return self._numbers(values)
        if way < 0.6:
            with np.errstate(all="ignore"):
                return values.astype(r.choice(TYPES), casting="unsafe")
        flat = values.reshape(-1)
        ways: list[Any] = [
            lambda: flat[: r.randrange(len(flat) + 1)],
            lambda: np.concatenate([flat, flat]),
            lambda: flat[::-1],
            lambda: flat.reshape(-1, 1),
            lambda: flat.reshape(1, 1, -1),
            lambda: flat[:0],
            lambda: np.array(3.0),
            lambda: np.random.default_rng(r.randrange(2**32)).permutation(flat).reshape(values.shape),
            lambda: np.zeros((0, 3)),
        ]
        return r.choice(ways)()

    def _numbers(self, values: Any) -> Any:
        r = self.random
        for _ in range(r.choice([1, 1, 2, 5])):
            i = r.randrange(values.size)
            if values.dtype.kind in "iu":
                if r.random() < 0.5 and values.dtype != np.uint64:
                    values = values.astype(np.int64)
                near = [int(values.flat[i]) + 1, int(values.flat[i]) - 1]
                new, bounds = r.choice(INTEGERS + near), np.iinfo(values.dtype)
                values.flat[i] = max(int(bounds.min), min(int(bounds.max), new))
            elif values.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    values.flat[i] = np.array(r.choice(FLOATS)).astype(values.dtype)
        return values


def metadata(content: bytes) -> dict[str, str]:
    """The texts that a safetensors file has beside its arrays."""
    length = int.from_bytes(content[:8], "little")
    found: dict[str, str] = json.loads(content[8 : 8 + length])["__metadata__"]
    return found


def arrays_of(content: bytes) -> dict[str, Any]:
    """Its arrays."""
    return dict(load(content))


def packed(arrays: dict[str, Any], texts: dict[str, str]) -> bytes:
    """A file of arrays and texts."""
    return bytes(save(arrays, texts))
