"""Strings end to end in an array, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.tasks.documents.packed_strings import pack_strings, unpack_strings


@given(st.lists(st.text(st.characters(codec=None), max_size=5), max_size=8))
def test_there_and_back(strings: list[str]) -> None:
    text, length = pack_strings(strings)
    assert text.dtype == np.uint8
    assert len(text) == length.sum()
    assert unpack_strings(text, length) == strings


TEXT = np.frombuffer("aéz".encode(), np.uint8)


@pytest.mark.parametrize(
    "length",
    [[4, 1], [3], [], [-1, 5], [2, 2], [1, 1, 2], [1 << 62, 1 << 62], [[4]], [4.0]],
)
def test_lengths_that_cannot_be(length: list[int]) -> None:
    with pytest.raises(ValueError):
        unpack_strings(TEXT, np.array(length))
    assert unpack_strings(TEXT, np.array([1, 2, 0, 1])) == ["a", "é", "", "z"]
