"""The penalised quadratic model with groups: its minimum against CVXPY and its own conditions; same bits for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from group_toys import PENALTIES, TOYS, every_toy, optimum_by_cvxpy, solve, thirds
from parsimon._core import descend_groups
from parsimon.errors import ParsimonError
from parsimon.penalties import GroupLasso, OverlappingGroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import FISTA, Status, WorkingSet, choose_solver
from parsimon.solvers import group_kinks as group_kinks_module
from parsimon.solvers.group_kinks import GroupKinks
from parsimon.solvers.proximal_quasi_newton import CurvaturePairs, ProximalQuasiNewton
from parsimon.tasks.matrices.flat import flat_problem
from toy_problems import Toy

DISJOINT = ("group lasso", "sparse group lasso", "elastic-net groups")
MIXED = Groups.from_lists(
    [[0, 3, 4], [1, 2, 7, 8, 9], [], [5]], 12, weight="sqrt"
)  # 6, 10 and 11 are in none


def curved_pairs(random: Any, n: int, count: int, threads: int = 1) -> CurvaturePairs:
    """What steps on a strictly convex quadratic show."""
    A = random.normal(size=(n, n))
    A = A @ A.T / n + 0.5 * np.eye(n)
    pairs = CurvaturePairs(6, 2.0, threads)
    for _ in range(count):
        s = random.normal(size=n)
        pairs.add(s, A @ s)
    return pairs


def matrix(pairs: CurvaturePairs, D: Any) -> Any:
    """B = D − W M⁻¹ Wᵀ, written out."""
    d = pairs.damping * D
    if not len(pairs):
        return np.diag(d)
    W = pairs.rows(np.arange(len(D)))
    W[:, 0::2] *= d[:, None]
    return np.diag(d) - W @ np.linalg.solve(pairs.middle(D), W.T)


def kinks_of(penalty: GroupLasso, n: int) -> GroupKinks:
    X = np.zeros((1, n))
    return GroupKinks.of(flat_problem(X, np.array([1]), 2, penalty, bias=False))


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_kinks_module, "CLOSE", 1e-10)
    monkeypatch.setattr(group_kinks_module, "ROUNDS", 500)


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("exempt", [(), (1, 10)])
@pytest.mark.parametrize("seed", range(3))
def test_the_penalised_model_is_minimised(count: int, l1: float, exempt: tuple[int, ...], seed: int) -> None:
    random, n = np.random.default_rng(seed), 12
    pairs, D = curved_pairs(random, n, count), random.uniform(0.5, 3, n)
    gradient = 2 * random.normal(size=n)
    w = np.where(random.random(n) < 0.5, random.normal(size=n), 0.0)
    penalty = GroupLasso(0.6, MIXED, l1=l1).exempt(np.array(exempt, np.int64), n)
    d = kinks_of(penalty, n).propose(w, gradient, D, pairs)
    B = matrix(pairs, D)
    left = penalty.violation(w + d, gradient + B @ d)
    considered = kinks_of(penalty, n)._chosen(w, gradient)[1]
    np.testing.assert_allclose(left[considered], 0.0, atol=1e-7)
    assert np.all(d[np.setdiff1d(np.arange(n), considered)] == 0.0)


@pytest.mark.usefixtures("to_the_end")
def test_the_minimum_is_that_of_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    random, n = np.random.default_rng(5), 12
    pairs, D = curved_pairs(random, n, 4), random.uniform(0.5, 3, n)
    gradient, w = 4 * random.normal(size=n), random.normal(size=n)
    penalty = GroupLasso(0.6, MIXED, l1=0.2)
    d = kinks_of(penalty, n).propose(w, gradient, D, pairs)
    x = cp.Variable(n)
    norms = [0.6 * MIXED.weight[m] * cp.norm(x[MIXED.members(m)]) for m in range(4) if len(MIXED.members(m))]
    B = matrix(pairs, D)
    model = gradient @ (x - w) + 0.5 * cp.quad_form(x - w, cp.psd_wrap((B + B.T) / 2))
    cp.Problem(cp.Minimize(model + sum(norms) + 0.2 * cp.norm1(x))).solve(solver="CLARABEL")
    np.testing.assert_allclose(w + d, x.value, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_a_group_alone_is_minimised_in_one_round(seed: int) -> None:
    """With a diagonal and one group, a sweep is the proximal operator in the metric: the root is exact."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 40))
    D, gradient = 10.0 ** random.uniform(-3, 3, n), random.normal(size=n) * 10.0 ** random.uniform(-2, 2)
    w, strength = random.normal(size=n), 10.0 ** random.uniform(-2, 1)
    d, nothing = np.zeros(n), np.zeros((0, 0))
    start, member = np.array([0, n]), np.arange(n)
    descend_groups(
        gradient, D, np.zeros((n, 0)), nothing, nothing, w, np.zeros(n), start, member,
        np.array([strength]), 1e-9, 1, d, 1,
    )  # fmt: skip
    x, slope = w + d, gradient + D * d
    norm = np.linalg.norm(x)
    if norm == 0:
        assert np.linalg.norm(slope) <= strength * (1 + 1e-12)
    else:
        np.testing.assert_allclose(slope, -strength * x / norm, rtol=1e-6, atol=1e-8 * np.abs(slope).max())


