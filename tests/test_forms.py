"""Forms of JSON values: what fits is returned, and what does not is named with its place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from parsimon import forms
from parsimon.forms import (
    bound,
    count,
    duration,
    flag,
    integer,
    line,
    list_of,
    mapping,
    number,
    one_of,
    optional,
    plain,
    record,
    text,
    told,
    tuple_of,
)

JSON: list[Any] = [None, True, 0, -1, 7, 2**63, 10**400, 0.5, -0.0, math.nan, math.inf, -math.inf]
JSON += ["", "a", "a\nb", "\ud800", "\x1b", [], [1], ["a"], {}, {"a": 1}]

FIT = {  # by place in JSON
    text: {"", "a", "a\nb", "\x1b"},
    line: {"", "a"},
    count: {0, 7},
    integer: {0, -1, 7},
    flag: {True},
    one_of("a", "b"): {"a"},
}


@pytest.mark.parametrize(("form", "right"), FIT.items())
@pytest.mark.parametrize("value", JSON, ids=ascii)
def test_single_values(form: Any, right: set[Any], value: Any) -> None:
    if isinstance(value, str | int) and any(type(value) is type(each) and value == each for each in right):
        assert form(value, "here") == value
    else:
        with pytest.raises(ValueError, match=r"^here is .*, not ") as error:
            form(value, "here")
        assert str(error.value).isprintable()


@pytest.mark.parametrize(("form", "infinite"), [(number, False), (bound, True)])
def test_numbers(form: Any, infinite: bool) -> None:
    for value in (0, -1, 7, 2**63, 0.5, -0.0, 1.7e308, *([math.inf] if infinite else [])):
        assert form(value, "here") == value
    for value in (None, True, 10**400, math.nan, -math.inf, "1", [1], *([] if infinite else [math.inf])):
        with pytest.raises(ValueError, match=r"here is .*, not a"):
            form(value, "here")


def test_seconds() -> None:
    assert duration(1.5, "here") == 1.5
    for value in (-1, 1e11, math.inf, math.nan, "1"):
        with pytest.raises(ValueError, match="here is"):
            duration(value, "here")


def test_what_is_put_together_names_the_place() -> None:
    form = record({"a": list_of(optional(count))}, {"b": tuple_of(line, number), "c": mapping(flag)})
    right = {"a": [1, None], "b": ["x", 0.5], "c": {"y": True}, "d": {"z": [1.5, None]}}
    assert form(right, "top") == right
    assert form({"a": []}, "top") == {"a": []}
    for wrong, place in (
        ({}, "top lacks a"),
        ([], r"top is list, not an object"),
        ({"a": [1, -1]}, r"top.a\[1\] is -1"),
        ({"a": {}}, "top.a is dict, not a list"),
        ({"a": [], "b": ["x"]}, "top.b is list, not a list of 2"),
        ({"a": [], "b": [0, 0]}, r"top.b\[0\] is 0, not a text"),
        ({"a": [], "c": {"y": 1}}, "top.c.y is 1, not true or false"),
        ({"a": [], "c": {"y\n": True}}, "a name in top.c is"),
        ({"a": [], "d": {"z": [math.nan]}}, r"top.d.z\[0\] is nan"),
    ):
        with pytest.raises(ValueError, match=place):
            form(wrong, "top")


def test_a_closed_record_has_nothing_else() -> None:
    with pytest.raises(ValueError, match="top has 'b', which is not known"):
        record({"a": count}, closed=True)({"a": 1, "b": 2}, "top")


def test_plain_values_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: Any = 1
    for _ in range(forms.DEPTH):
        deep = [deep]
    assert plain(deep, "here") is deep
    with pytest.raises(ValueError, match="nested too deeply"):
        plain([deep], "here")
    monkeypatch.setattr(forms, "VALUES", 10)
    with pytest.raises(ValueError, match="too large"):
        plain([[0] * 5, [0] * 5], "here")
    for wrong in ("\ud800", {"\ud800": 1}, math.inf, {1}):
        with pytest.raises(ValueError, match="here"):
            plain([wrong], "here")


def test_errors_are_told_on_one_line() -> None:
    assert told(ValueError("a\nb \x1b[31m \ud800")) == r"a b \x1b[31m \ud800"
    assert told(KeyError()) == "KeyError"
    assert len(told(ValueError("x" * 10_000))) == 300


def test_long_values_are_cut() -> None:
    with pytest.raises(ValueError, match="here") as error:
        count("x" * 10_000, "here")
    assert len(str(error.value)) < 150
    assert json.dumps(str(error.value))
