"""Small problems with penalties on groups, the solvers for them, and what CVXPY finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import GroupLasso, OverlappingGroupLasso, TreeLasso
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import FISTA, GaussSeidel, Grafting, Monitor, Result, Weights, WorkingSet, drive
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
