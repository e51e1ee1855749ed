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


def test_a_ridge_that_differs_from_weight_to_weight() -> None:
    """Value, gradient, prox, violation, conjugate and parts are those of single weights with their own strengths."""
    bend = np.array([0.5, 1.0, 4.0])
    w, v = np.array([1.0, -2.0, 0.5]), np.array([3.0, -0.2, 2.0])
    net = ElasticNet(0.3, 0.7, bend=bend)
    singles = [ElasticNet(0.3, 0.7 * b) for b in bend]
    assert net.value(w) == pytest.approx(sum(one.value(w[k : k + 1]) for k, one in enumerate(singles)))
    for name, arguments in {"prox": (v, 0.4), "violation": (w, v)}.items():
        parts = [
            getattr(one, name)(*(a[k : k + 1] if isinstance(a, np.ndarray) else a for a in arguments))
            for k, one in enumerate(singles)
        ]
        np.testing.assert_allclose(getattr(net, name)(*arguments), np.concatenate(parts))
    assert net.conjugate(v) == pytest.approx(
        sum(one.conjugate(v[k : k + 1]) for k, one in enumerate(singles))
    )
    assert net.restrict(np.array([0, 2])).value(w[[0, 2]]) == pytest.approx(
        singles[0].value(w[:1]) + singles[2].value(w[2:])
    )
    exempt = net.exempt(np.array([1]), 3)
    assert exempt.value(w) == pytest.approx(singles[0].value(w[:1]) + singles[2].value(w[2:]))
    np.testing.assert_allclose(net.separated(3).bend, 0.7 * bend)
