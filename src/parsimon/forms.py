"""Forms of JSON values: what a header of a model file or a checkpoint may say, checked before anything uses it.

A form is a function of a value and the name of its place. It returns the value, or raises a `ValueError` that says what
is wrong with it. Forms are put together from smaller ones:

>>> from parsimon.forms import count, list_of, number, optional, record
>>> step = record({"iteration": count}, {"gap": optional(number)})
>>> list_of(step)([{"iteration": 1, "gap": None}, {"iteration": 2.5}], "history")
Traceback (most recent call last):
    ...
ValueError: history[1].iteration is 2.5, not a whole number of zero or more
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Form: TypeAlias = Callable[[Any, str], Any]

DEPTH, VALUES = 32, 1_000_000  # of JSON that no form describes: how deep, and how many values
SHOWN, MOST_TOLD = 60, 300  # letters of a wrong value, and of an error
LARGEST = 1 << 63
MOST_SECONDS = 1e10  # 300 years
LARGEST_NUMBER = sys.float_info.max


def text(value: Any, place: str) -> str:
    """Any text that can be written to a file: no half of a surrogate pair."""
    if not isinstance(value, str):
        raise wrong(value, place, "a text")
    if not encodable(value):
        raise wrong(value, place, "a text in Unicode: it has half of a surrogate pair")
    return value


def line(value: Any, place: str) -> str:
    """A text of one line, without control characters."""
    if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in text(value, place)):
        raise wrong(value, place, "a text of one line without control characters")
    return str(value)


def count(value: Any, place: str) -> int:
    """A whole number of zero or more that fits into 63 bits."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise wrong(value, place, "a whole number of zero or more")
    return value


def integer(value: Any, place: str) -> int:
    """A whole number of 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool) or not -LARGEST <= value < LARGEST:
        raise wrong(value, place, "a whole number")
    return value


def number(value: Any, place: str) -> float:
    """A finite number."""
    if not math.isfinite(bound(value, place)):
        raise wrong(value, place, "a finite number")
    return float(value)


def bound(value: Any, place: str) -> float:
    """A finite number, or infinity for a bound that is not known."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise wrong(value, place, "a number")
    if not (-LARGEST_NUMBER <= value <= LARGEST_NUMBER or value == math.inf):
        raise wrong(value, place, "a finite number")
    return float(value)


def duration(value: Any, place: str) -> float:
    """Seconds that a training may have taken."""
    if not 0 <= number(value, place) <= MOST_SECONDS:
        raise wrong(value, place, "a number of seconds")
    return float(value)


def flag(value: Any, place: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise wrong(value, place, "true or false")
    return value


def one_of(*known: str) -> Form:
    """One of some texts."""

    def check(value: Any, place: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise wrong(value, place, f"one of {', '.join(known)}")
        return value

    return check


def optional(form: Form) -> Form:
    """What a form describes, or null."""
    return lambda value, place: None if value is None else form(value, place)


def list_of(form: Form) -> Form:
    """A list of what a form describes."""

    def check(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise wrong(value, place, "a list")
        return [form(each, f"{place}[{i}]") for i, each in enumerate(value)]

    return check


def tuple_of(*forms: Form) -> Form:
    """A list with one value for each of the forms."""

    def check(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list) or len(value) != len(forms):
            raise wrong(value, place, f"a list of {len(forms)}")
        return [form(each, f"{place}[{i}]") for i, (form, each) in enumerate(zip(forms, value, strict=True))]

    return check


def mapping(form: Form) -> Form:
    """An object whose values a form describes, under any names."""

    def check(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(value, place, "an object")
        return {
            line(name, f"a name in {place}"): form(each, f"{place}.{name}") for name, each in value.items()
        }

    return check


def record(
    required: Mapping[str, Form], others: Mapping[str, Form] | None = None, *, closed: bool = False
) -> Form:
    """An object with some names; those that are not described have plain values, or are refused if it is `closed`."""
    known = {**required, **(others or {})}

    def check(value: Any, place: str) -> dict[str, Any]:
        out = mapping(lambda each, _: each)(value, place)
        missing, unknown = set(required) - set(out), set(out) - set(known)
        if missing:
            raise ValueError(f"{place} lacks {sorted(missing)[0]}")
        if closed and unknown:
            raise ValueError(f"{place} has {shown(min(unknown))}, which is not known")
        return {name: known.get(name, plain)(each, f"{place}.{name}") for name, each in out.items()}

    return check


def plain(value: Any, place: str) -> Any:
    """Any JSON with finite numbers and proper texts, if it is not too large or too deep."""
    _measured(value, place, 0, 0)
    return value


def _measured(value: Any, place: str, depth: int, seen: int) -> int:
    """How many values there are, with those before."""
    seen += 1
    if depth > DEPTH or seen > VALUES:
        raise ValueError(f"{place} is nested too deeply or too large")
    if isinstance(value, str):
        text(value, place)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            text(name, place)
            seen = _measured(each, f"{place}.{name}", depth + 1, seen)
    elif isinstance(value, Sequence):
        for i, each in enumerate(value):
            seen = _measured(each, f"{place}[{i}]", depth + 1, seen)
    elif value is not None and not isinstance(value, bool):
        number(value, place)
    return seen


def encodable(value: str) -> bool:
    """Whether a text can be written in UTF-8: halves of surrogate pairs cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any) -> str:
    """A value for a message: on one line, and cut if it is long."""
    told = ascii(value) if not isinstance(value, list | dict) else type(value).__name__
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}…"


def told(error: BaseException) -> str:
    """What an error says, on one line without control characters, for use within a sentence."""
    said = " ".join(str(error).split())[:MOST_TOLD] or type(error).__name__
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in said)


def wrong(value: Any, place: str, right: str) -> ValueError:
    """The error for a value that does not fit."""
    return ValueError(f"{place} is {shown(value)}, not {right}")
