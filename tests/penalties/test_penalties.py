"""What holds for every penalty. A new one is a line in `PENALTIES`; all tests below then apply to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet, Penalty

N = 6
C = np.array([1.0, 0.0, 2.0, 0.5, 1.0, 3.0])  # weights of single features; one is not penalised


@dataclass(frozen=True)
class Kind:
    """A penalty over N weights, and the same thing said independently."""

    name: str
    make: Callable[[float], Penalty]  # strength → Ω
    definition: Callable[[Any, float], float]  # w, strength → Ω(w)
    cvxpy: Callable[[Any, float], Any]  # the same with a CVXPY variable
    # argmin_z ½‖z − v/step‖² + Ω*(z)/step, the other half of Moreau's v = prox(v) + step·that, if known.
    conjugate: Callable[[Any, float, float], Any] | None = None
    norm: bool = True  # whether the strength multiplies a norm, so that a finite one makes w = 0 optimal
    free: tuple[int, ...] = ()  # features that are not penalised

    def __str__(self) -> str:
        return self.name


def l1_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return s * cp.norm1(w)


def l2_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return s / 2 * cp.sum_squares(w)


def elastic_cvxpy(w: Any, s: float) -> Any:
    return l1_cvxpy(w, s) + l2_cvxpy(w, 0.7)


def weighted_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return s * (C @ cp.abs(w)) + 0.7 / 2 * (C @ cp.square(w))


def elastic_conjugate(v: Any, step: float, s: float) -> Any:
    """Ω*(z) = Σ max(|z| − s, 0)² / (2·0.7)."""
    x, scale = v / step, 1 / (step * 0.7)
    return np.where(np.abs(x) <= s, x, np.sign(x) * (np.abs(x) + scale * s) / (1 + scale))


PENALTIES = [
    Kind(
        "l1", L1, lambda w, s: s * np.abs(w).sum(), l1_cvxpy,
        conjugate=lambda v, step, s: np.clip(v / step, -s, s),
    ),
    Kind(
        "l2", L2, lambda w, s: s / 2 * (w @ w), l2_cvxpy,
        conjugate=lambda v, step, s: (v / step) / (1 + 1 / (step * s)), norm=False,
    ),
    Kind(
        "elastic net", lambda s: ElasticNet(l1=s, l2=0.7), lambda w, s: s * np.abs(w).sum() + 0.35 * (w @ w),
        elastic_cvxpy, conjugate=elastic_conjugate,
    ),
    Kind(
        "elastic net, weighted", lambda s: ElasticNet(l1=s, l2=0.7, weight=C),
        lambda w, s: float(np.sum(C * (s * np.abs(w) + 0.35 * w * w))), weighted_cvxpy, free=(1,),
    ),
]  # fmt: skip

every_penalty = pytest.mark.parametrize("kind", PENALTIES, ids=str)
vectors = arrays(
    np.float64, N, elements=st.one_of(st.just(0.0), st.floats(-5, 5).filter(lambda x: abs(x) > 1e-6))
)
strengths = st.sampled_from([0.1, 0.5, 1.0, 3.0])
steps = st.sampled_from([0.01, 0.5, 1.0, 4.0])


@every_penalty
@given(vectors, strengths)
def test_value_is_the_definition(kind: Kind, w: Any, strength: float) -> None:
    assert kind.make(strength).value(w) == pytest.approx(kind.definition(w, strength), rel=1e-12, abs=1e-12)


@every_penalty
@given(vectors, vectors, strengths, st.floats(0, 1))
def test_value_is_convex_and_zero_at_zero(kind: Kind, v: Any, w: Any, strength: float, t: float) -> None:
    penalty = kind.make(strength)
    assert penalty.value(np.zeros(N)) == 0.0
    between = penalty.value(t * v + (1 - t) * w)
    assert between <= t * penalty.value(v) + (1 - t) * penalty.value(w) + 1e-9


@every_penalty
@given(vectors, strengths, steps)
def test_prox_satisfies_its_optimality_condition(kind: Kind, v: Any, strength: float, step: float) -> None:
    """u = prox(v) means −(u − v)/step ∈ ∂Ω(u)."""
    penalty = kind.make(strength)
    u = penalty.prox(v, step)
    np.testing.assert_allclose(
        penalty.violation(u, (u - v) / step), 0.0, atol=1e-10 * (1 + np.abs(v).max() / step)
    )


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
    assert apart <= np.linalg.norm(v - w) + 1e-12


@every_penalty
@given(vectors, strengths)
def test_prox_with_a_step_for_each_weight(kind: Kind, v: Any, strength: float) -> None:
    penalty = kind.make(strength)
    if not penalty.separable:
        pytest.skip("only separable penalties take a step for each weight")
    sizes = np.linspace(0.1, 2.0, N)
    u = penalty.prox(v, sizes)
    np.testing.assert_allclose(penalty.violation(u, (u - v) / sizes), 0.0, atol=1e-9)


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
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    v, strength, step = 2 * rng.normal(size=N), rng.uniform(0.2, 2), rng.uniform(0.2, 2)
    u = cp.Variable(N)
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u - v) + step * kind.cvxpy(u, strength))).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    np.testing.assert_allclose(kind.make(strength).prox(v, step), u.value, atol=1e-5)


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
        w = penalty.prox(w - step * (A @ w - b), step)
    assert penalty.violation(w, A @ w - b).max() < 1e-9
    away = w + 0.1 * rng.normal(size=N)
    assert penalty.violation(away, A @ away - b).max() > 1e-3


@every_penalty
@given(vectors, vectors, strengths)
def test_violation_is_the_distance_to_the_subdifferential(
    kind: Kind, w: Any, g: Any, strength: float
) -> None:
    """Along −(g + nearest subgradient) the objective g·u + Ω(u) falls at the rate of the violation's norm."""
    penalty = kind.make(strength)
    violation = penalty.violation(w, g)
    assert violation.shape == (N,)
    assert (violation >= 0).all()

    def objective(u: Any) -> float:
        return float(g @ u) + penalty.value(u)

    h = 1e-7
    u = penalty.prox(w - h * g, h)  # a proximal step points along the steepest descent
    rate = (objective(w) - objective(u)) / h
    assert rate == pytest.approx(float(violation @ violation), rel=1e-3, abs=1e-5)


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
    assert kind.make(threshold * (1 + 1e-12) + 1e-300).violation(zero, g).max() == pytest.approx(0, abs=1e-11)
    if threshold > 1e-6:
        assert kind.make(0.99 * threshold).violation(zero, g).max() > 0


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
    np.testing.assert_allclose(small.prox(w[features], 0.5), penalty.prox(w, 0.5)[features], atol=1e-12)
    gradient = np.where(w != 0, g, 0.0)
    np.testing.assert_allclose(
        small.violation(w[features], gradient[features]), penalty.violation(w, gradient)[features], atol=1e-12
    )
    assert (small.smooth, small.separable) == (penalty.smooth, penalty.separable)


