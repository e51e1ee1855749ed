"""The squared L1 norm: its corners, its variances and its threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.penalties import SquaredL1
from penalty_kinds import strengths


def test_squared_l1_has_corners_everywhere_but_at_zero() -> None:
    penalty, w, e = SquaredL1(0.5), np.array([0.0, 2.0, -1.0]), np.array([1e-6, 0.0, 0.0])
    bend = (penalty.value(w + e) - 2 * penalty.value(w) + penalty.value(w - e)) / 1e-6
    assert bend == pytest.approx(2 * 0.5 * 3, rel=1e-5)
    assert not penalty.smooth
    assert (penalty.value(e) + penalty.value(-e)) / 1e-6 < 1e-5


def test_squared_l1_is_what_the_best_variances_leave() -> None:
    """min_τ ½ Σ w_k²/τ_k with Σ τ_k = K, by CVXPY (Zhu, Xing & Zhang 2009, theorem 2); 1/τ is the majorizer."""
    cp = pytest.importorskip("cvxpy")
    w, total = np.array([1.5, -0.5, 0.25, 2.0]), 4.0
    tau = cp.Variable(4)
    value = cp.Problem(
        cp.Minimize(0.5 * sum(cp.quad_over_lin(w[k], tau[k]) for k in range(4))), [cp.sum(tau) == total]
    ).solve(solver=cp.CLARABEL)
    assert SquaredL1(1 / total).value(w) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(SquaredL1(1 / total).majorizer(w), 1 / tau.value, rtol=1e-3)


@given(arrays(np.float64, 40, elements=st.floats(-100, 100)), strengths)
def test_the_threshold_of_a_squared_l1_norm_is_a_fixed_point(v: Any, strength: float) -> None:
    sizes_of = np.linspace(0.1, 3.0, 40)
    for step in (0.7, sizes_of):
        u = SquaredL1(strength).prox(v, step)
        threshold = step * strength * np.abs(u).sum()
        np.testing.assert_allclose(u, np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0), atol=1e-11)
