"""Patterns in which every character decides what comes next."""

from __future__ import annotations

import pytest

from parsimon.patterns.one_pass import MOST_READS, is_one_pass
from parsimon.patterns.program import Program


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a-z]+", True),
        (r"\w+|[^\w\s]", True),
        (r"[A-Za-z]+(?:['’-][a-z]+)*", True),
        (r"\d+(?:[.,]\d+)*|[a-z]+", True),
        (r"(?u)\b\w\w+\b", True),
        ("#([a-z]+)", True),
        (r"\w+|\S", False),  # a letter is both
        ("a*a", False),
        ("(?:a+)+", False),
        ("a|[ab]c", False),
        ("[a-z]+(?:-?[a-z]+)*", False),
        ("(?:a|b|)(?:a|)", False),
        ("[a-z]" * (MOST_READS + 1), False),  # not looked at
    ],
)
def test_is_one_pass(text: str, expected: bool) -> None:
    assert is_one_pass(Program(text)) == expected
