"""A matrix of solvers and problems: all agree with one another, with CVXPY and with scipy."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    FISTA,
    LBFGS,
    OWLQN,
    SOLVERS,
    FrankWolfe,
    GaussSeidel,
    Grafting,
    Iterate,
    Monitor,
    ProximalQuasiNewton,
    Result,
    Smoothing,
    Status,
    Subgradient,
    Validation,
    Weights,
    WorkingSet,
    choose_solver,
    drive,
)
from parsimon.solvers.capabilities import first_missing
from parsimon.structures.base import Oracle
from toy_problems import Toy, by_cvxpy, make_toy

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


# ---- the matrix --------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["l1", "l2", "elastic net"])
@pytest.mark.parametrize("toy", [TOYS["plain"], TOYS["real values"]], ids=["plain", "real"])
def test_subgradient_comes_near_the_optimum_of_the_hinge_loss(toy: Toy, name: str) -> None:
    problem = set_up(toy, PENALTIES[name], "hinge")
    result = solve(Subgradient(tol=1e-6, window=500), problem, max_iter=5000)
    optimum = by_cvxpy(toy, "hinge", problem.penalty)
    assert optimum * (1 - 1e-6) <= result.objective <= 1.05 * optimum


def test_subgradient_also_serves_the_log_loss() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["elastic net"])
    result = solve(Subgradient(tol=1e-7, window=300), problem, max_iter=5000)
    assert result.objective == pytest.approx(solve(OWLQN(), problem).objective, rel=1e-2)


def test_subgradient_says_converged_only_at_an_optimum() -> None:
    """Where the loss has become flat, the penalty may still pull: that is not an optimum."""
    problem = set_up(TOYS["plain"], PENALTIES["l2"], "hinge")
    result = solve(Subgradient(), problem)
    if result.status is Status.CONVERGED:
        _, gradient = problem.loss_and_gradient(result.weights.dense())
        assert problem.penalty.violation(result.weights.dense(), gradient).max() < 1e-3
    assert result.objective < 1.5


# ---- certificates ------------------------------------------------------------------------------------------


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
    at_zero = problem.penalty.violation(np.zeros_like(w), problem.loss_and_gradient(np.zeros_like(w))[1])
    assert residual <= 1e-5 * float(at_zero.max()) * (1 + 1e-9)


@every_toy
@pytest.mark.parametrize("name", ["l1", "elastic net", "elastic net, weighted"])
def test_the_duality_gap_bounds_what_is_left(toy: Toy, name: str) -> None:
    problem = set_up(toy, PENALTIES[name])
    optimum = by_scipy(problem)
    result = solve(WorkingSet(tol=1e-7, sizes=(3, 5)), problem)
    gaps = [(event.objective, event.gap) for event in result.history if event.gap is not None]
    assert len(gaps) >= 2
    for objective, gap in gaps:
        assert objective - optimum <= gap + 1e-9 * abs(optimum)
    if name == "l1":  # tight without an L2 part
        assert result.gap is not None
        assert result.gap <= 1e-4 * optimum


def test_there_is_no_gap_where_the_bound_does_not_hold() -> None:
    """With missing labels the problem is not convex, and unpenalised weights have no such dual."""
    partial = make_toy(1, missing=0.5).problem("log", L1(0.3))
    assert all(event.gap is None for event in solve(WorkingSet(), partial).history)
    exempt = set_up(TOYS["plain"], lambda n: ElasticNet(l1=0.4, l2=0.3).exempt(np.arange(3), n))
    assert all(event.gap is None for event in solve(WorkingSet(), exempt).history)


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


def test_working_sets_stay_small() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l1"])
    result = solve(WorkingSet(sizes=(3, 5), tol=1e-7), problem)
    sizes = [int(event.phase.split()[0]) for event in result.history if event.phase[0].isdigit()]
    assert max(sizes) < problem.n_features
    assert sizes[0] == 3


# ---- starts, limits, interruptions -------------------------------------------------------------------------


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


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])

    def interrupt(event: Any) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        solve(LBFGS(), problem, callbacks=[interrupt])
    assert signal.getsignal(signal.SIGINT) is before


def test_solving_works_outside_the_main_thread() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    found: list[Result] = []
    thread = threading.Thread(target=lambda: found.append(solve(LBFGS(), problem)))
    thread.start()
    thread.join()
    assert found[0].objective == pytest.approx(solve(LBFGS(), problem).objective)


def test_an_error_in_a_callback_is_not_swallowed() -> None:
    def fail(event: Any) -> None:
        raise RuntimeError("the disk is full")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="disk is full"):
        solve(LBFGS(), set_up(TOYS["plain"], PENALTIES["l2"]), callbacks=[fail])
    assert signal.getsignal(signal.SIGINT) is before


@every_kind
def test_limits(kind: Any) -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    result = solve(kind(tol=1e-12), problem, max_iter=3)
    assert result.status is Status.ITERATIONS
    assert len(result.history) == 4  # the start, and three steps
    assert solve(kind(tol=1e-12), problem, time_limit=0.0).status is Status.TIME
    assert solve(kind(), problem, max_iter=0).weights.n_active == 0


@dataclass
class Scripted:
    """Scores that are known beforehand, whatever the weights are."""

    scores: list[float]
    seen: list[Weights]

    def __call__(self, weights: Weights) -> float:
        self.seen.append(weights)
        return self.scores[min(len(self.seen), len(self.scores)) - 1]


def test_early_stopping_keeps_the_best() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    script = Scripted([0.1, 0.5, 0.9, 0.8, 0.9, 0.7], [])
    result = solve(LBFGS(tol=1e-12), problem, validation=Validation(script, every=1, patience=3))
    assert result.status is Status.DEVELOPMENT
    assert [event.dev for event in result.history] == [0.1, 0.5, 0.9, 0.8, 0.9, 0.7]
    np.testing.assert_array_equal(result.weights.dense(), script.seen[2].dense())
    assert result.objective == result.history[2].objective


def test_the_development_set_is_scored_now_and_then_and_at_the_end() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    script = Scripted(list(np.linspace(0, 1, 1000)), [])
    result = solve(LBFGS(), problem, validation=Validation(script, every=3, patience=5))
    scored = [event.iteration for event in result.history if event.dev is not None]
    last = result.history[-1].iteration
    assert scored == sorted({*range(0, last + 1, 3), last})
    assert result.status is Status.CONVERGED
    np.testing.assert_array_equal(result.weights.dense(), script.seen[-1].dense())


def test_of_models_that_score_nearly_as_well_the_smallest_is_kept() -> None:
    """Scores go by, with so many features each; which iterate is kept, for two tolerances."""
    scores, sizes = [0.5, 0.9, 0.89, 0.8, 0.895], [9, 8, 3, 1, 5]

    def kept(tolerance: float) -> int:
        told = iter(scores)
        validation = Validation(lambda weights: next(told), tolerance=tolerance)
        for n in sizes:
            validation.see(Iterate(Weights(np.ones(n), np.arange(n), 10), 0.0, 0))
        assert validation.best == 0.9
        assert validation.best_iterate is not None
        return validation.best_iterate.weights.n_active

    assert [kept(0.0), kept(0.02), kept(0.2)] == [8, 3, 1]


def test_checkpoints_are_written_now_and_then_and_at_the_end() -> None:
    problem = set_up(TOYS["plain"], PENALTIES["l2"])
    kept: list[Weights] = []
    result = solve(LBFGS(), problem, checkpoint=lambda w, history, dev: kept.append(w), checkpoint_every=1e-9)
    assert len(kept) == len(result.history) + 1
    np.testing.assert_array_equal(kept[-1].dense(), result.weights.dense())
    kept.clear()
    solve(LBFGS(), problem, checkpoint=lambda w, history, dev: kept.append(w), checkpoint_every=1e9)
    assert len(kept) == 1


# ---- refusals ----------------------------------------------------------------------------------------------


NOT_SMOOTH = "needs a smooth loss, and hinge is not; use"
REFUSALS = [
    ("lbfgs", "log", L1(1.0), "an L1 part is not; use working-set or owlqn or"),
    ("lbfgs", "log", L1(1.0), "the solver lbfgs needs a smooth penalty, and"),
    ("lbfgs", "hinge", L2(1.0), f"the solver lbfgs {NOT_SMOOTH}"),
    ("owlqn", "hinge", L1(1.0), f"the solver owlqn {NOT_SMOOTH}"),
    (
        "working-set",
        "perceptron",
        L1(1.0),
        "a smooth loss, and perceptron is not; use subgradient or sgd or sgd-l1.",
    ),
    ("mira", "perceptron", L2(1.0), "the solver mira needs the hinge loss, not the perceptron loss"),
    ("newton", "log", L1(1.0), "no solver called 'newton'; choose from auto, lbfgs, proximal-newton"),
]


@pytest.mark.parametrize(("solver", "loss", "penalty", "message"), REFUSALS)
def test_what_cannot_work_is_refused(solver: str, loss: str, penalty: Any, message: str) -> None:
    with pytest.raises(ParsimonError) as error:
        choose_solver(solver, TOYS["plain"].problem(loss, penalty))
    assert message in str(error.value)


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
@pytest.mark.parametrize("solver", ["auto", "subgradient", Subgradient()])
def test_only_the_log_loss_takes_missing_labels(solver: Any, loss: str) -> None:
    with pytest.raises(ParsimonError, match="needs every label, but some are missing; use the log loss"):
        choose_solver(solver, make_toy(1, missing=0.5).problem(loss, L2(1.0)))


def test_a_structure_without_the_oracle_is_refused() -> None:
    class Mute:
        oracles: ClassVar[frozenset[Oracle]] = frozenset({Oracle.ARGMAX})

    problem = TOYS["plain"].problem("log", L2(1.0))
    mute = replace(problem, batches=tuple(replace(b, structure=Mute()) for b in problem.batches))
    with pytest.raises(
        ParsimonError, match="the log loss needs marginals, which this structure does not have"
    ):
        choose_solver("auto", mute)


def test_auto_takes_what_fits() -> None:
    toy = TOYS["plain"]
    assert isinstance(choose_solver("auto", toy.problem("log", L2(1.0))), LBFGS)
    assert isinstance(choose_solver("auto", toy.problem("log", L1(1.0))), WorkingSet)
    assert isinstance(choose_solver("auto", toy.problem("hinge", L1(1.0))), Smoothing)
    assert isinstance(choose_solver("auto", toy.problem("hinge", L2(1.0))), FrankWolfe)
    assert isinstance(choose_solver("auto", toy.problem("perceptron", L2(1.0))), Subgradient)
    named = choose_solver("owlqn", toy.problem("log", L1(1.0)), 1e-3)
    assert isinstance(named, WorkingSet)
    assert isinstance(named.inner, OWLQN)
    assert named.tol == 1e-3
    mine = OWLQN(memory=3)
    assert choose_solver(mine, toy.problem("log", L1(1.0))) is mine


# ---- weights -----------------------------------------------------------------------------------------------


def test_weights_dense_and_sparse_are_one() -> None:
    sparse = Weights(np.array([1.0, 0.0, -2.0]), np.array([1, 3, 6]), 8)
    dense = Weights(sparse.dense(), None, 8)
    assert sparse.n_active == dense.n_active == 2
    for weights in (sparse, dense):
        kept = weights.nonzero()
        assert kept.features is not None
        assert kept.features.tolist() == [1, 6]
        assert kept.values.tolist() == [1.0, -2.0]
        asked = np.array([0, 1, 2, 6, 7])
        assert weights.at(asked).tolist() == [0.0, 1.0, 0.0, -2.0, 0.0]
    assert Weights.zeros(4).dense().tolist() == [0.0] * 4
    assert Weights.zeros(4).at(np.array([2])).tolist() == [0.0]


@every_kind
def test_a_problem_without_features(kind: Any) -> None:
    toy = make_toy(0, lengths=(2,))
    problem = toy.problem("log", L2(1.0)).restrict(np.zeros(0, np.int64))
    result = solve(kind(), problem)
    assert result.objective == pytest.approx(2 * np.log(3))
