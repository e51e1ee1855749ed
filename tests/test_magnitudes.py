"""Numbers that cannot be computed with are found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.magnitudes import (
    LARGEST,
    LARGEST_SCORE,
    LARGEST_WEIGHT,
    check_scores,
    checked_weights,
    first_wrong,
    why_not,
)


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


@pytest.mark.parametrize(
    ("score", "sentence"),
    [
        (np.nan, "the scores of some tree are not numbers"),
        (np.inf, "the scores of some tree are too large to compute with: inf, which is above 1e.200"),
        (1e250, "the scores of some tree are too large"),
    ],
)
def test_scores_without_a_best(score: float, sentence: str) -> None:
    fine = np.array([-np.inf, -1e300, LARGEST_SCORE])
    check_scores("tree", fine, np.zeros((0, 2)))
    with pytest.raises(ParsimonError, match=sentence):
        check_scores("tree", fine, np.array([0.0, score, 1.0]))


@pytest.mark.parametrize(
    "given", [[1.0], [[1.0, 2.0]], [1.0, -1.0], [1.0, np.nan], [1e300, 1.0], ["a", "b"], "ab", 3]
)
def test_weights_that_instances_cannot_have(given: Any) -> None:
    with pytest.raises(
        ParsimonError, match=r"^sequence weights must be finite and not negative, one for every"
    ):
        checked_weights(given, 2, "sequence")


def test_weights_of_instances() -> None:
    assert checked_weights(None, 2, "sequence") is None
    weights = checked_weights([1, 0], 2, "sequence")
    assert weights is not None
    assert weights.tolist() == [1.0, 0.0]
