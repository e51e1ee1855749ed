"""What holds for every penalty; a new one is a line in `penalty_kinds.PENALTIES`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feature_tables import SmallTable
from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNet, GroupLasso, KLNorm, L1Ball, SquaredL1, TreeLasso, never_dropped
from penalty_kinds import Kind, N, apart, every_penalty, steps, strengths, tenths, vectors


@every_penalty
@given(vectors, strengths)
def test_value_is_the_definition(kind: Kind, w: Any, strength: float) -> None:
    assert kind.make(strength).value(w) == pytest.approx(kind.definition(w, strength), rel=1e-12, abs=1e-12)


@every_penalty
@given(vectors, vectors, strengths, st.floats(0.01, 0.99))
def test_value_is_convex_and_zero_at_zero(kind: Kind, v: Any, w: Any, strength: float, t: float) -> None:
    penalty = kind.make(strength)
    assert penalty.value(np.zeros(N)) == 0.0
    between = penalty.value(t * v + (1 - t) * w)
    assert between <= t * penalty.value(v) + (1 - t) * penalty.value(w) + 1e-9


@every_penalty
@given(st.one_of(vectors, tenths), strengths, steps)
def test_prox_satisfies_its_optimality_condition(kind: Kind, v: Any, strength: float, step: float) -> None:
    """u = prox(v) means −(u − v)/step ∈ ∂Ω(u)."""
    penalty = kind.make(strength)
    u = penalty.prox(v, step)
    atol = 1e2 * kind.exact * (1 + np.abs(v).max() / step)
    np.testing.assert_allclose(penalty.violation(u, (u - v) / step), 0.0, atol=atol)


@every_penalty
@given(vectors, vectors, strengths, steps)
def test_prox_is_the_minimum(kind: Kind, v: Any, other: Any, strength: float, step: float) -> None:
    penalty = kind.make(strength)

    def objective(u: Any) -> float:
        return 0.5 * float(np.sum((u - v) ** 2)) + step * penalty.value(u)

    u = penalty.prox(v, step)
    assert objective(u) <= objective(other) + 1e-10
    assert objective(u) <= objective(u + 1e-3 * other) + 1e-10


@every_penalty
@given(vectors, vectors, strengths, steps)
def test_prox_is_nonexpansive(kind: Kind, v: Any, w: Any, strength: float, step: float) -> None:
    penalty = kind.make(strength)
    apart = np.linalg.norm(penalty.prox(v, step) - penalty.prox(w, step))
    assert apart <= np.linalg.norm(v - w) + kind.exact


@every_penalty
@given(vectors, strengths)
def test_prox_with_a_step_for_each_weight(kind: Kind, v: Any, strength: float) -> None:
    penalty = kind.make(strength)
    given_steps = np.linspace(2.0, 0.1, N)
    sizes = penalty.even_steps(given_steps)
    assert np.all(sizes <= given_steps)
    assert np.all(sizes >= given_steps.min())
    if penalty.separable:
        np.testing.assert_array_equal(sizes, given_steps)
    np.testing.assert_array_equal(penalty.even_steps(sizes), sizes)
    u = penalty.prox(v, sizes)
    np.testing.assert_allclose(penalty.violation(u, (u - v) / sizes), 0.0, atol=1e3 * kind.exact)


@every_penalty
@given(vectors, strengths, steps)
def test_moreau_decomposition(kind: Kind, v: Any, strength: float, step: float) -> None:
    if kind.conjugate is None:
        pytest.skip("the conjugate has no closed form")
    whole = kind.make(strength).prox(v, step) + step * kind.conjugate(v, step, strength)
    np.testing.assert_allclose(whole, v, atol=1e-12)


@every_penalty
@pytest.mark.parametrize("seed", range(3))
def test_prox_against_cvxpy(kind: Kind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    v, strength, step = 2 * rng.normal(size=N), rng.uniform(0.2, 2), rng.uniform(0.2, 2)
    np.testing.assert_allclose(
        kind.make(strength).prox(v, step), cvxpy_prox(kind, v, strength, step), atol=1e-5
    )


def cvxpy_prox(kind: Kind, v: Any, strength: float, step: float, smooth: bool = True) -> Any:
    cp = pytest.importorskip("cvxpy")
    u = cp.Variable(N)
    value, conditions = kind.expression(u, strength, smooth)
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u - v) + step * value), conditions).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )
    return u.value


@every_penalty
@pytest.mark.parametrize("seed", range(3))
def test_violation_is_zero_exactly_at_the_optimum(kind: Kind, seed: int) -> None:
    """min ½ wᵀAw − b·w + Ω(w): solved by proximal gradient, then moved away from."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, N))
    A, b = root @ root.T / N + 0.1 * np.eye(N), 2 * rng.normal(size=N)
    penalty = kind.make(0.5)
    step = 1 / np.linalg.eigvalsh(A)[-1]
    w = np.zeros(N)
    for _ in range(20_000):
        before, w = w, penalty.prox(w - step * (A @ w - b), step)
        if np.abs(w - before).max() < 1e-13:
            break
    assert penalty.violation(w, A @ w - b).max() < max(1e-9, 1e2 * kind.exact)
    away = w + 0.1 * rng.normal(size=N)
    assert penalty.violation(away, A @ away - b).max() > 1e-3


