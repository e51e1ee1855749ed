"""What cannot be read is left out by halves, and listed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.skipping import LISTED, mention_skipped, readable
from parsimon.errors import ParsimonError, ParsimonWarning


@given(st.lists(st.booleans(), max_size=40))
def test_all_good_items_are_kept_in_order(good: list[bool]) -> None:
    mistakes: list[str] = []

    def read(some: range) -> None:
        for i in some:
            if not good[i]:
                raise ParsimonError(f"{i}.")

    kept = list(readable(range(len(good)), read, mistakes))  # type: ignore[arg-type]
    assert kept == [i for i, fine in enumerate(good) if fine]
    assert mistakes == [f"{i}." for i, fine in enumerate(good) if not fine]


def test_few_mistakes_cost_little() -> None:
    tries = []

    def read(some: range) -> None:
        tries.append(len(some))
        if 777 in some:
            raise ParsimonError("no.")

    assert len(list(readable(range(1024), read, []))) == 1023  # type: ignore[arg-type]
    assert len(tries) == 21  # two of each size, but for the whole


def test_what_was_left_out_is_said() -> None:
    mention_skipped([], 5, "trees", "x")
    with pytest.warns(ParsimonWarning) as caught:
        mention_skipped([f"line {i}." for i in range(LISTED + 3)], 100, "trees", "x")
    lines = str(caught[0].message).splitlines()
    assert lines[0] == "23 of 100 trees in x are left out:"
    assert lines[1] == "  line 0."
    assert lines[-1] == "  and 3 more."
    assert len(lines) == LISTED + 2


def test_nothing_left_is_refused() -> None:
    with pytest.raises(ParsimonError, match=r"none of the 2 trees in x can be used: line 1\."):
        mention_skipped(["line 1.", "line 2."], 2, "trees", "x")
