"""What holds for every penalty. A new one is a line in `PENALTIES`; all tests below then apply to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from feature_tables import SmallTable
from parsimon.errors import ParsimonError
from parsimon.groups import BlockGroups, Groups
from parsimon.penalties import (
    L1,
    L2,
    ElasticNet,
    ElasticNetGroups,
    GroupLasso,
    KLNorm,
    L1Ball,
    OverlappingGroupLasso,
    Penalty,
    SentenceLasso,
    SparseGroupLasso,
    SquaredL1,
    TreeLasso,
    never_dropped,
)
from parsimon.solvers import Status, Weights, choose_solver, drive
from toy_problems import make_toy

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
    free: tuple[int, ...] = ()  # features that the strength does not act on
    exempts: bool = True  # whether features can be left out
    ball: bool = False  # whether it is 0 inside and infinite outside
    nonsmooth: Callable[[Any, float], Any] | None = None  # the CVXPY expression without its smooth part
    norms: bool = True  # whether it is made of norms and l2/2 ‖·‖²
    exact: float = 1e-12  # how exact its proximal operator is

    def __str__(self) -> str:
        return self.name

    def expression(self, w: Any, strength: float, smooth: bool = True) -> tuple[Any, list[Any]]:
        """What CVXPY minimises, and under which conditions."""
        what = self.cvxpy if smooth or self.nonsmooth is None else self.nonsmooth
        said = what(w, strength)
        if isinstance(said, tuple):
            return said
        return (0.0, [said]) if self.ball else (said, [])


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


def weighted_l1_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return s * (C @ cp.abs(w))


LAMBDA = 4.0  # the sharpness of KL norms


def kl_definition(w: Any, s: float, weight: Any = 1.0) -> float:
    """As Zhu, Xing & Zhang write it: √λ Σ_k [√(w_k² + 1/λ) − log((√(λ w_k² + 1) + 1)/2)/√λ], less its value at 0."""
    root = np.sqrt(LAMBDA)
    each = np.sqrt(w**2 + 1 / LAMBDA) - np.log((np.sqrt(LAMBDA * w**2 + 1) + 1) / 2) / root
    return float(s * root * np.sum(weight * (each - 1 / root)))


def kl_cvxpy(w: Any, s: float, weight: Any = None) -> Any:
    """q − 1 − log((q + 1)/2) grows with q, so q ends at √(λ w² + 1)."""
    import cvxpy as cp

    q = cp.Variable(N)
    total = cp.multiply(np.ones(N) if weight is None else weight, q - 1 - cp.log((q + 1) / 2))
    roots = cp.vstack([np.sqrt(LAMBDA) * w, np.ones(N)])
    return s * cp.sum(total), [cp.norm(roots, 2, axis=0) <= q]


def kl_conjugate(v: Any, step: float, s: float) -> Any:
    """z with z − v/step + (2 z/(s λ − z²/s))/step = 0, by bisection."""
    x, low, high = np.abs(v) / step, np.zeros(N), np.full(N, s * np.sqrt(LAMBDA))
    for _ in range(200):
        z = (low + high) / 2
        more = z + 2 * z / (s * LAMBDA - z**2 / s) / step < x
        low, high = np.where(more, z, low), np.where(more, high, z)
    return np.sign(v) * low


def squared_l1_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return s / 2 * cp.square(cp.norm1(w))


def ball_cvxpy(w: Any, s: float) -> Any:
    import cvxpy as cp

    return cp.norm1(w) <= s


def elastic_conjugate(v: Any, step: float, s: float) -> Any:
    """Ω*(z) = Σ max(|z| − s, 0)² / (2·0.7)."""
    x, scale = v / step, 1 / (step * 0.7)
    return np.where(np.abs(x) <= s, x, np.sign(x) * (np.abs(x) + scale * s) / (1 + scale))


def on_l1_ball(v: Any, radius: float) -> Any:
    """The projection by sorting (Duchi et al. 2008, figure 1)."""
    if np.abs(v).sum() <= radius or radius == 0:
        return v if radius > 0 else np.zeros(len(v))
    size = np.sort(np.abs(v))[::-1]
    theta = (np.cumsum(size) - radius) / np.arange(1, len(v) + 1)
    last = np.flatnonzero(size > theta)[-1]
    return np.sign(v) * np.maximum(np.abs(v) - theta[last], 0.0)


def group_kind(
    name: str,
    make: Callable[[float], Penalty],
    lists: Sequence[Sequence[int]],
    d: Sequence[float],
    order: Any = 2,
    l1: float = 0.0,
    l2: float = 0.0,
    exempt: Sequence[int] = (),
    **about: Any,
) -> Kind:
    """s Σ_m d_m ‖w_m‖ + l1 ‖w‖₁ + l2/2 ‖w‖², said with loops."""
    lists = [[k for k in members if k not in exempt] for members in lists]
    rest = [k for k in range(N) if k not in exempt]
    held = {k for members, weight in zip(lists, d, strict=True) if weight > 0 for k in members}

    def definition(w: Any, s: float) -> float:
        norms = [np.linalg.norm(w[members], order) if members else 0.0 for members in lists]
        return float(s * np.dot(d, norms) + l1 * np.abs(w[rest]).sum() + l2 / 2 * np.sum(w[rest] ** 2))

    def nonsmooth(w: Any, s: float) -> Any:
        import cvxpy as cp

        norms = [
            s * weight * cp.norm(w[members], order)
            for members, weight in zip(lists, d, strict=True)
            if members
        ]
        return sum(norms) + l1 * cp.norm1(w[rest])

    def cvxpy(w: Any, s: float) -> Any:
        return nonsmooth(w, s) + l2_cvxpy(w[rest], l2)

    def conjugate(v: Any, step: float, s: float) -> Any:
        """The projection on the balls of the dual norm: groups are disjoint."""
        out = np.zeros(N)
        for members, weight in zip(lists, d, strict=True):
            x, radius = v[members] / step, s * weight
            if order == 2:
                out[members] = x * min(1.0, radius / np.linalg.norm(x)) if x.any() else x
            else:
                out[members] = on_l1_ball(x, radius)
        return out

    overlaps = len({k for members in lists for k in members}) < sum(map(len, lists))
    known = not overlaps and not l1 and not l2
    return Kind(
        name, make, definition, cvxpy, conjugate if known else None, nonsmooth=nonsmooth,
        free=tuple(k for k in range(N) if k not in held), **about,
    )  # fmt: skip


APART, APART_D = [[0, 3], [1, 2, 4], [5]], [np.sqrt(2), np.sqrt(3), 1.0]
RANGES, RANGES_D = [[0, 1], [2], [3, 4]], [1.0, 0.0, 1.5]  # 5 is in no group
NESTED, NESTED_D = [[0], [0, 1], [2, 3], [0, 1, 2, 3, 4], [5]], [0.5, 1.0, 1.0, 0.7, 2.0]
CROSSED, CROSSED_D = [[0, 1, 2], [2, 3], [3, 4, 0], [1, 2, 5]], [1.0, 0.8, 1.3, 0.6]

apart = Groups.from_lists(APART, N)
ranges = Groups.consecutive(np.array([0, 2, 3, 5]), N, weight=RANGES_D)
nested = Groups.from_lists(NESTED, N, weight=NESTED_D)
crossed = Groups.from_lists(CROSSED, N, weight=CROSSED_D)
blocks = BlockGroups(
    Groups.consecutive(np.array([0, 2, 3, 3, 6]), N),
    Groups.from_lists([[0, 1], [1, 2], [1, 3]], 4, weight="ones"),
)

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
        elastic_cvxpy, conjugate=elastic_conjugate, nonsmooth=l1_cvxpy,
    ),
    Kind(
        "elastic net, weighted", lambda s: ElasticNet(l1=s, l2=0.7, weight=C),
        lambda w, s: float(np.sum(C * (s * np.abs(w) + 0.35 * w * w))), weighted_cvxpy, free=(1,),
        nonsmooth=weighted_l1_cvxpy,
    ),
    Kind(
        "l1 ball", L1Ball, lambda w, s: 0.0 if np.abs(w).sum() <= s else np.inf, ball_cvxpy,
        conjugate=lambda v, step, s: (v - on_l1_ball(v, s)) / step, norm=False, exempts=False, ball=True,
    ),
    Kind(
        "kl norm", lambda s: KLNorm(LAMBDA, s), kl_definition, kl_cvxpy, conjugate=kl_conjugate, norm=False,
        norms=False,
    ),
    Kind(
        "kl norm, weighted", lambda s: KLNorm(LAMBDA, s, weight=C), lambda w, s: kl_definition(w, s, C),
        lambda w, s: kl_cvxpy(w, s, C), norm=False, free=(1,), norms=False,
    ),
    Kind(
        "squared l1", SquaredL1, lambda w, s: s / 2 * np.abs(w).sum() ** 2, squared_l1_cvxpy, norm=False,
        exempts=False, norms=False,
    ),
    group_kind("groups", lambda s: GroupLasso(s, apart), APART, APART_D),
    group_kind("groups, ranges", lambda s: GroupLasso(s, ranges), RANGES, RANGES_D),
    group_kind("groups, inf", lambda s: GroupLasso(s, apart, norm="inf"), APART, APART_D, np.inf),
    group_kind("groups, ranges, inf", lambda s: GroupLasso(s, ranges, norm="inf"), RANGES, RANGES_D, np.inf),
    group_kind("sparse groups", lambda s: SparseGroupLasso(s, 0.3, apart), APART, APART_D, l1=0.3),
    group_kind("elastic-net groups", lambda s: ElasticNetGroups(s, 0.4, ranges), RANGES, RANGES_D, l2=0.4),
    group_kind(
        "groups, inf, l1, l2", lambda s: GroupLasso(s, ranges, norm="inf", l1=0.3, l2=0.4),
        RANGES, RANGES_D, np.inf, l1=0.3, l2=0.4,
    ),
    group_kind(
        "groups, some exempt",
        lambda s: GroupLasso(s, apart, l1=0.3, l2=0.4).exempt(np.array([2, 5]), N),
        APART, APART_D, l1=0.3, l2=0.4, exempt=[2, 5],
    ),
    group_kind("tree", lambda s: TreeLasso(s, nested), NESTED, NESTED_D),
    group_kind("tree, inf", lambda s: TreeLasso(s, nested, norm="inf"), NESTED, NESTED_D, np.inf, exact=1e-10),
    group_kind(
        "tree, l1, l2", lambda s: TreeLasso(s, nested, l1=0.3, l2=0.4), NESTED, NESTED_D, l1=0.3, l2=0.4,
    ),
    group_kind("overlap", lambda s: OverlappingGroupLasso(s, crossed), CROSSED, CROSSED_D, exact=1e-9),
    group_kind(
        "overlap, inf", lambda s: OverlappingGroupLasso(s, crossed, norm="inf"), CROSSED, CROSSED_D, np.inf,
        exact=1e-9,
    ),
    group_kind(
        "overlap, blocks, l1, l2", lambda s: OverlappingGroupLasso(s, blocks, l1=0.3, l2=0.4),
        [blocks.members(m).tolist() for m in range(3)], [1.0, 1.0, 1.0], l1=0.3, l2=0.4, exact=1e-9,
    ),
]  # fmt: skip

every_penalty = pytest.mark.parametrize("kind", PENALTIES, ids=str)
vectors = arrays(
    np.float64, N, elements=st.one_of(st.just(0.0), st.floats(-5, 5).filter(lambda x: abs(x) > 1e-6))
)
tenths = arrays(np.int64, N, elements=st.integers(-50, 50)).map(lambda x: x / 10)  # with ties and zeros
strengths = st.sampled_from([0.1, 0.5, 1.0, 3.0])
steps = st.sampled_from([0.01, 0.5, 1.0, 4.0])


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
    assert enough.violation(zero, g).max() == pytest.approx(0, abs=1e2 * kind.exact)
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


# ---- what only some penalties have -------------------------------------------------------------------------

# The norm inf has no majorizer, and neither has a ball.
MAJORIZED = [kind for kind in PENALTIES if hasattr(kind.make(1.0), "majorizer") and "inf" not in kind.name]
CONJUGATE = [kind for kind in PENALTIES if hasattr(kind.make(1.0), "conjugate")]


def test_who_has_what() -> None:
    assert {str(kind) for kind in PENALTIES if "inf" not in kind.name} - set(map(str, MAJORIZED)) == {
        "l1 ball"
    }
    names = {"l1", "l2", "elastic net", "elastic net, weighted", "kl norm", "kl norm, weighted", "squared l1"}
    assert set(map(str, CONJUGATE)) == names | {"l1 ball"}


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


def test_a_majorizer_counts_a_feature_as_often_as_a_group_has_it() -> None:
    sentences = Groups(np.array([0, 3, 5]), np.array([0, 1, 1, 1, 2]), np.ones(2), n_features=3)
    penalty = SentenceLasso(0.5, sentences, l1=0.1)
    w = np.array([1.0, -2.0, 0.5])
    norms = np.sqrt([1 + 2 * 4, 4 + 0.25])
    wanted = [0.5 / norms[0], 1.0 / norms[0] + 0.5 / norms[1], 0.5 / norms[1]]
    np.testing.assert_allclose(penalty.majorizer(w), wanted + 0.1 / np.abs(w))


def test_groups_with_the_norm_inf_have_no_majorizer() -> None:
    with pytest.raises(ParsimonError, match="a majorizer needs groups with the norm 2"):
        GroupLasso(1.0, apart, norm="inf").majorizer(np.ones(N))


@pytest.mark.parametrize("kind", CONJUGATE, ids=str)
@given(vectors, vectors, strengths)
def test_conjugate_is_the_largest_difference(kind: Kind, v: Any, w: Any, strength: float) -> None:
    """Ω*(z) ≥ z·w − Ω(w) for all w, with equality where z ∈ ∂Ω(w) (Fenchel, Young): prox gives such pairs."""
    penalty: Any = kind.make(strength)
    at_v = penalty.conjugate(v)
    if np.isfinite(penalty.value(w)):
        assert at_v >= float(v @ w) - penalty.value(w) - 1e-9
    u = penalty.prox(v, 1.0)
    z = (1 - 1e-12) * (v - u)  # not beyond the edge of what is finite
    assert penalty.conjugate(z) == pytest.approx(float(z @ u) - penalty.value(u), rel=1e-9, abs=1e-9)
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


# ---- the KL norm alone --------------------------------------------------------------------------------------

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


# ---- the squared L1 norm alone --------------------------------------------------------------------------------


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


# ---- the elastic net alone ---------------------------------------------------------------------------------


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


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_a_sharpness_is_more_than_zero(wrong: float) -> None:
    with pytest.raises(ParsimonError, match=r"sharpness of a KL norm \(its λ\) must be more than zero, not"):
        KLNorm(wrong)
