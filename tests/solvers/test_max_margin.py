"""Max-margin Markov networks: every learner finds what CVXPY finds when all outputs are written out."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from flat_problems import flat_toy
from parsimon.errors import ParsimonError
from parsimon.losses import Hinge
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, KLNorm, L1Ball, SquaredL1
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    Adaptive,
    CuttingPlane,
    Event,
    FrankWolfe,
    Monitor,
    OneSlack,
    ProjectedSubgradient,
    Result,
    Smoothing,
    Status,
    Subgradient,
    Weights,
    choose_solver,
    drive,
)
from parsimon.solvers.simplex_qp import minimize_on_simplex
from toy_problems import Toy, by_cvxpy, dense_map, make_toy

TOYS = {
    "plain": make_toy(11, lengths=(3, 1, 0, 3, 2)),
    "real values": make_toy(12, lengths=(3, 2, 2, 4), real=True),
    "seen pairs": make_toy(13, lengths=(3, 3, 1), candidates="seen"),
    "weighted": make_toy(14, lengths=(2, 3, 2), weighted=True),
    "no transitions": make_toy(15, lengths=(3, 2), n_pair=0),
    "trees": make_toy(16, lengths=(4, 1, 0, 3, 3), trees=True),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
PRICES = np.array([[0.0, 0.5, 2.0], [1.0, 0.0, 0.1], [3.0, 1.5, 0.0]])


def solve(solver: Any, problem: InMemoryProblem, iterations: int = 20_000) -> Result:
    start = Weights.zeros(problem.n_features)
    return drive(solver, problem, start, Monitor(max_iter=iterations))


def checked(problem: InMemoryProblem, result: Result) -> float:
    """The objective, which must be what its weights have."""
    assert problem.objective(result.weights.dense()) == pytest.approx(result.objective, rel=1e-9, abs=1e-12)
    return result.objective


# ---- M3N: ½ ‖w‖² --------------------------------------------------------------------------------------------


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


def test_frank_wolfe_gives_the_same_bits_for_any_number_of_threads() -> None:
    toy = make_toy(16, lengths=(4, 3, 5, 2, 6, 3), real=True)
    found = [
        solve(FrankWolfe(tol=1e-4, chunk=4), toy.problem("hinge", L2(0.1), threads=threads))
        for threads in (1, 3)
    ]
    assert np.array_equal(found[0].weights.dense(), found[1].weights.dense())
    other = solve(FrankWolfe(tol=1e-4, seed=1), toy.problem("hinge", L2(0.1)))
    assert not np.array_equal(found[0].weights.dense(), other.weights.dense())


@pytest.mark.parametrize("chunk", [1, 2, 100])
@pytest.mark.parametrize("cached", [0, 5])
def test_how_frank_wolfe_goes_through_the_data_does_not_change_where_it_ends(chunk: int, cached: int) -> None:
    toy = TOYS["plain"]
    result = solve(
        FrankWolfe(tol=1e-5, chunk=chunk, cached=cached, idle=2, steps=3), toy.problem("hinge", L2(0.1))
    )
    assert result.objective == pytest.approx(by_cvxpy(toy, "hinge", L2(0.1)), rel=2e-5)


def test_instances_without_weight_or_tokens_change_nothing() -> None:
    toy = replace(make_toy(17, lengths=(3, 2, 3)), weights=np.array([1.0, 0.0, 1.0]))
    problem = toy.problem("hinge", L2(0.3))
    assert solve(FrankWolfe(tol=1e-6), problem).objective == pytest.approx(
        by_cvxpy(toy, "hinge", L2(0.3)), rel=1e-5
    )


def test_one_slack_also_serves_the_log_loss() -> None:
    toy = TOYS["plain"]
    result = solve(OneSlack(tol=1e-6), toy.problem("log", L2(0.5)))
    assert result.objective == pytest.approx(by_cvxpy(toy, "log", L2(0.5)), rel=2e-6)


# ---- L1-M3N -------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["plain", "real values", "weighted"])
def test_projected_subgradient_agrees_too(name: str) -> None:
    """It has no certificate worth the name, and where features are of different sizes it takes its time."""
    toy = TOYS[name]
    problem = toy.problem("hinge", L1(0.6))
    learner = ProjectedSubgradient(tol=1e-4, patience=2000 if name == "real values" else 200)
    found = solve(learner, problem, 60_000)
    assert checked(problem, found) == pytest.approx(by_cvxpy(toy, "hinge", ElasticNet(l1=0.6)), rel=1e-3)


@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
@pytest.mark.parametrize("chunk", [None, 1])
def test_the_ball_whose_radius_is_the_norm_of_the_solution_has_the_same_solution(
    toy: Toy, chunk: int | None
) -> None:
    exact = solve(CuttingPlane(tol=1e-8), toy.problem("hinge", L1(0.3)))
    radius = float(np.abs(exact.weights.values).sum())
    ball = toy.problem("hinge", L1Ball(radius))
    learner = ProjectedSubgradient(tol=1e-4, patience=100, window=300, chunk=chunk)
    found = solve(learner, ball, 20_000 if chunk is None else 500)
    assert np.abs(found.weights.values).sum() <= radius * (1 + 1e-6)
    assert found.objective + 0.3 * radius == pytest.approx(
        exact.objective, rel=3e-3 if chunk is None else 5e-2
    )


def test_the_last_point_of_projected_subgradient_has_exact_zeros() -> None:
    problem = make_toy(18, lengths=(4, 4, 4, 4), n_node=20).problem("hinge", L1Ball(2.0))
    averaged = solve(ProjectedSubgradient(chunk=1), problem, 300)
    last = solve(ProjectedSubgradient(chunk=1, average=False), problem, 300)
    assert last.weights.n_active < averaged.weights.n_active


def test_cutting_plane_and_em_find_the_same_features() -> None:
    problem = make_toy(19, lengths=(4, 5, 3, 4, 5), n_node=30, real=True).problem("hinge", L1(0.5))
    exact = solve(CuttingPlane(tol=1e-9), problem)
    by_em = solve(Adaptive(tol=1e-8, drop=1e-3), problem)
    assert 0 < exact.weights.n_active < 0.3 * problem.n_features
    assert set(exact.weights.nonzero().features) <= set(by_em.weights.nonzero().features)  # type: ignore[arg-type]
    assert by_em.weights.n_active <= 2 * exact.weights.n_active
    assert exact.support is not None
    assert exact.support <= exact.weights.n_active + len(problem.batches) * 5  # a vertex of the program


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


def test_any_m3n_solver_may_be_inside_the_em_learner() -> None:
    problem = TOYS["plain"].problem("hinge", L1(0.3))
    exact = solve(CuttingPlane(tol=1e-7), problem).objective
    for inner, near in ((FrankWolfe(), 1e-2), (OneSlack(), 1e-2), (Subgradient(window=200), 0.1)):
        found = solve(Adaptive(tol=1e-4, inner=inner), problem, 60)
        assert found.objective == pytest.approx(exact, rel=near), inner.name


def test_the_objective_of_the_em_learner_never_rises() -> None:
    problem = TOYS["real values"].problem("hinge", L1(0.3))
    heights = [event.objective for event in solve(Adaptive(tol=1e-6), problem).history]
    assert len(heights) > 5
    # M3Ns are learnt to a tolerance, which shows in the first rounds.
    assert all(after <= before * (1 + 1e-3) for before, after in pairwise(heights[3:]))


# ---- other penalties that lie below parabolas ---------------------------------------------------------------


def test_the_papers_constraint_on_variances_is_a_squared_norm() -> None:
    """Σ_k τ_k = K is ‖w‖₁²/(2K); at its optimum that is an L1-M3N with ρ = ‖w‖₁/K."""
    toy = TOYS["plain"]
    squared = solve(Adaptive(tol=1e-7), toy.problem("hinge", SquaredL1(0.2)))
    norm = float(np.abs(squared.weights.values).sum())
    same = toy.problem("hinge", L1(0.2 * norm))
    assert same.objective(squared.weights.dense()) == pytest.approx(
        solve(CuttingPlane(tol=1e-7), same).objective, rel=1e-3
    )


@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
@pytest.mark.parametrize("sharpness", [0.1, 10.0])
def test_the_laplace_m3n_by_em_and_by_smoothing(toy: Toy, sharpness: float) -> None:
    problem = toy.problem("hinge", KLNorm(sharpness, 0.5))
    by_em = solve(Adaptive(tol=1e-6), problem)
    smoothed = solve(Smoothing(tol=1e-4), problem)
    assert smoothed.status is Status.CONVERGED
    assert checked(problem, by_em) == pytest.approx(smoothed.objective, rel=2e-3)


def test_whole_groups_of_features_by_em() -> None:
    """A group lasso lies below parabolas as well: one variance a group."""
    toy = make_toy(20, lengths=(4, 5, 3, 4), n_node=8, real=True)
    n = toy.index.n_features
    groups = Groups(np.arange(0, n + 1, 3), np.arange(n), np.ones(n // 3), n)
    problem = toy.problem("hinge", GroupLasso(0.6, groups=groups))
    smoothed = solve(Smoothing(tol=1e-4), problem)
    assert smoothed.status is Status.CONVERGED
    by_em = solve(Adaptive(tol=1e-6), problem)
    assert by_em.objective == pytest.approx(smoothed.objective, rel=2e-3)
    assert by_em.weights.n_active < n


def test_a_sharp_laplace_m3n_is_an_l1_m3n() -> None:
    """Ω/√λ tends to the L1 norm as λ grows."""
    toy = TOYS["plain"]
    exact = solve(CuttingPlane(tol=1e-7), toy.problem("hinge", L1(0.4))).objective
    apart = []
    for sharpness in (1e0, 1e3, 1e6):
        penalty = KLNorm(sharpness, 0.4 / np.sqrt(sharpness))
        apart.append(abs(solve(Smoothing(tol=1e-4), toy.problem("hinge", penalty)).objective / exact - 1))
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 0.01


# ---- limits -------------------------------------------------------------------------------------------------

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


# ---- what they are made of ----------------------------------------------------------------------------------


@every_toy
def test_differences_of_features(toy: Toy) -> None:
    node_map, pair_map = dense_map(toy.index, toy.observations)
    problem = toy.problem("hinge", L2(1.0))
    random = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(toy.observations.lengths)])
    first = 0
    for batch in problem.batches:
        output = random.integers(toy.n_labels, size=len(batch.gold)).astype(np.int32)
        found = np.zeros((batch.structure.n_instances, problem.n_features))
        for start_feature, start, index, value in batch.design.differences(
            batch.structure, batch.gold, output
        ):
            for i in range(len(found)):
                found[i, start_feature + index[start[i] : start[i + 1]]] += value[start[i] : start[i + 1]]
        at = 0
        for i in range(len(found)):
            tokens = np.arange(offsets[first + i], offsets[first + i + 1])
            wanted = np.zeros(problem.n_features)
            for labels, sign in ((toy.gold[tokens], 1.0), (output[at : at + len(tokens)], -1.0)):
                if len(tokens):
                    wanted += sign * node_map[tokens, labels].sum(axis=0)
                    before = toy.observations.before[tokens] - offsets[first + i]
                    steps = np.flatnonzero(before >= 0)
                    wanted += sign * pair_map[tokens[steps], labels[before[steps]], labels[steps]].sum(axis=0)
            assert found[i] == pytest.approx(wanted)
            at += len(tokens)
        first += len(found)


@every_toy
@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_chunks_are_the_same_instances(toy: Toy, most: int, loss: str) -> None:
    problem = toy.problem(loss, L2(1.0))
    w = np.random.default_rng(3).normal(size=problem.n_features)
    chunks = problem.chunks(most)
    assert max(chunk.n_instances for chunk in chunks) <= most
    parts = replace(problem, batches=tuple(batch for chunk in chunks for batch in chunk.batches))
    for whole, cut in zip(problem.loss_and_gradient(w), parts.loss_and_gradient(w), strict=True):
        assert cut == pytest.approx(whole)


@pytest.mark.parametrize("seed", range(8))
def test_the_quadratic_program_on_a_simplex(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, rank = random.integers(1, 12), random.integers(1, 6)
    rows = random.normal(size=(n, rank))
    gram, offset = rows @ rows.T, random.normal(size=n)
    alpha = minimize_on_simplex(gram, offset, np.full(n, 1 / n))
    slope = gram @ alpha - offset
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1)
    assert slope.min() >= slope @ alpha - 1e-7  # no vertex lies lower


# ---- refusals -----------------------------------------------------------------------------------------------

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