def test_large_groups_come_out_the_same_with_any_number_of_threads() -> None:
    n = 30_000
    found = []
    for threads in (1, 2, 5):
        random = np.random.default_rng(0)
        pairs = CurvaturePairs(6, 2.0, threads)
        for _ in range(4):
            s = random.normal(size=n)
            pairs.add(s, s * random.uniform(0.5, 2, n))
        gradient, w = random.normal(size=n), random.normal(size=n)
        penalty = GroupLasso(2.0, Groups.consecutive(np.array([0, 100, 20_000, n]), n), l1=0.1)
        found.append(kinks_of(penalty, n).propose(w, gradient, np.ones(n), pairs))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert np.any(found[0])


@every_toy
@pytest.mark.parametrize("name", DISJOINT)
def test_the_optimum_is_that_of_cvxpy(toy: Toy, name: str) -> None:
    penalty = PENALTIES[name](toy.index.n_features)
    problem, optimum = toy.problem("log", penalty), optimum_by_cvxpy(toy, "log", penalty)
    for solver in (ProximalQuasiNewton(tol=1e-7), WorkingSet(tol=1e-7, new_groups=1)):
        result = solve(solver, problem)
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(optimum, rel=1e-6)


@every_toy
def test_features_without_a_penalty_are_fitted(toy: Toy) -> None:
    n = toy.index.n_features
    penalty = GroupLasso(0.2, thirds(n), l1=0.05, l2=0.01).exempt(np.array([0, n // 2]), n)
    problem = toy.problem("log", penalty)
    one, other = (solve(solver(tol=1e-8), problem) for solver in (WorkingSet, FISTA))
    assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_groups_are_found_by_the_solver_for_single_weights() -> None:
    toy = TOYS["plain"]
    n = toy.index.n_features
    assert choose_solver("auto", toy.problem("log", GroupLasso(0.2, thirds(n)))).name == "working-set"
    for penalty in (
        GroupLasso(0.2, thirds(n), norm="inf"),
        OverlappingGroupLasso(0.2, Groups.from_lists([range(n), [0, 1]], n)),
    ):
        with pytest.raises(ParsimonError, match="disjoint groups with the norm 2; use"):
            choose_solver("working-set", toy.problem("log", penalty))


def test_pairs_take_no_more_memory_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    import parsimon.solvers.proximal_quasi_newton as module

    monkeypatch.setattr(module, "MOST_BYTES", 16 * 8 * 10)  # eight pairs of ten features
    pairs = CurvaturePairs(20, 1.0)
    random = np.random.default_rng(0)
    for _ in range(11):
        s = random.normal(size=5)
        pairs.add(s, 2 * s)
    assert (pairs.memory, len(pairs)) == (16, 11)
    newest = s
    pairs.carry(np.arange(5), np.arange(10))
    assert (pairs.memory, len(pairs)) == (8, 8)
    np.testing.assert_array_equal(pairs.rows(np.arange(5))[:, -2], newest)


def test_the_diagonal_of_what_nothing_holds_at_zero_may_be_small_near_the_end() -> None:
    kinks = kinks_of(GroupLasso(0.6, MIXED, l2=0.25), 12)  # 6, 10 and 11 are in no group
    free = np.isin(np.arange(12), (6, 10, 11))
    for violation, least in ((1e9, 1.0), (1.0, 0.1), (0.0, 0.001)):
        np.testing.assert_allclose(kinks.lift(violation), 0.25 + np.where(free, least, 1.0))
    held = kinks_of(GroupLasso(0.6, MIXED, l1=0.1), 12)  # an L1 norm holds them, too
    np.testing.assert_array_equal(held.lift(0.0), np.ones(12))
