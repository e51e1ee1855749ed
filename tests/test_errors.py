"""What messages are made of."""

from __future__ import annotations

from itertools import count

from parsimon.errors import LOOKED_AT, nearest


def test_nearest() -> None:
    assert nearest("uposs", ["form", "upos"]) == "upos"
    assert nearest("zzz", ["form", "upos"]) is None


def test_nearest_looks_at_some_names_only() -> None:
    """Not at a million names, nor at names of a million characters."""
    numbers = count()
    assert nearest("word", (f"{'x' * (i % 5)}{i}" for i in numbers)) is None
    assert next(numbers) <= LOOKED_AT + 1
    assert nearest("word", ["w" * 1_000_000, "words"]) == "words"
    assert nearest("w" * 1_000_000, ["w" * 1_000_000]) is None
