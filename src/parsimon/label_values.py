"""Labels of any type. Models know labels by their names; users get back the labels that they gave.

The label 1 has the name ``1``, True has ``True``, and a text is its own name. Data sets and models keep a mapping of
names to the labels that are no texts. A model file has those that are whole numbers, numbers and truth values; of other
labels (members of an enumeration, for instance) it has the names only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from parsimon.errors import ParsimonError

LabelValues: TypeAlias = Mapping[str, Any]  # from names to labels that are no texts
TEXTS = (str, np.str_)
IN_FILES = (bool, int, float)
# What would break lines and columns of text files, and what cannot be written at all.
SEPARATORS = frozenset("\n\r\t\0\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class LabelNumbers:
    """Numbers labels in order of first appearance.

    >>> from parsimon.label_values import LabelNumbers
    >>> numbers = LabelNumbers()
    >>> [numbers.add(label) for label in (3, 1, 3)], numbers.names, numbers.values
    ([0, 1, 0], ('3', '1'), {'3': 3, '1': 1})
    """

    def __init__(self, names: Iterable[str] = (), values: LabelValues | None = None) -> None:
        self._number: dict[Any, int] = {}
        self._name: dict[str, int] = {}
        self.values: dict[str, Any] = dict(values or {})
        for name in names:
            self._number[self.values.get(name, name)] = self._name[name] = len(self._name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the labels, by number."""
        return tuple(self._name)

    def find(self, label: Any) -> int | None:
        """The number of a label, or of the label that a text is the name of; None if there is none."""
        number = self._number.get(label) if isinstance(label, Hashable) else None
        return self._name.get(label) if number is None and isinstance(label, str) else number

    def add(self, label: Any) -> int:
        """The number of a label, which is a new one if need be."""
        try:
            return self._number[label]
        except (KeyError, TypeError):
            name = name_of(label)
        if name in self._name:
            other = self.values.get(name, name)
            raise ParsimonError(
                f"the labels {other!r} ({type(other).__name__}) and {label!r} ({type(label).__name__}) have the same "
                "name; give all labels as one type"
            )
        if type(label) not in TEXTS:
            self.values[name] = label
        self._number[label] = self._name[name] = len(self._name)
        return self._name[name]


def name_of(label: Any) -> str:
    """The name of a label, if it can be one; otherwise an error that says why, for the end of a sentence."""
    if not isinstance(label, Hashable):
        raise ParsimonError(
            f"the label is a {type(label).__name__}; give a text, a number or another hashable object"
        )
    if _is_missing(label):
        raise ParsimonError("the label is missing (NaN)")
    try:
        name = str(plain(label))
        name.encode()
    except ValueError:  # half of a surrogate pair, or a number with thousands of digits
        raise ParsimonError(
            f"a label ({type(label).__name__}) cannot be written as text; rename it"
        ) from None
    if not SEPARATORS.isdisjoint(name):
        raise ParsimonError(
            f"the label {name!r} has a line break, a tab or another separator, which no label may have in a text "
            "file; rename it"
        )
    return name


def plain(label: Any) -> Any:
    """The text, whole number, number or truth value that a label equals, if there is one; else the label."""
    if type(label).__module__ == "numpy":
        return label.item()
    if isinstance(label, str):
        return str.__str__(label)  # of a member of an enumeration of texts, its text
    if isinstance(label, int) and not isinstance(label, bool):
        return int(label)
    return float(label) if isinstance(label, float) else label


def named_labels(labels: Iterable[Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of labels that differ, and those that are no texts by their names."""
    numbers = LabelNumbers()
    for label in labels:
        numbers.add(label)
    return numbers.names, numbers.values


def _is_missing(label: Any) -> bool:
    """Whether a label is NaN or pandas.NA, which do not equal themselves."""
    try:
        return bool(label != label)
    except (TypeError, ValueError):
        return True


def labels_of(names: Iterable[str], values: LabelValues) -> list[Any]:
    """The labels that have these names."""
    return [values.get(name, name) for name in names]


def values_for_file(values: LabelValues) -> dict[str, Any]:
    """The labels that a model file can have."""
    found = {name: plain(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if type(value) in IN_FILES}


def values_from_file(given: Any, names: Iterable[str]) -> dict[str, Any]:
    """The labels of a model file; a `ValueError` if they are invalid."""
    if not isinstance(given, dict) or not given.keys() <= set(names):
        raise ValueError("values of labels must be those of the model's labels")
    if any(type(value) not in IN_FILES or str(value) != name for name, value in given.items()):
        raise ValueError("the value of a label is not what its name says")
    if len(set(given.values())) != len(given):
        raise ValueError("two labels have the same value")
    return given