@every_penalty
@given(vectors, strengths)
def test_a_smooth_penalty_has_a_derivative(kind: Kind, w: Any, strength: float) -> None:
    penalty = kind.make(strength)
    if not penalty.smooth:
        left, right = (penalty.value(x * np.ones(N)) / 1e-6 for x in (-1e-6, 1e-6))
        assert left + right > 1e-3  # a corner at zero
        return
    for k in range(N):
        e = np.zeros(N)
        e[k] = 1e-5
        slope = (penalty.value(w + e) - penalty.value(w - e)) / 2e-5
        assert penalty.violation(w, -slope * (e != 0))[k] == pytest.approx(0, abs=1e-7)


@every_penalty
def test_inputs_are_left_alone(kind: Kind) -> None:
    v, g = np.arange(N) - 2.5, np.ones(N)
    before = v.copy(), g.copy()
    penalty = kind.make(0.5)
    penalty.prox(v, 1.0)
    penalty.violation(v, g)
    penalty.value(v)
    np.testing.assert_array_equal(v, before[0])
    np.testing.assert_array_equal(g, before[1])


# ---- the elastic net alone ---------------------------------------------------------------------------------


def test_exempt_features_are_not_penalised() -> None:
    penalty = ElasticNet(l1=1.0, l2=2.0).exempt(np.array([1, 4]), N)
    w = np.ones(N)
    assert penalty.value(w) == pytest.approx(4 * 2.0)
    np.testing.assert_array_equal(penalty.prox(w, 1.0)[[1, 4]], 1.0)
    assert penalty.violation(np.zeros(N), np.full(N, 0.5)).tolist() == [0, 0.5, 0, 0, 0.5, 0]
    assert ElasticNet(l1=1.0).exempt(np.zeros(0, int), N) == ElasticNet(l1=1.0)


def test_exempting_keeps_earlier_weights() -> None:
    penalty = ElasticNet(l1=1.0, weight=C).exempt(np.array([0]), N)
    assert penalty.value(np.ones(N)) == pytest.approx(C.sum() - C[0])


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_strengths_must_be_zero_or_more(wrong: float) -> None:
    for name in ("l1", "l2"):
        with pytest.raises(ParsimonError, match=f"penalty strength {name} must be zero or more"):
            ElasticNet(**{name: wrong})
