"""Group penalties solved: FISTA and working sets of groups against CVXPY and each other, with certificates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, OverlappingGroupLasso, TreeLasso
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    FISTA,
    SOLVERS,
    GaussSeidel,
    Grafting,
    Monitor,
    Result,
    Smoothing,
    Status,
    Weights,
    WorkingSet,
    choose_solver,
    drive,
)
from parsimon.solvers.certificate import lower_bound
from toy_problems import Toy, dense_map, make_toy

TOYS = {
    "plain": make_toy(1, lengths=(3, 1, 0, 3, 2)),
    "real values": make_toy(2, lengths=(3, 2, 2), real=True),
    "seen pairs": make_toy(3, lengths=(3, 3, 1), candidates="seen"),
}


def thirds(n: int) -> Groups:
    return Groups.consecutive(np.array([0, n // 3, 2 * n // 3, n]), n, ["a", "b", "c"], "sqrt")


def crossing(n: int) -> Groups:
    return Groups.from_lists([range(0, n), range(0, n, 2), range(0, n, 3)], n, weight="ones")


def nested(n: int) -> Groups:
    return Groups.from_lists([range(0, n), range(0, n // 2), range(0, n // 4)], n, weight="ones")


PENALTIES: dict[str, Any] = {
    "group lasso": lambda n: GroupLasso(0.25, thirds(n)),
    "largest of each group": lambda n: GroupLasso(0.4, thirds(n), norm="inf"),
    "sparse group lasso": lambda n: GroupLasso(0.15, thirds(n), l1=0.15),
    "elastic-net groups": lambda n: GroupLasso(0.2, thirds(n), l2=0.3),
    "tree": lambda n: TreeLasso(0.2, nested(n)),
    "overlapping": lambda n: OverlappingGroupLasso(0.2, crossing(n)),
}
SOLVERS_FOR_GROUPS = {
    "fista": FISTA(tol=1e-7),
    "working sets": WorkingSet(tol=1e-7, inner=FISTA(tol=0.0), steps=(50, 200, 2000), new_groups=1),
    "grafting": Grafting(tol=1e-7, unit=1),
    "grafting-light": Grafting(tol=1e-7, unit=1, steps=1),
    "gauss-seidel": GaussSeidel(tol=1e-7, unit=1),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
every_penalty = pytest.mark.parametrize("make_penalty", PENALTIES.values(), ids=PENALTIES)


def solve(solver: Any, problem: InMemoryProblem, **watch: Any) -> Result:
    return drive(solver, problem, Weights.zeros(problem.n_features), Monitor(**{"max_iter": 5000, **watch}))


def loss_by_cvxpy(toy: Toy, loss: str, w: Any) -> Any:
    cp = pytest.importorskip("cvxpy")
    node_map, pair_map = dense_map(toy.index, toy.observations)
    total = 0.0
    for tokens, weight, outputs in toy.enumerations(np.zeros(toy.index.n_features)):
        if not outputs.length:
            continue
        here, gold = np.arange(tokens.start, tokens.stop), toy.gold[tokens]

        def features(y: Any, here: Any = here) -> Any:
            return node_map[here, y].sum(axis=0) + pair_map[here[1:], y[:-1], y[1:]].sum(axis=0)

        phi = np.array([features(y) for y in outputs.labellings])
        if loss == "log":
            total += weight * (cp.log_sum_exp(phi @ w) - features(gold) @ w)
        else:
            cost = (outputs.labellings != gold).sum(axis=1)
            total += weight * (cp.max(phi @ w + cost) - features(gold) @ w)
    return total


def penalty_by_cvxpy(penalty: Any, w: Any) -> Any:
    import cvxpy as cp

    groups, order = penalty.groups, 2 if penalty.norm == 2 else "inf"
    norms = [groups.weight[m] * cp.norm(w[groups.members(m)], order) for m in range(groups.n_groups)]
    total = penalty.strength * sum(norms)
    return total + penalty.l1 * cp.norm1(w) + penalty.l2 / 2 * cp.sum_squares(w)


def optimum_by_cvxpy(toy: Toy, loss: str, penalty: Any) -> float:
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(toy.index.n_features)
    problem = cp.Problem(cp.Minimize(loss_by_cvxpy(toy, loss, w) + penalty_by_cvxpy(penalty, w)))
    return float(problem.solve(solver=cp.CLARABEL))


@every_toy
@every_penalty
@pytest.mark.parametrize("solver", SOLVERS_FOR_GROUPS.values(), ids=SOLVERS_FOR_GROUPS)
def test_the_optimum_is_that_of_cvxpy(toy: Toy, make_penalty: Any, solver: Any) -> None:
    penalty = make_penalty(toy.index.n_features)
    problem = toy.problem("log", penalty)
    result = solve(solver, problem)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(optimum_by_cvxpy(toy, "log", penalty), rel=1e-6)
    w = result.weights.dense()
    _, gradient = problem.loss_and_gradient(w)
    assert np.max(penalty.group_violation(w, gradient)) <= 1e-5


@every_toy
@every_penalty
def test_the_gap_bounds_what_is_left(toy: Toy, make_penalty: Any) -> None:
    penalty = make_penalty(toy.index.n_features)
    problem = toy.problem("log", penalty)
    optimum = solve(FISTA(tol=1e-9), problem).objective
    history = solve(
        WorkingSet(tol=1e-7, inner=FISTA(tol=0.0), steps=(3, 10, 2000), new_groups=1), problem
    ).history
    gaps = [(event.objective, event.gap) for event in history if event.gap is not None]
    assert len(gaps) >= 2
    assert all(objective - optimum <= gap + 1e-9 for objective, gap in gaps)
    if penalty.l2 == 0:
        assert gaps[-1][1] <= 1e-4 * optimum


@every_toy
@pytest.mark.parametrize("name", ["l1", "l2", "elastic net", "group lasso"])
def test_structural_svms_have_a_certified_optimum_too(toy: Toy, name: str) -> None:
    n = toy.index.n_features
    penalty: Any = {
        "l1": L1(0.3),
        "l2": L2(0.5),
        "elastic net": ElasticNet(0.2, 0.3),
        "group lasso": GroupLasso(0.25, thirds(n)),
    }[name]
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(n)
    if name == "group lasso":
        omega = penalty_by_cvxpy(penalty, w)
    else:
        omega = penalty.l1 * cp.norm1(w) + penalty.l2 / 2 * cp.sum_squares(w)
    optimum = cp.Problem(cp.Minimize(loss_by_cvxpy(toy, "hinge", w) + omega)).solve(solver=cp.CLARABEL)
    result = solve(Smoothing(tol=1e-3), toy.problem("hinge", penalty))
    assert result.gap is not None
    assert result.objective >= optimum * (1 - 1e-6)
    assert result.objective - optimum <= result.gap + 1e-6
    if name != "elastic net":  # its bound leaves the L2 part out
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(optimum, rel=2e-3)


def test_a_bound_is_never_above_the_optimum() -> None:
    toy, rng = TOYS["plain"], np.random.default_rng(0)
    n = toy.index.n_features
    for penalty in (L1(0.3), L2(0.5), GroupLasso(0.25, thirds(n)), OverlappingGroupLasso(0.2, crossing(n))):
        problem = toy.problem("log", penalty)
        optimum = solve(choose_solver("auto", problem, 1e-8), problem).objective
        for _ in range(20):
            w = rng.normal(size=n)
            loss, gradient = problem.loss_and_gradient(w)
            assert lower_bound(loss - w @ gradient, gradient, penalty) <= optimum + 1e-9


@pytest.mark.parametrize(
    ("loss", "penalty", "expected"),
    [
        ("log", L1(1.0), "working-set"),
        ("log", L2(1.0), "lbfgs"),
        ("log", GroupLasso(1.0, thirds(33)), "working-set"),
        ("log", OverlappingGroupLasso(1.0, crossing(33)), "working-set"),
        ("hinge", GroupLasso(1.0, thirds(33)), "smoothing"),
        ("hinge", L1(1.0), "smoothing"),
        ("perceptron", L1(1.0), "subgradient"),
    ],
)
def test_what_auto_takes(loss: str, penalty: Any, expected: str) -> None:
    assert choose_solver("auto", TOYS["plain"].problem(loss, penalty)).name == expected
    assert set(SOLVERS) >= {"fista", "block-working-set", "smoothing", "mira", "sgd"}
