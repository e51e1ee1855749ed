"""Warnings point to the user's line, whatever room of the package they come from."""

from __future__ import annotations

import warnings

import pytest

from parsimon.errors import ParsimonWarning, warn


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
