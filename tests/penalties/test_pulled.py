"""An elastic net with a pull towards a point: its definition, its proximal operator, and its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.penalties import ElasticNet, Pulled
from penalty_kinds import C, N, steps, tenths, vectors

PULL, CENTRE = np.array([0.0, 2.0, 0.5, 0.0, 3.0, 1.0]), np.array([1.0, -1.0, 0.0, 2.0, 0.5, -3.0])
NETS = {
    "l1": ElasticNet(0.7),
    "l2": ElasticNet(0.0, 0.4),
    "both": ElasticNet(0.7, 0.4),
    "weighted": ElasticNet(0.7, 0.4, weight=C),
    "nothing": ElasticNet(),
}
every_net = pytest.mark.parametrize("net", NETS.values(), ids=NETS)


def pulled(net: ElasticNet) -> Pulled:
    return Pulled(net, PULL, CENTRE)


@every_net
@given(vectors)
def test_value_is_the_definition(net: ElasticNet, w: Any) -> None:
    wanted = net.value(w) + sum(0.5 * p * (x - c) ** 2 for p, x, c in zip(PULL, w, CENTRE, strict=True))
    assert pulled(net).value(w) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@every_net
@given(st.one_of(vectors, tenths), vectors, steps)
def test_prox_is_the_minimum(net: ElasticNet, v: Any, other: Any, step: float) -> None:
    penalty = pulled(net)
    u = penalty.prox(v, step)
    np.testing.assert_allclose(penalty.violation(u, (u - v) / step), 0.0, atol=1e-9)

    def objective(x: Any) -> float:
        return 0.5 * float(np.sum((x - v) ** 2)) + step * penalty.value(x)

    assert objective(u) <= objective(other) + 1e-9
    assert objective(u) <= objective(u + 1e-3 * other) + 1e-9
    each = np.linspace(0.1, 2.0, N)
    u = penalty.prox(v, penalty.even_steps(each))
    np.testing.assert_allclose(penalty.violation(u, (u - v) / each), 0.0, atol=1e-9)


@every_net
@given(tenths, vectors)
def test_violation_is_how_fast_the_objective_falls(net: ElasticNet, w: Any, g: Any) -> None:
    penalty, h = pulled(net), 1e-7
    violation = penalty.violation(w, g)
    for k in range(N):
        e = h * (np.arange(N) == k)
        sides = [(penalty.value(w + side * e) - penalty.value(w)) / h + side * g[k] for side in (1, -1)]
        assert violation[k] == pytest.approx(max(0.0, *(-side for side in sides)), abs=1e-5)


@every_net
@given(vectors)
def test_as_one_absolute_value_and_one_parabola_a_weight(net: ElasticNet, w: Any) -> None:
    """Up to a constant."""
    penalty, v = pulled(net), np.ones(N)
    terms = penalty.separated(N)

    def value(x: Any) -> float:
        return float(np.sum(terms.l1 * np.abs(x) + 0.5 * terms.bend * (x - terms.centre) ** 2))

    assert value(w) - value(v) == pytest.approx(penalty.value(w) - penalty.value(v), rel=1e-9, abs=1e-9)


@every_net
def test_the_smooth_part_by_finite_differences(net: ElasticNet) -> None:
    w = np.random.default_rng(0).normal(size=N)
    penalty, smooth = pulled(net), pulled(ElasticNet(0.0, net.l2, weight=net.weight))
    gradient = penalty.smooth_gradient(w)
    for k in range(N):
        e = 1e-6 * (np.arange(N) == k)
        assert gradient[k] == pytest.approx((smooth.value(w + e) - smooth.value(w - e)) / 2e-6, abs=1e-7)
    assert penalty.smooth == (net.l1 == 0)
    assert penalty.separable


def test_some_of_the_weights_and_another_strength() -> None:
    penalty, features = pulled(NETS["weighted"]), np.array([1, 3, 5])
    some = penalty.restrict(features)
    values = [np.array([1.0, -2.0, 0.5]), np.array([0.0, 3.0, -1.0])]
    full = [np.zeros(N), np.zeros(N)]
    for w, value in zip(full, values, strict=True):
        w[features] = value
    assert some.value(values[0]) - some.value(values[1]) == pytest.approx(
        penalty.value(full[0]) - penalty.value(full[1])
    )
    np.testing.assert_allclose(some.prox(values[0], 0.3), penalty.prox(full[0], 0.3)[features])
    stronger = penalty.scaled(2.0)
    assert stronger.strength == 2.0
    assert stronger.value(full[0]) - penalty.value(full[0]) == pytest.approx(1.3 * (C @ np.abs(full[0])))
    np.testing.assert_array_equal(stronger.l1_strength, 2.0 * C)
