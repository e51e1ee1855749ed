"""Max-margin Markov networks: every learner finds what CVXPY finds when all outputs are written out."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from flat_problems import flat_toy
from max_margin_toys import PRICES, TOYS, checked, every_toy, solve
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations, Rows
from parsimon.losses import Hinge
from parsimon.penalties import L1, L2, ElasticNet, KLNorm, L1Ball
from parsimon.solvers import (
    Adaptive,
    CuttingPlane,
    Event,
    FrankWolfe,
    Monitor,
    OneSlack,
    ProjectedSubgradient,
    Smoothing,
    Status,
    Weights,
    choose_solver,
    drive,
)
from toy_problems import Toy, by_cvxpy, make_toy


@every_toy
@pytest.mark.parametrize("l2", [0.05, 0.7])
def test_the_m3n_has_one_optimum(toy: Toy, l2: float) -> None:
    problem = toy.problem("hinge", L2(l2))
    optimum = by_cvxpy(toy, "hinge", ElasticNet(l2=l2))
    for solver in (FrankWolfe(tol=1e-6), OneSlack(tol=1e-6)):
        result = solve(solver, problem)
        assert result.status is Status.CONVERGED, solver.name
        assert checked(problem, result) == pytest.approx(optimum, rel=2e-6, abs=1e-9), solver.name
        assert result.gap is not None
        assert result.gap <= 1e-4 * result.objective
        assert result.objective - result.gap <= optimum * (1 + 1e-9) + 1e-9
        assert result.support is not None
        assert result.support > 0


@every_toy
def test_every_weight_may_have_a_strength_of_its_own(toy: Toy) -> None:
    weight = np.random.default_rng(0).uniform(0.2, 3.0, toy.index.n_features)
    penalty = ElasticNet(l2=0.3, weight=weight)
    optimum = by_cvxpy(toy, "hinge", penalty)
    for solver in (FrankWolfe(tol=1e-6), OneSlack(tol=1e-6)):
        assert solve(solver, toy.problem("hinge", penalty)).objective == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["weighted"]], ids=["plain", "weighted"])
@pytest.mark.parametrize("penalty", [L2(0.3), L1(0.4)], ids=["l2", "l1"])
def test_mistakes_may_have_prices(toy: Toy, penalty: ElasticNet) -> None:
    problem = toy.problem(Hinge(cost=PRICES), penalty)
    optimum = by_cvxpy(toy, "hinge", penalty, PRICES)
    names = ("frank-wolfe", "one-slack") if penalty.l2 else ("cutting-plane",)
    for name in names:
        assert solve(choose_solver(name, problem, 1e-7), problem).objective == pytest.approx(
            optimum, rel=1e-5
        )


def steep_toy(gold: tuple[int, ...]) -> Toy:
    """Two sequences of five tokens with one feature of 1000 or −1000."""
    values = np.array([1000.0, -1000.0, 1000.0, 1000.0, -1000.0])
    node = Rows(np.arange(6, dtype=np.int64), np.zeros(5, np.int32), values)
    observations = Observations(node, Rows.identical(5, 1), np.array([3, 2], np.int32))
    return Toy(observations, np.array(gold, np.int32), 2, 1, 1)


@pytest.mark.parametrize(
    "gold", [(0, 1, 0, 0, 1), (0, 1, 0, 1, 0), (0, 1, 1, 0, 0)], ids=["same", "opposite", "noise"]
)
def test_features_with_large_values_keep_no_learner_from_the_optimum(gold: tuple[int, ...]) -> None:
    """All instances share the feature: what one step gains for one of them, the next takes back for another."""
    toy = steep_toy(gold)
    learners: list[tuple[Any, ElasticNet]] = [
        (FrankWolfe(tol=1e-4), L2(1.0)),
        (OneSlack(tol=1e-4), L2(1.0)),
        (Smoothing(tol=1e-3), L2(1.0)),
        (Adaptive(), L2(1.0)),
        (CuttingPlane(tol=1e-4), L1(1.0)),
        (Smoothing(tol=1e-3), L1(1.0)),
        (Adaptive(), L1(1.0)),
        (Adaptive(), ElasticNet(l1=0.5, l2=0.5)),
    ]
    for solver, penalty in learners:
        found = solve(solver, toy.problem("hinge", penalty), 500)
        optimum = by_cvxpy(toy, "hinge", penalty)
        assert found.objective == pytest.approx(optimum, rel=2e-3, abs=2e-3), (solver.name, penalty)
        assert found.status in (Status.CONVERGED, Status.STALLED), solver.name


@pytest.mark.parametrize("n_labels", [2, 3])
def test_labels_of_vectors_are_the_simplest_structure(n_labels: int) -> None:
    toy = flat_toy(3, n_labels=n_labels)
    wanted = toy.problem(L2(0.4), "hinge", bias=False)
    reference = solve(OneSlack(tol=1e-8), wanted)
    assert solve(FrankWolfe(tol=1e-6), wanted).objective == pytest.approx(reference.objective, rel=1e-5)
    sparse = toy.problem(L1(0.4), "hinge", bias=False)
    by_plane = solve(CuttingPlane(tol=1e-8), sparse)
    assert by_plane.status is Status.CONVERGED
    assert solve(Smoothing(tol=1e-4), sparse).objective == pytest.approx(by_plane.objective, rel=2e-4)


@every_toy
@pytest.mark.parametrize("l1", [0.1, 0.6])
def test_learners_and_cvxpy_agree_on_the_l1_m3n(toy: Toy, l1: float) -> None:
    """Zhu, Xing & Zhang 2009: cutting plane and EM; one objective, ρ‖w‖₁ + Σ ξ."""
    problem = toy.problem("hinge", L1(l1))
    optimum = by_cvxpy(toy, "hinge", ElasticNet(l1=l1))
    exact = solve(CuttingPlane(tol=1e-7), problem)
    assert exact.status is Status.CONVERGED
    assert checked(problem, exact) == pytest.approx(optimum, rel=1e-6)
    assert exact.gap is not None
    assert exact.objective - exact.gap <= optimum * (1 + 1e-7)
    by_em = solve(Adaptive(tol=1e-6), problem)
    assert checked(problem, by_em) == pytest.approx(optimum, rel=1e-3)


def test_where_the_penalty_is_strong_nothing_is_learnt() -> None:
    problem = TOYS["plain"].problem("hinge", L1(1e4))
    for solver in (CuttingPlane(), Adaptive(), ProjectedSubgradient()):
        result = solve(solver, problem, 500)
        assert result.weights.n_active == 0 or np.abs(result.weights.values).max() < 1e-6, solver.name
        assert result.objective == pytest.approx(9.0, rel=1e-6), solver.name


def test_every_weight_may_have_an_l1_strength_of_its_own() -> None:
    toy = TOYS["real values"]
    penalty = ElasticNet(l1=0.4, weight=np.random.default_rng(1).uniform(0.3, 2.0, toy.index.n_features))
    optimum = by_cvxpy(toy, "hinge", penalty)
    problem = toy.problem("hinge", penalty)
    assert solve(CuttingPlane(tol=1e-7), problem).objective == pytest.approx(optimum, rel=1e-6)
    assert solve(Adaptive(tol=1e-6), problem).objective == pytest.approx(optimum, rel=1e-3)


KINDS = {"frank-wolfe": L2(0.1), "one-slack": L2(0.1), "cutting-plane": L1(0.1), "em": L1(0.1)}


@pytest.mark.parametrize(("name", "penalty"), KINDS.items(), ids=KINDS)
def test_ctrl_c_returns_the_best_so_far(name: str, penalty: Any) -> None:
    problem = make_toy(21, lengths=(4, 5, 3, 4), n_node=8, real=True).problem("hinge", penalty)

    def interrupt(event: Event) -> None:
        if event.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)

    start = Weights.zeros(problem.n_features)
    result = drive(choose_solver(name, problem, 1e-12), problem, start, Monitor(callbacks=[interrupt]))
    assert result.status is Status.INTERRUPTED
    assert len(result.history) in (3, 4)
    assert problem.objective(result.weights.dense()) == pytest.approx(result.objective)


@pytest.mark.parametrize(("name", "penalty"), KINDS.items(), ids=KINDS)
def test_a_problem_without_features_has_only_costs(name: str, penalty: Any) -> None:
    problem = make_toy(0, lengths=(2,)).problem("hinge", penalty).restrict(np.zeros(0, np.int64))
    assert solve(choose_solver(name, problem), problem).objective == pytest.approx(2.0)


REFUSALS = [
    ("frank-wolfe", "hinge", L1(1.0), "an L2 penalty on all weights, biases included, and nothing else"),
    ("frank-wolfe", "log", L2(1.0), "the hinge loss, not the log loss"),
    ("frank-wolfe", "hinge", KLNorm(1.0), "an L2 penalty on all weights"),
    ("one-slack", "perceptron", L2(1.0), "a loss that asks for margins"),
    ("cutting-plane", "hinge", L2(1.0), "an L1 penalty on all weights, biases included, and nothing else"),
    (
        "cutting-plane",
        "hinge",
        ElasticNet(l1=1.0, l2=1.0),
        "an L1 penalty on all weights, biases included, and nothing else",
    ),
    ("cutting-plane", "hinge", ElasticNet(l1=1.0, weight=np.zeros(63)), "an L1 penalty on all weights"),
    ("em", "hinge", ElasticNet(l1=1.0, weight=np.zeros(63)), "a penalty on all weights, biases included"),
    ("em", "hinge", L1Ball(1.0), "a penalty that lies below parabolas"),
    ("projected-subgradient", "perceptron", L1Ball(1.0), "a loss that asks for margins"),
    ("working-set", "log", KLNorm(1.0), "an L1 or L2 penalty or both, or a penalty on groups"),
    ("bcd", "log", KLNorm(1.0), "an L1 or L2 penalty or both"),
]


@pytest.mark.parametrize(("solver", "loss", "penalty", "message"), REFUSALS)
def test_what_cannot_work_is_refused(solver: str, loss: str, penalty: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        choose_solver(solver, TOYS["plain"].problem(loss, penalty))
