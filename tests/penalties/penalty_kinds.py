"""Every penalty, and the same thing said independently. A new one is a line in `PENALTIES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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
    SparseGroupLasso,
    SquaredL1,
    TreeLasso,
)
from parsimon.penalties.groups import BlockGroups, Groups

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
