"""Labels of any type: names, numbers, and what a file can have of them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.label_values import (
    LabelNumbers,
    labels_of,
    name_of,
    named_labels,
    plain,
    values_for_file,
    values_from_file,
)


class Colour(enum.Enum):
    RED = 1


class Size(enum.IntEnum):
    SMALL = 3


class Word(enum.StrEnum):
    NOUN = "noun"


@pytest.mark.parametrize(
    ("label", "name", "in_file"),
    [
        ("N", "N", "N"),
        ("", "", ""),
        (7, "7", 7),
        (-(10**30), "-1" + "0" * 30, -(10**30)),
        (True, "True", True),
        (0.5, "0.5", 0.5),
        (np.int64(7), "7", 7),
        (np.bool_(False), "False", False),
        (np.float32(0.1), "0.10000000149011612", float(np.float32(0.1))),
        (np.str_("N"), "N", "N"),
        (Size.SMALL, "3", 3),
        (Word.NOUN, "noun", "noun"),
        (Colour.RED, "Colour.RED", "Colour.RED"),
        (("a", 1), "('a', 1)", "('a', 1)"),
    ],
)
def test_names_and_what_comes_back(label: Any, name: str, in_file: Any) -> None:
    assert name_of(label) == name
    names, values = named_labels([label])
    assert names == (name,)
    assert labels_of(names, values)[0] is (name if type(label) in (str, np.str_) else label)
    (kept,) = labels_of(names, values_from_file(values_for_file(values), names))
    assert kept == in_file
    assert type(kept) is type(in_file)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ([1], "the label is a list"),
        (np.zeros(2), "the label is a ndarray"),
        (float("nan"), "the label is missing"),
        (np.float64("nan"), "the label is missing"),
        ("a\nb", "has a line break, a tab or another separator"),
        ("a\tb", "has a line break"),
        ("\0", "has a line break"),
        ("\u2028", "has a line break"),
        ("\ud800", r"a label \(str\) cannot be written as text"),
        (10**5000, r"a label \(int\) cannot be written as text"),
    ],
    ids=range(10),
)
def test_what_cannot_be_a_label(label: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        name_of(label)
    with pytest.raises(ParsimonError, match=said):
        LabelNumbers().add(label)
    assert LabelNumbers(["A"]).find(label) is None


def test_missing_values_of_pandas_are_no_labels() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ParsimonError, match="the label is missing"):
        name_of(pandas.NA)


@pytest.mark.parametrize("two", [(1, "1"), ("True", True), (0.5, "0.5"), ((1,), "(1,)")])
def test_two_labels_of_one_name_are_refused(two: tuple[Any, Any]) -> None:
    numbers = LabelNumbers()
    numbers.add(two[0])
    with pytest.raises(ParsimonError, match="have the same name; give all labels as one type"):
        numbers.add(two[1])


def test_equal_labels_are_one() -> None:
    numbers = LabelNumbers()
    assert [numbers.add(each) for each in (2, np.int64(2), 2.0, 1)] == [0, 0, 0, 1]
    assert numbers.values == {"2": 2, "1": 1}


def test_labels_are_found_by_value_and_by_name() -> None:
    numbers = LabelNumbers(["2", "B"], {"2": 2})
    assert [numbers.find(each) for each in (2, "2", np.int8(2), "B", 3, "A", True)] == [
        0,
        0,
        0,
        1,
        None,
        None,
        None,
    ]


@given(
    st.lists(st.one_of(st.integers(), st.floats(allow_nan=False), st.text("ab"), st.booleans()), unique=True)
)
def test_any_labels_come_back_from_a_file(labels: list[Any]) -> None:
    if len({str(label) for label in labels}) < len(labels):
        return  # refused, as above
    names, values = named_labels(labels)
    back = labels_of(names, values_from_file(values_for_file(values), names))
    assert back == labels
    assert [type(each) for each in back] == [type(each) for each in labels]


@pytest.mark.parametrize(
    "given",
    [
        [],
        None,
        {"x": 1},
        {"1": 2},
        {"1": "1"},
        {"1": [1]},
        {"1": None},
        {"True": 1},
        {"1": True},
        {"1": {"a": 1}},
    ],
)
def test_files_with_other_values_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="value"):
        values_from_file(given, ["1", "True"])


def test_what_has_no_plain_value_stays_as_it_is() -> None:
    assert plain(Colour.RED) is Colour.RED
    assert plain(True) is True
