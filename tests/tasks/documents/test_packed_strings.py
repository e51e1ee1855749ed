"""Strings as arrays, there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.tasks.documents.packed_strings import pack_strings, unpack_strings


@given(st.lists(st.text(), max_size=8))
def test_there_and_back(strings: list[str]) -> None:
    assert unpack_strings(*pack_strings(strings)) == strings


@pytest.mark.parametrize("length", [np.array([3, 4]), np.array([-1, 4]), np.array([1.5]), np.array([[3]])])
def test_lengths_that_cannot_be(length: np.ndarray) -> None:
    text, _ = pack_strings(["abc"])
    with pytest.raises(ValueError, match="length"):
        unpack_strings(text, length)
