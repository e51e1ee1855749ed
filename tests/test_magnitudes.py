"""Numbers that cannot be computed with are found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.magnitudes import LARGEST, LARGEST_WEIGHT, first_wrong, why_not


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ([], None),
        ([1.0, -LARGEST, LARGEST], None),
        ([1.0, np.nan], 1),
        ([[0.0, -np.inf], [np.nan, 0.0]], 1),
        ([0.0, 2 * LARGEST, np.nan], 1),
        ([0.0, 0.0, -1e300], 2),
        (np.array([1e6, np.inf], np.float32), 1),
        (["a text"], None),
        ([2**62], None),
    ],
)
def test_the_first_number_that_is_too_large(values: Any, at: int | None) -> None:
    assert first_wrong(values) == at


def test_weights_may_be_larger() -> None:
    assert first_wrong([LARGEST_WEIGHT], LARGEST_WEIGHT) is None
    assert first_wrong([2 * LARGEST_WEIGHT], LARGEST_WEIGHT) == 0


def test_the_limits_leave_room_for_sums_of_squares_and_products() -> None:
    with np.errstate(over="raise"):
        assert np.isfinite(np.sum(np.full(1000, LARGEST) ** 2) ** 2)
        assert np.isfinite(np.sum(np.full(1000, LARGEST) * LARGEST_WEIGHT) * LARGEST_WEIGHT)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (float("nan"), "NaN; values must be finite"),
        (float("-inf"), "infinity; values must be finite"),
        (-1e60, "-1e+60; values must lie between -1e+50 and 1e+50"),
    ],
)
def test_sentences(value: float, sentence: str) -> None:
    assert why_not(value) == sentence
