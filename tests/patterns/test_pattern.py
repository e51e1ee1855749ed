"""Patterns: `re` where it cannot take long, an automaton elsewhere, and the same matches with both."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.patterns import Pattern
from parsimon.patterns.pattern import PATHS

once = cache(Pattern)
ORDINARY = [".?.?.?$", r"^.*?\d", r"[a-z]+", r"\w+|[^\w\s]", r"\w+(?:-\w+)*", r"(\w+)-?", "a*a*a*b"]


@pytest.mark.parametrize("text", ORDINARY)
@given(st.text("ab1- é", max_size=40))
def test_both_ways_match_the_same(text: str, value: str) -> None:
    pattern = once(text)
    found = re.search(text, value)
    span = pattern.automaton.search(value, 0, len(value))
    assert pattern.search(value) == (found and found[0]) == (span and value[span[0] : span[1]])
    assert pattern.findall(value, 0, len(value)) == re.findall(text, value)
    assert pattern.automaton.findall(value, 0, len(value)) == re.findall(text, value)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("abc", PATHS),
        (".?.?.?$", PATHS),
        ("[a-z]+", PATHS),
        (r"\w+(?:-\w+)*", PATHS),  # one pass
        (".*?x.*?y", 31),  # (31 + 1)² ways
        ("(?:a+)+b", 5),
    ],
)
def test_what_is_long(text: str, first: int) -> None:
    pattern = Pattern(text)
    assert not pattern.backtracks(first - 1)
    assert pattern.backtracks(first)


@pytest.mark.parametrize("text", ["a*?" * 20 + "b", "(?:a+)+b", "(?:a|a)+b", "(?:a|ab?)*c"])
def test_hostile_patterns_end(text: str) -> None:
    pattern, value = Pattern(text), "a" * 5000
    assert pattern.search(value) is None
    assert pattern.findall(value, 0, len(value)) == []
    assert pattern.automaton.steps < 50 * 2 * len(value)


def test_groups_and_the_empty_text() -> None:
    assert Pattern("(a)(b)").groups == 2
    assert Pattern("a*").matches_nothing
    assert not Pattern("a+").matches_nothing
