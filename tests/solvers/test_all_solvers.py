"""A matrix of solvers and problems: all agree with one another, with CVXPY and with scipy."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L1, L2
from parsimon.solvers import (
    LBFGS,
    OWLQN,
    SOLVERS,
    ProximalQuasiNewton,
    Status,
    Subgradient,
    Weights,
    WorkingSet,
    choose_solver,
)
from parsimon.solvers.capabilities import first_missing
from parsimon.solvers.convergence import scale_at_zero
from solver_toys import (
    PENALTIES,
    SMOOTH_LOSS_SOLVERS,
    TOYS,
    by_scipy,
    every_penalty,
    every_solver,
    every_toy,
    set_up,
    solve,
)
from toy_problems import Toy, by_cvxpy, make_toy


@every_toy
@every_penalty
def test_all_solvers_find_the_optimum(toy: Toy, make_penalty: Any) -> None:
    problem = set_up(toy, make_penalty)
    wanted = by_scipy(problem)
    for name, solver in SMOOTH_LOSS_SOLVERS.items():
        if first_missing(solver.requires, problem) is None:
            result = solve(solver, problem)
            assert result.status in (Status.CONVERGED, Status.STALLED), name
            assert result.objective == pytest.approx(wanted, rel=1e-8), name
            assert problem.objective(result.weights.dense()) == pytest.approx(result.objective, rel=1e-12), (
                name
            )


@pytest.mark.parametrize("name", ["l1", "elastic net", "elastic net, weighted", "l2"])
@pytest.mark.parametrize(
    "toy", [TOYS["plain"], TOYS["real values"], TOYS["weighted"]], ids=["plain", "real", "weighted"]
)
def test_against_cvxpy(toy: Toy, name: str) -> None:
    problem = set_up(toy, PENALTIES[name])
    result = solve(choose_solver("auto", problem, 1e-8), problem)
    assert result.objective == pytest.approx(by_cvxpy(toy, "log", problem.penalty), rel=1e-6)


@every_toy
@every_penalty
@every_solver
def test_the_certificate_is_what_it_says(toy: Toy, make_penalty: Any, solver: Any) -> None:
    problem = set_up(toy, make_penalty)
    if first_missing(solver.requires, problem) is not None:
        pytest.skip("this solver does not take this penalty")
    result = solve(replace(solver, tol=1e-5), problem)
    w = result.weights.dense()
    _, gradient = problem.loss_and_gradient(w)
    residual = float(problem.penalty.violation(w, gradient).max(initial=0.0))
    assert result.status is Status.CONVERGED
    assert result.kkt == pytest.approx(residual, rel=1e-6, abs=1e-12)
    strength = problem.penalty.threshold or 1e-3 * scale_at_zero(problem)
    assert residual <= 1e-3 * strength * (1 + 1e-9)


@every_solver
def test_the_objective_never_rises(solver: Any) -> None:
    penalty = PENALTIES["l2" if isinstance(solver, LBFGS) else "l1"]
    result = solve(solver, set_up(TOYS["plain"], penalty))
    objectives = np.array([event.objective for event in result.history])
    assert (np.diff(objectives) <= 1e-12 * objectives[:-1]).all()
    assert result.objective == objectives[-1]


@every_solver
def test_events_tell_the_story(solver: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2" if isinstance(solver, LBFGS) else "l1"])
    seen: list[Any] = []
    result = solve(solver, problem, callbacks=[seen.append])
    assert seen == result.history
    assert [event.iteration for event in seen] == list(range(len(seen)))
    assert all(a.evaluations <= b.evaluations for a, b in pairwise(seen))
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
    assert seen[-1].active == result.weights.n_active == np.count_nonzero(result.weights.dense())


@pytest.mark.parametrize("tol", [1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("kind", [OWLQN, WorkingSet, ProximalQuasiNewton, LBFGS])
def test_a_tolerance_beyond_the_precision_still_ends(kind: Any, tol: float) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2" if kind is LBFGS else "l1"])
    result = solve(kind(tol=tol), problem, max_iter=600)
    assert result.status in (Status.CONVERGED, Status.STALLED)
    assert result.objective == pytest.approx(by_scipy(problem), rel=1e-9)


@pytest.mark.parametrize("solver", [OWLQN(tol=1e-9), WorkingSet(tol=1e-9, sizes=(2, 4))])
def test_l1_gives_exact_zeros(solver: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l1"])
    result = solve(solver, problem)
    _, gradient = problem.loss_and_gradient(result.weights.dense())
    inside = np.abs(gradient) < 0.4 * (1 - 1e-6)
    assert inside.any()
    assert not result.weights.dense()[inside].any()


@pytest.mark.parametrize("solver", [OWLQN(), WorkingSet()])
def test_everything_is_zero_from_the_dual_norm_on(solver: Any) -> None:
    toy = TOYS["plain"]
    _, gradient = toy.problem().loss_and_gradient(np.zeros(toy.index.n_features))
    threshold = L1(1.0).dual_norm(gradient)
    assert solve(solver, toy.problem("log", L1(threshold * (1 + 1e-9)))).weights.n_active == 0
    assert solve(solver, toy.problem("log", L1(threshold * 0.99))).weights.n_active > 0


@every_solver
def test_a_warm_start_at_the_solution_has_nothing_to_do(solver: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2" if isinstance(solver, LBFGS) else "l1"])
    first = solve(solver, problem)
    again = solve(replace(solver, tol=1e-5), problem, first.weights)
    assert again.objective <= first.objective * (1 + 1e-12)
    assert again.history[-1].evaluations < first.history[-1].evaluations / 2


def test_any_start_leads_to_the_same_optimum() -> None:
    problem = set_up(TOYS["real values"], PENALTIES["elastic net"])
    start = Weights(3 * np.random.default_rng(0).normal(size=problem.n_features), None, problem.n_features)
    for solver in (OWLQN(tol=1e-8), WorkingSet(tol=1e-8), ProximalQuasiNewton(tol=1e-8)):
        assert solve(solver, problem, start).objective == pytest.approx(
            solve(solver, problem).objective, rel=1e-8
        )


def test_the_start_is_left_alone() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    values = np.ones(problem.n_features)
    for solver in (LBFGS(), OWLQN(), WorkingSet(), ProximalQuasiNewton(), Subgradient()):
        solve(solver, problem, Weights(values, None, problem.n_features), max_iter=5)
        np.testing.assert_array_equal(values, 1.0)


# Those that see all instances at every step and go on until a tolerance is met.
ONLINE = ("mira", "sgd", "sgd-l1")
MARGINS = ("smoothing", "frank-wolfe", "cutting-plane", "em")
ELSEWHERE = (*ONLINE, *MARGINS, "proximal-newton", "admm")  # tested in files of their own
BATCH = {name: kind for name, kind in SOLVERS.items() if name not in ELSEWHERE}
every_kind = pytest.mark.parametrize("kind", BATCH.values(), ids=BATCH)


@every_kind
def test_ctrl_c_returns_the_best_so_far(kind: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])

    def interrupt(event: Any) -> None:
        if event.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    result = solve(kind(tol=1e-12), problem, callbacks=[interrupt])
    assert signal.getsignal(signal.SIGINT) is before
    assert result.status is Status.INTERRUPTED
    assert len(result.history) in (4, 5)
    assert result.objective == min(event.objective for event in result.history)
    assert problem.objective(result.weights.dense()) == pytest.approx(result.objective)


@every_kind
def test_limits(kind: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    result = solve(kind(tol=1e-12), problem, max_iter=3)
    assert result.status is Status.ITERATIONS
    assert len(result.history) == 4  # the start, and three steps
    assert solve(kind(tol=1e-12), problem, time_limit=0.0).status is Status.TIME
    assert solve(kind(), problem, max_iter=0).weights.n_active == 0


@every_kind
def test_a_problem_without_features(kind: Any) -> None:
    toy = make_toy(0, lengths=(2,))
    problem = toy.problem("log", L2(1.0)).restrict(np.zeros(0, np.int64))
    result = solve(kind(), problem)
    assert result.objective == pytest.approx(2 * np.log(3))