@every_penalty
@given(tenths, vectors, strengths)
def test_violation_is_the_distance_to_the_subdifferential(
    kind: Kind, w: Any, g: Any, strength: float
) -> None:
    """Along −(g + nearest subgradient) the objective g·u + Ω(u) falls at the rate of the violation's norm."""
    penalty = kind.make(strength)
    if kind.ball:  # where there is a subdifferential
        w = w * min(1.0, strength / max(np.abs(w).sum(), strength))
    violation = penalty.violation(w, g)
    assert violation.shape == (N,)
    assert (violation >= 0).all()

    def objective(u: Any) -> float:
        return float(g @ u) + penalty.value(u)

    h = 1e-7 if kind.exact < 1e-9 else 1e-5
    u = penalty.prox(w - h * g, h)  # a proximal step points along the steepest descent
    rate = (objective(w) - objective(u)) / h
    assert rate == pytest.approx(float(violation @ violation), rel=2e4 * h, abs=1e-5)


@every_penalty
@given(vectors, vectors, strengths)
def test_group_violation_is_the_norm_within_groups(kind: Kind, w: Any, g: Any, strength: float) -> None:
    penalty = kind.make(strength)
    violation, each = penalty.violation(w, g), penalty.group_violation(w, g)
    if penalty.groups is None:
        np.testing.assert_array_equal(each, violation)
    else:
        expected = [
            np.linalg.norm(violation[penalty.groups.members(m)]) for m in range(penalty.groups.n_groups)
        ]
        np.testing.assert_allclose(each, expected, rtol=1e-12)


@every_penalty
@given(vectors)
def test_zero_is_optimal_from_the_dual_norm_on(kind: Kind, g: Any) -> None:
    g = g.copy()
    g[list(kind.free)] = 0.0  # where nothing holds a weight at zero, the gradient must vanish by itself
    threshold = kind.make(1.0).dual_norm(g)
    zero = np.zeros(N)
    if not kind.norm:
        assert threshold == np.inf
        return
    assert threshold >= 0
    enough = kind.make(threshold * (1 + kind.exact) + 1e-300)
    # Here a group lies on the edge of its ball, where Newton's steps know its weights only to the root of their gap.
    near = 1e2 * kind.exact if kind.exact < 1e-9 else 1e-6
    assert enough.violation(zero, g).max() == pytest.approx(0, abs=near * (1 + np.abs(g).max()))
    if threshold > 1e-6:
        assert kind.make(0.99 * threshold).violation(zero, g).max() > 0


