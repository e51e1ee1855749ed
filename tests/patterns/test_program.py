"""Patterns as programs: what is refused, and a bound on what backtracking tries."""

from __future__ import annotations

import re

import pytest

from parsimon.errors import ParsimonError
from parsimon.patterns.program import LONGEST_PROGRAM, Characters, Program, most_paths, parse


@pytest.mark.parametrize("text", ["(", "[a", "a{99999999999999}", "(?:" * 50_000])
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(re.error):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"(a)\1", r"'\(a\)\\\\1' uses a back-reference"),
        (r"(a)?(?(1)b|c)", "uses a condition on a group"),
        ("(?>a)b", "uses an atomic group"),
        ("a++b", "uses a possessive repetition"),
        ("(?=ab)a", "looks ahead or back at more than one character"),
        ("(?<=ab)a", "looks ahead or back at more than one character"),
        ("(?:a?)+", "repeats something that may be empty"),
        (r"(?:\b){2}", "repeats something that may be empty"),
        ("(?:a{100}){100}", f"more than {LONGEST_PROGRAM:,} steps"),
        ("x" * 10_000, "'x{59}…' is too long"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        Program(text)


def test_huge_repetitions_are_refused_before_they_are_written_out() -> None:
    with pytest.raises(ParsimonError, match="too long"):
        Program("(?:(?:(?:a{9999}){9999}){9999}){9999}")


def characters(text: str) -> Characters:
    return next(iter(Program(text).reads.values()))[0]


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (r"\w", "[^\\W_]", True),
        (r"\w", r"\W", False),
        (r"[^\W_]", "_", False),
        ("(?i:k)", "\u212a", True),  # the sign of Kelvin
        (r"(?a:\w)", "é", False),
        (".", r"\n", False),
        ("(?s:.)", r"\n", True),
        ("[^a]", "a", False),
    ],
)
def test_overlap(one: str, other: str, overlap: bool) -> None:
    assert characters(one).overlap(characters(other)) == overlap
    assert characters(other).overlap(characters(one)) == overlap


@pytest.mark.parametrize(
    ("text", "length", "paths"),
    [
        ("abc", 10, 1),
        ("a*", 10, 11),
        ("a*b*", 10, 121),
        ("a?b?c?", 10, 8),
        ("a|b|cd?", 10, 4),
        ("a{2,5}", 10, 6),
        ("a{3}", 10, 1),
        ("(?:a|bc){2}", 10, 7),
        ("(?:a+)+", 10, 1001),
        (r"^\b(?!x)a$", 10, 1),
    ],
)
def test_most_paths(text: str, length: int, paths: int) -> None:
    assert most_paths(parse(text), length, 1000) == paths
