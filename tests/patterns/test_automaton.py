"""The automaton has the matches of `re`, on every pattern that it takes, and its work grows with the text alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.patterns import automaton as module
from parsimon.patterns.automaton import Automaton
from parsimon.patterns.program import Program

TEXTS = st.text("ab-é0 \n", max_size=12)
SINGLE = st.sampled_from(["a", "b", "-", ".", r"\w", r"\d", r"\s", "[ab]", "[^a]", "é", r"\n", r"\W"])
PLACES = st.sampled_from(["^", "$", r"\b", r"\A", r"\Z", "(?=a)", "(?!a)", "(?<=b)", "(?<!b)", r"(?=\w)"])


def not_empty(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of at least one character, made of smaller ones."""
    maybe = st.sampled_from(["?", "??", "{0,2}", "{0,2}?"])
    often = st.sampled_from(["+", "+?", "{2}", "{1,3}", "{1,3}?", "{2,}"])
    return st.one_of(
        st.tuples(inner, often).map(lambda p: f"(?:{p[0]}){p[1]}"),
        st.tuples(inner, inner, st.sampled_from(["*", "*?"])).map(lambda p: f"{p[0]}(?:{p[1]}){p[2]}"),
        st.tuples(inner, inner, maybe).map(lambda p: f"{p[0]}(?:{p[1]}){p[2]}"),
        st.tuples(inner, inner).map("|".join).map(lambda p: f"(?:{p})"),
        st.tuples(inner, PLACES).map("".join),
        st.tuples(PLACES, inner).map("".join),
        st.tuples(inner, inner).map("".join),
        inner.map(lambda p: f"(?i:{p})"),
        inner.map(lambda p: f"(?m:{p})"),
        inner.map(lambda p: f"(?s:{p})"),
    )


NOT_EMPTY = st.recursive(SINGLE, not_empty, max_leaves=6)
PATTERNS = st.one_of(
    NOT_EMPTY,
    st.tuples(NOT_EMPTY, st.sampled_from(["*", "*?", "?", "??"])).map(lambda p: f"(?:{p[0]}){p[1]}"),
    st.tuples(NOT_EMPTY, NOT_EMPTY, NOT_EMPTY).map(lambda p: f"{p[0]}({p[1]}){p[2]}"),
    st.tuples(NOT_EMPTY, NOT_EMPTY).map(lambda p: f"({p[0]})?{p[1]}"),
    st.tuples(NOT_EMPTY, NOT_EMPTY).map(lambda p: f"{p[0]}|({p[1]})"),
    NOT_EMPTY.map(lambda p: p.replace("(?:", "(", 1)),
)


@settings(max_examples=600, deadline=None)
@given(PATTERNS, TEXTS, st.integers(0, 12), st.integers(0, 12))
def test_finds_what_re_finds(pattern: str, text: str, begin: int, end: int) -> None:
    begin, end = min(begin, len(text)), min(max(begin, end), len(text))
    if begin == end == 0:
        return  # versions of Python differ in what \B is in an empty text
    automaton, expected = Automaton(Program(pattern)), re.compile(pattern)
    found = expected.search(text, begin, end)
    assert automaton.search(text, begin, end) == (
        found and (*found.span(), *(found.span(1) if expected.groups else (-1, -1)))
    )
    assert automaton.findall(text, begin, end) == expected.findall(text, begin, end)


@pytest.mark.parametrize(
    "pattern",
    [
        "a*a*a*a*a*a*a*a*b",
        "(?:a+)+b",
        "(?:a|a)+b",
        "(?:a|aa)+b",
        "a?" * 30 + "b",
        ".*?.*?.*?=",
        r"(?:\w+\s?)+x$",
    ],
)
def test_work_grows_with_the_text_alone(pattern: str) -> None:
    steps = []
    for length in (1000, 2000, 4000):
        automaton = Automaton(Program(pattern))
        assert automaton.search("a" * length, 0, length) is None
        steps.append(automaton.steps)
    assert steps[1] < 2.1 * steps[0]
    assert steps[2] < 2.1 * steps[1]
    assert steps[2] < 40 * 4000


def test_forgets_what_becomes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MOVES", 3)
    text = "abc abd 12 é" * 20
    automaton = Automaton(Program(r"\w+(?:\s\w)?"))
    assert automaton.findall(text, 0, len(text)) == re.findall(r"\w+(?:\s\w)?", text)
    assert len(automaton._states) < 10


def test_matches_that_read_everything_each_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of n matches reads to the end to see that there is no b."""
    monkeypatch.setattr(module, "STEPS_IN_ANY_TEXT", 1000)
    monkeypatch.setattr(module, "STEPS_PER_CHARACTER", 5)
    automaton = Automaton(Program("a*b|a"))
    with pytest.raises(
        ParsimonError, match=r"'a\*b\|a' takes too many steps on a text of 10,000 characters; make"
    ):
        automaton.findall("a" * 10_000, 0, 10_000)
    assert automaton.steps < 200_000
    assert automaton.findall("a" * 20, 0, 20) == ["a"] * 20