@every_penalty
@given(vectors, strengths)
def test_zero_is_optimal_if_the_polar_is_at_most_one(kind: Kind, g: Any, strength: float) -> None:
    penalty, zero = kind.make(strength), np.zeros(N)
    polar = penalty.polar(g)
    if not np.isfinite(polar):
        assert penalty.violation(zero, 1e-9 * g).max() > 0
        return
    assert penalty.violation(zero, 0.999 * g / max(polar, 1e-300)).max() == pytest.approx(
        0, abs=1e2 * kind.exact
    )
    if polar > 0:
        assert penalty.violation(zero, 1.001 * g / polar).max() > 0
    assert penalty.polar(np.zeros(N)) == 0


@every_penalty
def test_weights_that_nothing_holds_have_an_infinite_polar(kind: Kind) -> None:
    penalty = kind.make(0.5)
    assert never_dropped(penalty, N).tolist() == list(kind.free)
    for k in range(N):
        e = np.zeros(N)
        e[k] = 1.0
        held = np.isfinite(penalty.polar(e))
        assert held == (penalty.violation(np.zeros(N), 1e-6 * e)[k] == 0)
        if k not in kind.free and kind.norm:
            assert held


@every_penalty
@pytest.mark.parametrize("seed", range(2))
def test_polar_against_cvxpy(kind: Kind, seed: int) -> None:
    """argmin_u ½‖u − x‖² + Ω₀(u) is zero if and only if the polar of −x is at most 1."""
    x = np.random.default_rng(seed).normal(size=N)
    x[list(kind.free)] = 0.0
    polar = kind.make(0.5).polar(-x)
    if not kind.norm:
        assert polar == np.inf
        return
    assert np.abs(cvxpy_prox(kind, 0.95 * x / polar, 0.5, 1.0, smooth=False)).max() < 1e-5
    assert np.abs(cvxpy_prox(kind, 1.05 * x / polar, 0.5, 1.0, smooth=False)).max() > 1e-3


@every_penalty
@given(vectors, vectors, strengths, st.sets(st.integers(0, N - 1), min_size=1))
def test_restriction_is_the_penalty_with_the_other_weights_zero(
    kind: Kind, v: Any, g: Any, strength: float, chosen: set[int]
) -> None:
    penalty, features = kind.make(strength), np.array(sorted(chosen))
    small = penalty.restrict(features)
    w = np.zeros(N)
    w[features] = v[features]
    assert small.value(w[features]) == pytest.approx(penalty.value(w), abs=1e-12)
    np.testing.assert_allclose(small.prox(w[features], 0.5), penalty.prox(w, 0.5)[features], atol=kind.exact)
    gradient = np.where(w != 0, g, 0.0)
    np.testing.assert_allclose(
        small.violation(w[features], gradient[features]),
        penalty.violation(w, gradient)[features],
        atol=1e2 * kind.exact,
    )
    assert (small.smooth, small.separable) == (penalty.smooth, penalty.separable)


@every_penalty
@given(vectors, vectors, strengths, st.sets(st.integers(0, N - 1)))
def test_exempt_features_are_not_penalised(
    kind: Kind, v: Any, g: Any, strength: float, chosen: set[int]
) -> None:
    """The rest is penalised as if they were zero."""
    penalty, features = kind.make(strength), np.array(sorted(chosen), np.int64)
    if not kind.exempts and chosen:
        with pytest.raises(ParsimonError, match="cannot leave features out"):
            penalty.exempt(features, N)
        return
    exempt, rest = penalty.exempt(features, N), np.setdiff1d(np.arange(N), features)
    without, g_without = v.copy(), g.copy()
    without[features], g_without[features] = 0.0, 0.0
    assert exempt.value(v) == pytest.approx(penalty.value(without), abs=1e-12)
    u, violation = exempt.prox(v, 0.5), exempt.violation(v, g)
    np.testing.assert_array_equal(u[features], v[features])
    np.testing.assert_allclose(u[rest], penalty.prox(without, 0.5)[rest], atol=kind.exact)
    np.testing.assert_array_equal(violation[features], np.abs(g[features]))
    np.testing.assert_allclose(
        violation[rest], penalty.violation(without, g_without)[rest], atol=1e2 * kind.exact
    )
    np.testing.assert_array_equal(exempt.smooth_gradient(v)[features], 0.0)
    assert set(chosen) <= set(never_dropped(exempt, N).tolist())


