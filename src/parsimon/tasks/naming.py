"""Names of what is predicted: labels, classes, relations, variables and their states.

They are written into files and printed a line each, so a name with half of a surrogate pair can never be written, and
a label with a line break would end its line. Both are refused before training, on writing and on reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.forms import list_of, shown, text, wrong

ENDS = "\n\r\0"  # of lines, and of strings elsewhere


def label(value: Any, place: str) -> str:
    """The form of a label: a text on one line."""
    if any(end in text(value, place) for end in ENDS):
        raise wrong(value, place, "a label: those have no line breaks")
    return str(value)


labels = list_of(label)
names = list_of(text)


def check_labels(given: Iterable[Any], what: str = "label") -> None:
    """Refuses, before training, labels that are not a text on one line."""
    for each in given:
        _check(label, each, what, "it must be a text on one line")


def check_names(given: Iterable[Any], what: str) -> None:
    """Refuses, before training, names that cannot be written; those that are no strings are written as such."""
    for each in given:
        if isinstance(each, str):
            _check(text, each, what, "it has half of a surrogate pair, which no file can hold")


def _check(form: Any, value: Any, what: str, why: str) -> None:
    try:
        form(value, what)
    except ValueError:
        raise ParsimonError(f"{shown(value)} cannot be a {what}: {why}; give it another name.") from None
