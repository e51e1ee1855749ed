"""Text that steers a terminal is shown, not obeyed."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.characters.printable import json_text, one_line, printable, shortened

DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 東京 ไทย عربي 👩‍👩‍👧", "plain é 東京 ไทย عربي 👩‍👩‍👧"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J \x7f \x00", r"\x9b2J \x7f \x00"),
        ("over\rwritten", r"over\rwritten"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("a\u2028b", r"a\u2028b"),
        ("a\tb\n", "a\tb\n"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert one_line(text) == shown.replace("\t", r"\t").replace("\n", r"\n")


@given(st.text())
def test_nothing_that_steers_is_left(text: str) -> None:
    for shown in (printable(text), json_text([text])):
        left = [c for c in shown if unicodedata.category(c) == "Cc" or c in DIRECTIONS]
        assert set(left) <= {"\t", "\n"}
    assert not [c for c in one_line(text) if unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in DIRECTIONS]


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_says_the_same(value: object) -> None:
    assert json.loads(json_text(value)) == value
    assert "\n" not in json_text(value)


@given(st.text(), st.integers(5, 20))
def test_shortened(text: str, most: int) -> None:
    short = shortened(text, most)
    assert short == text if len(text) <= most else len(short) == most
