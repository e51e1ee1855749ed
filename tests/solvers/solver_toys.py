"""Small problems with L1 and L2 penalties, the solvers for smooth losses, and what scipy finds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest

from parsimon.penalties import L1, L2, ElasticNet
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    FISTA,
    LBFGS,
    OWLQN,
    GaussSeidel,
    Grafting,
    Monitor,
    ProximalQuasiNewton,
    Result,
    Weights,
    WorkingSet,
    drive,
)
from toy_problems import Toy, make_toy

T = TypeVar("T")
TOYS = {
    "plain": make_toy(1, lengths=(3, 1, 0, 3, 2)),
    "real values": make_toy(2, lengths=(3, 2, 2), real=True),
    "seen pairs": make_toy(3, lengths=(3, 3, 1), candidates="seen"),
    "weighted": make_toy(4, lengths=(2, 3, 2), weighted=True),
    "no transitions": make_toy(5, lengths=(3, 2), n_pair=0),
    "trees": make_toy(6, lengths=(4, 1, 0, 3, 3), trees=True),
}


def half_free(n: int) -> ElasticNet:
    """Every other weight is not penalised by L1, but a little by L2, so that there is a minimum."""
    return ElasticNet(l1=0.4, l2=0.3, weight=np.where(np.arange(n) % 2, 1.0, 0.1))


PENALTIES: dict[str, Any] = {
    "l1": lambda n: L1(0.4),
    "l2": lambda n: L2(0.5),
    "elastic net": lambda n: ElasticNet(l1=0.3, l2=0.2),
    "elastic net, weighted": half_free,
}
SMOOTH_LOSS_SOLVERS = {
    "lbfgs": LBFGS(tol=1e-8),
    "owlqn": OWLQN(tol=1e-8),
    "working-set": WorkingSet(tol=1e-8),
    "working-set, small sets": WorkingSet(tol=1e-8, sizes=(3, 5)),
    "working-set, owlqn": WorkingSet(tol=1e-8, inner=OWLQN(tol=0.0), sizes=(4,), steps=(20, 60, 200)),
    "proximal-quasi-newton": ProximalQuasiNewton(tol=1e-8),
    "fista": FISTA(tol=1e-8),
    "grafting": Grafting(tol=1e-8, unit=2),
    "grafting-light": Grafting(tol=1e-8, unit=2, steps=1),
    "grafting, three steps": Grafting(tol=1e-8, unit=50, steps=3),
    "gauss-seidel": GaussSeidel(tol=1e-8, unit=10),
    "working-set, fista": WorkingSet(tol=1e-8, inner=FISTA(tol=0.0), sizes=(4,), steps=(50, 200, 1000)),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
every_penalty = pytest.mark.parametrize("make_penalty", PENALTIES.values(), ids=PENALTIES)
every_solver = pytest.mark.parametrize("solver", SMOOTH_LOSS_SOLVERS.values(), ids=SMOOTH_LOSS_SOLVERS)


def set_up(toy: Toy, make_penalty: Any, loss: str = "log") -> InMemoryProblem:
    return toy.problem(loss, make_penalty(toy.index.n_features))


def solve(solver: Any, problem: InMemoryProblem, start: Weights | None = None, **watch: Any) -> Result:
    begin = start if start is not None else Weights.zeros(problem.n_features)
    return drive(solver, problem, begin, Monitor(**{"max_iter": 1000, **watch}))


def ended(work: Generator[Any, None, T]) -> T:
    """What work that pauses now and then comes to."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: T = end.value
            return value


def by_scipy(problem: InMemoryProblem) -> float:
    """w = p − q with p, q ≥ 0 makes the L1 part linear; then any bounded quasi-Newton method will do."""
    from scipy.optimize import minimize

    n, penalty = problem.n_features, problem.penalty
    assert isinstance(penalty, ElasticNet)
    l1 = np.broadcast_to(penalty.l1_strength, n)

    def objective(x: Any) -> tuple[float, Any]:
        w = x[:n] - x[n:]
        loss, gradient = problem.loss_and_gradient(w)
        gradient = gradient + penalty.smooth_gradient(w)
        smooth = replace(penalty, l1=0.0).value(w)
        return loss + smooth + float(l1 @ (x[:n] + x[n:])), np.concatenate([gradient + l1, l1 - gradient])

    options = {"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(
        objective, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * n), options=options
    )
    return float(found.fun)