@every_penalty
@given(vectors, strengths)
def test_scaled_has_another_strength_and_nothing_else(kind: Kind, w: Any, strength: float) -> None:
    scaled = kind.make(1.0).scaled(strength)
    if kind.name != "l2":  # whose strength is not its main one, which is l1
        assert scaled.value(w) == pytest.approx(kind.definition(w, strength), rel=1e-12, abs=1e-12)
    assert scaled.strength == strength


@every_penalty
def test_binding_what_is_bound_changes_nothing(kind: Kind) -> None:
    penalty = kind.make(0.5)
    table = SmallTable(("t",), node=((0, (0, 1, 2)), (0, (0, 1, 2))))
    assert penalty.bind(table).value(np.arange(N)) == penalty.value(np.arange(N))


@every_penalty
@given(tenths, strengths)
def test_a_smooth_penalty_has_a_derivative(kind: Kind, w: Any, strength: float) -> None:
    penalty = kind.make(strength)
    if kind.ball:
        assert not penalty.smooth
        return
    if kind.norms:
        if not penalty.smooth:
            left, right = (penalty.value(x * np.ones(N)) / 1e-6 for x in (-1e-6, 1e-6))
            assert left + right > 1e-3  # a corner at zero
        # Off the kinks, the smooth part is what is left when the non-smooth part at w is taken from Ω.
        plain = w / 1e3
        smooth = penalty.value(w) - 1e3 * penalty.value(plain)  # norms are homogeneous, l2/2 ‖·‖² is not
        slope = float(penalty.smooth_gradient(w) @ w)
        assert slope / 2 * (1 - 1e-3) == pytest.approx(smooth, rel=1e-9, abs=1e-9)
    for k in range(N) if penalty.smooth else ():
        e = np.zeros(N)
        e[k] = 1e-5
        slope = (penalty.value(w + e) - penalty.value(w - e)) / 2e-5
        assert penalty.violation(w, -slope * (e != 0))[k] == pytest.approx(0, abs=1e-7)


@every_penalty
def test_inputs_are_left_alone(kind: Kind) -> None:
    v, g, sizes = np.arange(N) - 2.5, np.ones(N), np.linspace(0.5, 1.0, N)
    before = v.copy(), g.copy(), sizes.copy()
    penalty = kind.make(0.5)
    penalty.prox(v, 1.0)
    penalty.prox(v, penalty.even_steps(sizes))
    penalty.violation(v, g)
    penalty.value(v)
    penalty.polar(g)
    penalty.dual_norm(g)
    for now, then in zip((v, g, sizes), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_strengths_must_be_zero_or_more(wrong: float) -> None:
    for name in ("l1", "l2"):
        with pytest.raises(ParsimonError, match=f"penalty strength {name} must be zero or more"):
            ElasticNet(**{name: wrong})
        with pytest.raises(ParsimonError, match=f"penalty strength {name} must be zero or more"):
            GroupLasso(1.0, apart, **{name: wrong})
    with pytest.raises(ParsimonError, match="the penalty strength must be zero or more"):
        TreeLasso(wrong, apart)
    with pytest.raises(ParsimonError, match="penalty strength radius must be zero or more"):
        L1Ball(wrong)
    for make in (SquaredL1, lambda strength: KLNorm(1.0, strength)):
        with pytest.raises(ParsimonError, match="the penalty strength must be zero or more"):
            make(wrong)
