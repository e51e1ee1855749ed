"""What tokens are: the named patterns, patterns and functions of the user's own, and mistakes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.text.tokens import PATTERNS, tokeniser
from parsimon.errors import ParsimonError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's O'Neill’s dog, isn't it?", ["It's", "O'Neill’s", "dog", "isn't", "it"]),
        ("3.14 and 1,000,000.5 or 1. 2,", ["3.14", "and", "1,000,000.5", "or", "1", "2"]),
        ("_very_ well-known 'quoted' a_b", ["very", "well", "known", "quoted", "a", "b"]),
        ("mp3s, 486dx2 v1.2b U.S.A.", ["mp3s", "486dx2", "v1.2", "b", "U", "S", "A"]),
        ("Él café — Straße 東京", ["Él", "café", "Straße", "東京"]),
        ("joe@x.edu --- ...", ["joe", "x", "edu"]),
        ("", []),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert tokeniser("words")(text, 0, len(text)) == tokens


@given(st.text(st.sampled_from("aZ09_'’.,- !é"), max_size=30))
def test_words_without_accents_are_found_the_same_way(text: str) -> None:
    """The fast pattern for ASCII against the general one."""
    assert tokeniser("words")(text, 0, len(text)) == re.findall(PATTERNS["words"], text)


def test_only_the_sentence_is_read() -> None:
    assert tokeniser("words")("one two three four", 4, 11) == ["two", "thr"]
    assert tokeniser("whitespace")("a, b! c", 3, 7) == ["b!", "c"]
    assert list(tokeniser(list)("abcd", 1, 3)) == ["b", "c"]


def test_a_group_is_the_token() -> None:
    assert tokeniser(r"#(\w+)")("a #b #c", 0, 7) == ["b", "c"]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("word", r"no tokeniser called 'word'; choose from words, whitespace, or give a regular expression"),
        ("[a-z", "not a regular expression"),
        (r"(a)(b)", "has 2 groups"),
        (r"\w*", "matches the empty string"),
    ],
)
def test_mistakes(tokens: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        tokeniser(tokens)


@given(st.text("a1'.,- _é\n", max_size=40))
def test_built_in_patterns_written_out_are_the_built_in_ones(text: str) -> None:
    for name, pattern in PATTERNS.items():
        assert tokeniser(pattern)(text, 0, len(text)) == tokeniser(name)(text, 0, len(text))
        assert tokeniser(pattern)(text, 0, len(text)) == re.findall(pattern, text)


def test_no_pattern_takes_forever() -> None:
    text = "a" * 300
    for pattern in ("(?:a+)+b", "(?:a|a)+b", "a*a*a*a*a*a*b", r"(?:\w+\s?)+:"):
        assert tokeniser(pattern)(text, 0, len(text)) == []


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (r"(\w)\1+", "a back-reference such as .*no bound on the time; leave that out, or give a function"),
        (r"\w+(?=ing)", "looks ahead or back at more than one character"),
        (r"(?>a+)b", "an atomic group"),
        (r"(?:a*)*b", "repeats something that may be empty"),
        (r"(?:a{1000}){1000}", "too long once its repetitions are written out"),
        ("(?:" * 4000 + "a" + ")" * 4000, "nested too deeply"),
        ("a{99999999999999}", "not a regular expression"),
    ],
)
def test_what_has_no_bound_is_refused(tokens: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        tokeniser(tokens)
