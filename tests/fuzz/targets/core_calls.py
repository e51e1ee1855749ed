"""Calls of the compiled core, whose arrays are checked at its border and nowhere else.

An input names a script (core_scripts.py) and says what is changed in it: arguments of its calls, or the calls
themselves, which may be left out, done twice or done in another order.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import change_array, change_bytes
from fuzz.target import Target
from fuzz.targets.core_scripts import SCRIPTS, Rounds

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    100,
    -100,
    2**15,
    2**16,
    2**31 - 1,
    2**31,
    -(2**31),
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
    2**64,
)
FRACTIONS = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e308, 1e-320)
OTHERS: tuple[Any, ...] = (
    None,
    3,
    "x",
    [],
    np.zeros(0),
    np.zeros((0, 0)),
    np.zeros((1, 0, 3)),
    np.zeros(1000),
    np.zeros((100, 100)),
    [None],
)


class CoreCalls(Target):
    name = "core"
    # What the core promises for calls that make no sense; memory that is not there is no matter of the call's sense.
    allowed = (ValueError, TypeError, IndexError, MemoryError)

    def made(self) -> list[bytes]:
        return [json.dumps({"script": name, "changes": []}).encode() for name in SCRIPTS]

    def change(self, content: bytes, choose: Random) -> bytes:
        try:
            given = json.loads(content)
            steps = SCRIPTS[given["script"]]()
        except (ValueError, KeyError, TypeError):
            return change_bytes(content, choose)
        at = choose.randrange(len(steps))
        if choose.random() < 0.15:
            change: list[Any] = [choose.choice(["skip", "twice", "swap"]), at, choose.randrange(len(steps))]
        else:
            change = ["argument", at, choose.randrange(max(len(steps[at][1]), 1)), choose.randrange(2**32)]
        given["changes"].append(change)
        return json.dumps(given).encode()

    def run(self, content: bytes, folder: Path) -> None:
        try:
            given = json.loads(content)
            steps = SCRIPTS[given["script"]]()
            for change in given["changes"]:
                steps = changed(steps, change)
        except (ValueError, KeyError, TypeError, IndexError):
            return  # no script
        last: BaseException | None = None
        made: Any = None
        for name, arguments in steps:
            try:
                if name.startswith("new "):
                    made = find(name.removeprefix("new "))(*arguments)
                elif made is not None or not name.startswith("."):
                    find(name, made)(*arguments)
            except self.allowed as error:
                last = error
        if last is not None:
            raise last


def find(name: str, made: Any = None) -> Any:
    """A function or class of the core; with a dot in front, a method of what was made, or one that reads a property."""
    from parsimon import _core

    if not name.startswith("."):
        found: Any = _core
        for part in name.split("."):
            found = getattr(found, part)
        return found
    found = getattr(made, name[1:])
    return found if callable(found) else lambda: found


def changed(steps: list[tuple[str, list[Any]]], change: list[Any]) -> list[tuple[str, list[Any]]]:
    """The script after one change."""
    if not steps:
        return steps
    steps, what, at = list(steps), change[0], change[1] % len(steps)
    if what == "skip":
        del steps[at]
    elif what == "twice":
        steps.insert(at, steps[at])
    elif what == "swap":
        other = change[2] % len(steps)
        steps[at], steps[other] = steps[other], steps[at]
    elif steps[at][1]:
        name, arguments = steps[at][0], list(steps[at][1])
        which = change[2] % len(arguments)
        arguments[which] = another(arguments[which], Random(change[3]))
        steps[at] = (name, arguments)
    return steps


def another(value: Any, choose: Random) -> Any:
    """Another argument of about the same kind, or of any."""
    if choose.random() < 0.04:
        return choose.choice(OTHERS)
    if isinstance(value, np.ndarray):
        return another_array(value, choose)
    if isinstance(value, Rounds):
        return Rounds(choose.choice([0, 1, -1, 2, 20, -(2**31)]))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return choose.choice([*NUMBERS, value + 1, value - 1])
    if isinstance(value, float):
        return choose.choice(FRACTIONS)
    if isinstance(value, list | tuple) and value:
        parts = list(value)
        at = choose.randrange(len(parts))
        parts[at : at + 1] = choose.choice([[another(parts[at], choose)]] * 6 + [[], [parts[at]] * 2, [None]])
        return type(value)(parts)
    if isinstance(value, bytes):
        return choose.choice([b"", value[: choose.randrange(len(value) + 1)], change_bytes(value, choose)])
    if isinstance(value, str):
        return choose.choice(["", "\x00", "é", "xx", " ", "\ud800"])
    if isinstance(value, dict):
        return choose.choice([{}, {**value, "z": float("nan")}, {1: 2}, {"a": {"b": [value]}}])
    return choose.choice([None, value])


def another_array(array: Any, choose: Random) -> Any:
    if choose.random() < 0.08:
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array  # not contiguous
    if choose.random() < 0.04:
        array = array.copy()
        array.flags.writeable = False
        return array
    return change_array(array, choose)


TARGETS = [CoreCalls]
