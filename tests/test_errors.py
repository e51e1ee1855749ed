"""What messages are made of; warnings point to the user's line, whatever room of the package they come from."""

from __future__ import annotations

import warnings
from itertools import count

import pytest

from parsimon.errors import LOOKED_AT, ParsimonWarning, nearest, warn


def test_a_warning_points_to_the_first_line_outside_of_the_package() -> None:
    inside = {"__name__": "parsimon.solvers.somewhere", "warn": warn}
    exec(
        compile("def deep():\n    warn('look here.')\n\ndef work():\n    deep()\n", "inside.py", "exec"),
        inside,
    )
    with pytest.warns(ParsimonWarning, match=r"look here\.") as caught:
        inside["work"]()  # type: ignore[operator]
    assert caught[0].filename == __file__


def test_a_warning_without_a_line_outside_is_given_as_well() -> None:
    namespace = {"__name__": "parsimon.__main__", "warn": warn}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec("warn('nobody called.')", namespace)
    assert [str(each.message) for each in caught] == ["nobody called."]


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
