"""Lower bounds on the optimum: as high as they can be found, never above it, and reached at it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.losses import Hinge, SmoothedHinge
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, KLNorm, L1Ball, SquaredL1
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Monitor, Result, Smoothing, Status, Weights, choose_solver, drive
from parsimon.solvers.certificate import highest, lower_bound
from parsimon.solvers.smoothing import expected_cost
from toy_problems import Toy, dense_map, make_toy

N = 5
C = np.array([1.0, 0.0, 2.0, 0.5, 1.0])
THIRDS = Groups.consecutive(np.array([0, 2, 5]), N, weight="ones")
PENALTIES: dict[str, Any] = {
    "l1": L1(0.7),
    "l2": L2(0.7),
    "l2, weighted": ElasticNet(0.0, 0.7, weight=C),
    "elastic net": ElasticNet(0.7, 0.3),
    "elastic net, weighted": ElasticNet(0.7, 0.3, weight=C),
    "kl norm": KLNorm(4.0, 0.6),
    "kl norm, sharp": KLNorm(1e6, 1e-3),
    "kl norm, weighted": KLNorm(4.0, 0.6, weight=C),
    "squared l1": SquaredL1(0.4),
    "l1 ball": L1Ball(0.5),
}
every_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
gradients = arrays(np.float64, N, elements=st.floats(-5, 5).map(lambda x: round(x, 3)))


# ---- the search ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("best", [1e-6, 0.01, 0.3, 0.5, 0.75, 0.999, 1.0, 3.0])
@pytest.mark.parametrize("end", [1e-5, 0.4, 1.0, np.inf])
def test_the_highest_point_of_a_parabola_with_an_edge(best: float, end: float) -> None:
    def value(theta: float) -> float:
        return 2 * best * theta - theta**2 if theta <= end else -np.inf

    at = min(best, end, 1.0)
    assert highest(value) == pytest.approx(value(at), rel=1e-6)
    assert highest(value) <= value(at) * (1 + 1e-12)


def test_functions_that_only_fall_or_only_grow() -> None:
    assert highest(lambda theta: -theta) == 0
    assert highest(lambda theta: -np.inf) == 0
    assert highest(lambda theta: 3 * theta) == 3
    assert highest(lambda theta: theta if theta < 2**-20 else -np.inf) == pytest.approx(2**-20, rel=1e-6)


# ---- bounds by hand and by brute force ------------------------------------------------------------------------


@every_penalty
@given(gradients, st.sampled_from([1e-3, 0.5, 4.0, 100.0]))
def test_no_share_gives_a_better_bound(penalty: Any, g: Any, a: float) -> None:
    bound = lower_bound(a, g, penalty)
    shares = np.concatenate([np.linspace(0, 1, 200), np.geomspace(1e-9, 1, 200)])
    best = max(theta * a - penalty.conjugate(-theta * g) for theta in shares)
    assert bound >= best - 1e-9 * a
    assert 0 <= bound <= a


@every_penalty
@given(gradients, st.sampled_from([0.5, 4.0]))
def test_bounds_are_no_worse_than_without_the_conjugate(penalty: Any, g: Any, a: float) -> None:
    """Scaled into the dual ball, or the closed form for L2."""
    gauge = penalty.polar(g)
    assert lower_bound(a, g, penalty) >= (a / max(gauge, 1.0) if np.isfinite(gauge) else 0.0) * (1 - 1e-15)
    if isinstance(penalty, ElasticNet) and penalty.l1 == 0 and penalty.weight is None and g.any():
        theta = min(1.0, a * penalty.l2 / (g @ g))
        assert lower_bound(a, g, penalty) == pytest.approx(theta * a - theta**2 * (g @ g) / (2 * penalty.l2))


def test_penalties_without_a_conjugate_and_without_an_l1_part() -> None:
    g = np.array([3.0, 4.0, 0.0, 0.0, 1.0])
    assert lower_bound(2.0, g, GroupLasso(0.5, THIRDS)) == pytest.approx(2 / 10)
    assert lower_bound(2.0, g, GroupLasso(0.0, THIRDS, l2=26.0)) == pytest.approx(1.5)
    assert lower_bound(2.0, g, ElasticNet()) == lower_bound(2.0, g, L1Ball(1.0)) == 0
    assert lower_bound(5.0, g, L1Ball(1.0)) == 1
    assert lower_bound(-1.0, g, L2(1.0)) == lower_bound(0.0, g, KLNorm(1.0)) == 0
    assert lower_bound(2.0, np.zeros(N), L2(1.0)) == 2


# ---- bounds on learning problems ------------------------------------------------------------------------------

TOYS = {
    "plain": make_toy(1, lengths=(3, 1, 0, 3)),
    "weighted": make_toy(2, lengths=(2, 3, 1), real=True, weighted=True),
}
COSTS = {"hamming": 1.0, "table": np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 3.0], [0.2, 1.5, 0.0]])}


def kl_by_cvxpy(penalty: Any, w: Any) -> tuple[Any, list[Any]]:
    import cvxpy as cp

    q = cp.Variable(w.shape[0])
    roots = cp.vstack([np.sqrt(penalty.sharpness) * w, np.ones(w.shape[0])])
    total = penalty.strength * cp.sum(q - 1 - cp.log((q + 1) / 2))
    return total, [cp.norm(roots, 2, axis=0) <= q]


def omega(penalty: Any, w: Any) -> tuple[Any, list[Any]]:
    import cvxpy as cp

    if isinstance(penalty, KLNorm):
        return kl_by_cvxpy(penalty, w)
    if isinstance(penalty, SquaredL1):
        return penalty.strength / 2 * cp.square(cp.norm1(w)), []
    if isinstance(penalty, L1Ball):
        return 0.0, [cp.norm1(w) <= penalty.radius]
    return penalty.l1 * cp.norm1(w) + penalty.l2 / 2 * cp.sum_squares(w), []


def optimum(toy: Toy, penalty: Any, cost: Any) -> float:
    """The smallest hinge objective over all weights, with every output written down (cost None: the log loss)."""
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(toy.index.n_features)
    node_map, pair_map = dense_map(toy.index, toy.observations)
    table = None if cost is None else cost * (1 - np.eye(toy.n_labels)) if np.isscalar(cost) else cost
    total = 0.0
    for tokens, weight, outputs in toy.enumerations(np.zeros(toy.index.n_features)):
        here, gold = np.arange(tokens.start, tokens.stop), toy.gold[tokens]

        def features(y: Any, here: Any = here) -> Any:
            return node_map[here, y].sum(axis=0) + pair_map[here[1:], y[:-1], y[1:]].sum(axis=0)

        if not outputs.length:
            continue
        scores = np.array([features(y) for y in outputs.labellings]) @ w
        costs = None if table is None else table[gold, outputs.labellings].sum(axis=1)
        best = cp.log_sum_exp(scores) if costs is None else cp.max(scores + costs)
        total += weight * (best - features(gold) @ w)
    value, conditions = omega(penalty, w)
    return float(cp.Problem(cp.Minimize(total + value), conditions).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("name", ["l1", "l2", "elastic net", "kl norm", "squared l1", "l1 ball"])
@pytest.mark.parametrize("seed", range(3))
def test_with_two_outputs_the_best_share_is_the_optimum(name: str, seed: int) -> None:
    """min_w max(0, a + g·w) + Ω(w): all mixtures are θ of one output and 1 − θ of gold, and duality is strong."""
    cp = pytest.importorskip("cvxpy")
    penalty, rng = PENALTIES[name], np.random.default_rng(seed)
    g, a, w = rng.normal(size=N), rng.uniform(0.1, 3.0), cp.Variable(N)
    value, conditions = omega(penalty, w)
    lowest = cp.Problem(cp.Minimize(cp.pos(a + g @ w) + value), conditions).solve(solver=cp.CLARABEL)
    assert lower_bound(a, g, penalty) == pytest.approx(lowest, rel=1e-5, abs=1e-6)


def solve(solver: Any, problem: InMemoryProblem) -> Result:
    return drive(solver, problem, Weights.zeros(problem.n_features), Monitor(max_iter=5000))


LEARNT: dict[str, Any] = {
    "l2": L2(0.5),
    "elastic net": ElasticNet(0.2, 0.3),
    "kl norm": KLNorm(40.0, 0.1),
    "squared l1": SquaredL1(0.2),
    "l1 ball": L1Ball(3.0),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
every_learnt = pytest.mark.parametrize("penalty", LEARNT.values(), ids=LEARNT)


@every_toy
@every_learnt
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_bounds_on_the_hinge_objective(toy: Toy, penalty: Any, cost: Any) -> None:
    """From the marginals at any weights they are not above the optimum; and they close in on it."""
    lowest = optimum(toy, penalty, cost)
    n, rng = toy.index.n_features, np.random.default_rng(0)
    for temperature in (0.1, 1.0):
        smooth = toy.problem(SmoothedHinge(temperature, cost), penalty)
        for scale in (0.0, 0.3, 2.0):
            weights = Weights(scale * rng.normal(size=n), np.arange(n), n)
            expected, gradient = expected_cost(smooth, weights)
            assert lower_bound(expected, gradient, penalty) <= lowest * (1 + 1e-6) + 1e-7
    result = solve(Smoothing(tol=1e-3), toy.problem(Hinge(cost), penalty))
    assert result.status is Status.CONVERGED
    assert result.gap is not None
    assert lowest * (1 - 1e-6) <= result.objective <= lowest + result.gap + 1e-6
    assert result.gap <= 1e-3 * result.objective


@every_learnt
def test_bounds_on_the_log_objective_are_reached_at_its_optimum(penalty: Any) -> None:
    toy = TOYS["plain"]
    problem = toy.problem("log", penalty)
    result = solve(choose_solver("auto", problem, 1e-8), problem)
    w = result.weights.dense()
    loss, gradient = problem.loss_and_gradient(w)
    bound = lower_bound(loss - w @ gradient, gradient, penalty)
    assert bound <= result.objective + 1e-9
    assert bound == pytest.approx(result.objective, rel=1e-5)
    assert result.objective == pytest.approx(optimum(toy, penalty, None), rel=1e-5)
