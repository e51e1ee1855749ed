"""The KL norm: exact over all magnitudes, and an L1 norm in the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, KLNorm
from parsimon.solvers import Status, Weights, choose_solver, drive
from penalty_kinds import N, vectors
from toy_problems import make_toy

sizes = st.floats(-12, 12).map(lambda x: 10.0**x)


@given(
    arrays(np.float64, N, elements=sizes),
    arrays(np.bool_, N),
    sizes,
    sizes,
    sizes,
    arrays(np.float64, N, elements=st.floats(-1e-9, 1e-9)),
)
def test_kl_prox_is_exact_over_all_magnitudes(
    v: Any, negative: Any, sharpness: float, strength: float, step: float, edge: Any
) -> None:
    """u + step·Ω'(u) = v to a few units in the last place of v, also where v is just at the largest slope."""
    penalty = KLNorm(sharpness, strength)
    for point in (np.where(negative, -v, v), step * strength * np.sqrt(sharpness) * (1 + edge)):
        u = penalty.prox(point, step)
        left = np.abs(u + step * penalty.smooth_gradient(u) - point)
        assert np.all(left <= 1e-14 * np.abs(point))
        assert np.all(np.abs(u) <= np.abs(point))
        assert np.all(u * point > 0)  # never exactly zero


@given(arrays(np.float64, N, elements=st.floats(-1e6, 1e6)), st.floats(-150, 150))
def test_kl_value_has_no_cancellation(w: Any, exponent: float) -> None:
    """For tiny λw² it is λw²/4, for huge ones √λ|w| − log(√λ|w|/2) − 1, and in between the definition."""
    sharpness = 10.0**exponent
    r = np.sqrt(sharpness) * np.abs(w)
    s = np.sqrt(r.astype(np.longdouble) ** 2 + 1)
    definition = s - 1 - np.log((s + 1) / 2)
    wanted = np.where(r < 1e-6, (r / 2) ** 2, definition.astype(np.float64))
    assert KLNorm(sharpness).value(w) == pytest.approx(float(wanted.sum()), rel=1e-8)
    slope = KLNorm(sharpness).smooth_gradient(w)
    assert np.all(np.abs(slope) <= np.sqrt(sharpness))
    assert np.all(slope * w >= 0)


@given(vectors)
def test_kl_norm_tends_to_the_l1_norm(w: Any) -> None:
    """Ω/√λ → ‖w‖₁ for λ → ∞, from below; so the strength 1/√λ makes it an L1 norm, prox included."""
    l1 = float(np.abs(w).sum())
    short = [l1 - KLNorm(sharpness, 1 / np.sqrt(sharpness)).value(w) for sharpness in (1e4, 1e8, 1e12)]
    assert np.all(np.diff(short) <= 1e-12)
    assert -1e-12 <= short[-1] <= 1e-6 * N * 20
    sharp = KLNorm(1e16, 1e-8)
    np.testing.assert_allclose(sharp.prox(w, 0.5), L1(1.0).prox(w, 0.5), atol=1e-3)
    far = np.abs(w) > 1e-3
    np.testing.assert_allclose(sharp.smooth_gradient(w)[far], np.sign(w)[far], atol=1e-4)


def test_kl_slopes_by_hand() -> None:
    penalty = KLNorm(9.0, 2.0)
    assert penalty.smooth_gradient(np.array([1e-9]))[0] == pytest.approx(2 * 9 / 2 * 1e-9)
    assert penalty.smooth_gradient(np.array([1e9, -1e9])) == pytest.approx([6.0, -6.0])
    assert penalty.majorizer(np.zeros(1))[0] == pytest.approx(9.0)
    w = np.array([0.7])
    bend = (penalty.smooth_gradient(w + 1e-6) - penalty.smooth_gradient(w - 1e-6))[0] / 2e-6
    s = np.sqrt(9 * 0.49 + 1)
    assert bend == pytest.approx(2 * 9 / (s * (s + 1)), rel=1e-8)


@pytest.mark.parametrize("solver", ["lbfgs", "fista"])
def test_solvers_for_smooth_penalties_take_the_kl_norm(solver: str) -> None:
    problem = make_toy(1).problem("log", KLNorm(50.0, 0.2))
    result = drive(choose_solver(solver, problem, 1e-7), problem, Weights.zeros(problem.n_features))
    _, gradient = problem.loss_and_gradient(result.weights.dense())
    assert result.status is Status.CONVERGED
    assert problem.penalty.violation(result.weights.dense(), gradient).max() < 1e-5


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_a_sharpness_is_more_than_zero(wrong: float) -> None:
    with pytest.raises(ParsimonError, match=r"sharpness of a KL norm \(its λ\) must be more than zero, not"):
        KLNorm(wrong)
