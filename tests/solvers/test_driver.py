"""The loop around every solver: Ctrl-C, errors, early stopping and checkpoints."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.solvers import LBFGS, SGDL1, Iterate, Online, Result, Status, Validation, Weights
from parsimon.solvers.online import Decreasing
from parsimon.solvers.sgd_l1 import Exponential
from solver_toys import PENALTIES, TOYS, set_up, solve


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


@dataclass(frozen=True)
class Diverging:
    """A solver whose iterates are no numbers after a while."""

    objective: float = 1.0
    kkt: float | None = None
    error: Exception | None = None
    name: ClassVar[str] = "diverging"
    requires: ClassVar[tuple[Any, ...]] = ()

    def iterate(self, problem: Any, start: Weights) -> Iterator[Iterate]:
        yield Iterate(start, 1.0, 1)
        if self.error is not None:
            raise self.error
        yield Iterate(start, self.objective, 2, kkt=self.kkt, status=Status.CONVERGED)


@pytest.mark.parametrize(
    ("solver", "said"),
    [
        (Diverging(objective=np.nan), r"the objective is not finite any more \(nan\)"),
        (Diverging(objective=-np.inf), r"the objective is not finite any more \(-inf\)"),
        (Diverging(kkt=np.inf), r"the violation of optimality is not finite any more \(inf\)"),
        (Diverging(error=OverflowError("the weights have grown")), "the weights have grown"),
    ],
)
def test_what_is_no_number_is_no_optimum(solver: Diverging, said: str) -> None:
    with pytest.raises(ParsimonError, match=rf"^{said}; scale down the values of features"):
        solve(solver, set_up(TOYS["plain"], PENALTIES["l2"]))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("solver", [SGDL1(step=Exponential(1e200)), Online(5, step=Decreasing(1e200))])
def test_weights_of_online_learners_that_grow_beyond_all_bounds(solver: Any) -> None:
    with pytest.raises(
        ParsimonError,
        match=r"^the (weights have grown .*; use a smaller step|objective is not finite .*; scale down)",
    ):
        solve(solver, set_up(TOYS["plain"], PENALTIES["l1"]))
