"""L1 balls: thresholds, no radius, and points outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.penalties import L1Ball
from parsimon.penalties.l1_ball import simplex_thresholds


@given(
    st.lists(
        arrays(np.float64, st.integers(0, 6), elements=st.integers(-20, 20).map(lambda x: x / 4)), max_size=5
    ),
    st.sampled_from([0.25, 1.0, 7.0]),
)
def test_thresholds_leave_the_radius(parts: list[Any], radius: float) -> None:
    ptr = np.cumsum([0, *map(len, parts)])
    theta = simplex_thresholds(np.concatenate([np.zeros(0), *parts]), ptr, np.full(len(parts), radius))
    for part, threshold in zip(parts, theta, strict=True):
        if len(part):
            assert np.maximum(part - threshold, 0).sum() == pytest.approx(radius, rel=1e-12)


def test_thresholds_survive_radii_that_are_lost_in_rounding() -> None:
    x = np.full(7, 0.1) * 3
    theta = simplex_thresholds(np.concatenate([x, x]), np.array([0, 7, 14]), np.array([0.0, 1e-30]))
    np.testing.assert_allclose(theta, 0.3, rtol=1e-15)


def test_ball_of_no_radius_and_points_outside() -> None:
    v, g = np.array([1.0, -2.0, 0.0]), np.ones(3)
    assert L1Ball(0.0).prox(v, 1.0).tolist() == [0, 0, 0]
    assert L1Ball(0.0).violation(np.zeros(3), g).tolist() == [0, 0, 0]
    assert L1Ball(0.0).polar(g) == 0
    assert np.all(L1Ball(1.0).violation(v, g) == np.inf)
    assert L1Ball(3.0).value(v) == 0
    assert L1Ball(2.9).value(v) == np.inf
