"""The elastic net: features that are left out."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.penalties import ElasticNet
from penalty_kinds import C, N


def test_exempt_features_by_hand() -> None:
    penalty = ElasticNet(l1=1.0, l2=2.0).exempt(np.array([1, 4]), N)
    w = np.ones(N)
    assert penalty.value(w) == pytest.approx(4 * 2.0)
    np.testing.assert_array_equal(penalty.prox(w, 1.0)[[1, 4]], 1.0)
    assert penalty.violation(np.zeros(N), np.full(N, 0.5)).tolist() == [0, 0.5, 0, 0, 0.5, 0]
    assert ElasticNet(l1=1.0).exempt(np.zeros(0, int), N) == ElasticNet(l1=1.0)


def test_exempting_keeps_earlier_weights() -> None:
    penalty = ElasticNet(l1=1.0, weight=C).exempt(np.array([0]), N)
    assert penalty.value(np.ones(N)) == pytest.approx(C.sum() - C[0])
