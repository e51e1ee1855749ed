"""Limits on memory."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from memory_in_use import memory_in_use
from parsimon.errors import ParsimonError
from parsimon.memory import at_most, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"), [("4G", 4 << 30), ("500m", 500 << 20), ("1.5 GB", 3 << 29), ("7", 7), ("2KiB", 2048)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "4X", "four", "1e9"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ParsimonError, match="such as 500M or 4G"):
        parse_size(text)


def test_a_limit_is_kept_to_and_lifted_again() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = memory_in_use()
    with pytest.raises(ParsimonError, match="more than"), at_most(used + (200 << 20)):
        np.ones(500 << 20, np.uint8)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    with at_most(used + (1 << 30)):
        np.ones(200 << 20, np.uint8)
    with at_most(None):
        assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_sizes_for_people() -> None:
    assert [format_size(n) for n in (12, 2048, 300 << 20, 5 << 29)] == [
        "12 bytes",
        "2 KB",
        "300 MB",
        "2.5 GB",
    ]
