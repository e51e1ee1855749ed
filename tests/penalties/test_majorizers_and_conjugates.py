"""Majorizers and conjugates, which only some penalties have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from penalty_kinds import PENALTIES, Kind, N, strengths, tenths, vectors

# The norm inf has no majorizer, and neither has a ball.
MAJORIZED = [kind for kind in PENALTIES if hasattr(kind.make(1.0), "majorizer") and "inf" not in kind.name]
CONJUGATE = [kind for kind in PENALTIES if hasattr(kind.make(1.0), "conjugate")]
# Where a proximal operator is iterated, the edge of what is finite is only found nearly.
SHARP = [kind for kind in CONJUGATE if kind.exact <= 1e-12 or getattr(kind.make(1.0), "l2", 0.0) > 0]


def test_who_has_what() -> None:
    assert {str(kind) for kind in PENALTIES if "inf" not in kind.name} - set(map(str, MAJORIZED)) == {
        "l1 ball"
    }
    names = {"l1", "l2", "elastic net", "elastic net, weighted", "kl norm", "kl norm, weighted", "squared l1"}
    grouped = {str(kind) for kind in PENALTIES if kind.make(1.0).groups is not None}
    assert set(map(str, CONJUGATE)) == names | {"l1 ball"} | grouped


@pytest.mark.parametrize("kind", MAJORIZED, ids=str)
@given(tenths, vectors, strengths)
def test_majorizer_is_above_and_touches(kind: Kind, w: Any, u: Any, strength: float) -> None:
    """Ω(u) ≤ Ω(w) + ½ Σ c_k (u_k² − w_k²), with the same slope at w: there is no room between them there."""
    penalty: Any = kind.make(strength)
    c = penalty.majorizer(w)
    assert c.shape == (N,)
    assert np.all(c >= 0)
    assert not np.any(np.isinf(c) & (w != 0))
    finite = np.isfinite(c)
    c, u = np.where(finite, c, 0.0), np.where(finite, u, 0.0)
    for point in (u, 1.001 * w, w + 1e-3 * u, -w):
        above = penalty.value(w) + 0.5 * float(np.sum(c * (point**2 - w**2)))
        assert penalty.value(point) <= above + 1e-9 * (1 + abs(above))
    touching = np.where(finite, penalty.violation(w, -c * w), 0.0)
    np.testing.assert_allclose(touching, 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", MAJORIZED, ids=str)
def test_majorizers_at_zero(kind: Kind) -> None:
    penalty: Any = kind.make(0.5)
    c = penalty.majorizer(np.zeros(N))
    assert np.all(np.isfinite(c)) == penalty.smooth
    if not penalty.smooth and not getattr(penalty, "l1", 0.0):
        np.testing.assert_array_equal(np.flatnonzero(np.isfinite(c)), kind.free)


@pytest.mark.parametrize("kind", SHARP, ids=str)
@given(vectors, vectors, strengths)
def test_conjugate_is_the_largest_difference(kind: Kind, v: Any, w: Any, strength: float) -> None:
    """Ω*(z) ≥ z·w − Ω(w) for all w, with equality where z ∈ ∂Ω(w) (Fenchel, Young): prox gives such pairs."""
    penalty: Any = kind.make(strength)
    at_v = penalty.conjugate(v)
    if np.isfinite(penalty.value(w)):
        assert at_v >= float(v @ w) - penalty.value(w) - 1e-9
    u = penalty.prox(v, 1.0)
    z = (1 - 1e-10) * (v - u)  # not beyond the edge of what is finite
    assert penalty.conjugate(z) == pytest.approx(float(z @ u) - penalty.value(u), rel=1e-8, abs=1e-8)
    assert penalty.conjugate(np.zeros(N)) == 0


@pytest.mark.parametrize("kind", CONJUGATE, ids=str)
def test_conjugate_is_infinite_where_nothing_bounds_it(kind: Kind) -> None:
    """If z·w − Ω(w) grows all the way out along w = z, or not at all."""
    penalty: Any = kind.make(0.5)
    for k in range(N):
        for size in (0.2, 0.4, 0.6, 1.2, 4.0):
            z = np.zeros(N)
            z[k] = size
            far = [t * size - penalty.value(t * z / size) for t in (1e3, 1e6)]
            assert np.isinf(penalty.conjugate(z)) == (far[1] > far[0] > 0)
