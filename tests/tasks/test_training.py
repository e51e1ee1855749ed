"""The frame around every training, on the smallest training there is: named fits, limits, checkpoints, progress."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_in_use import memory_in_use
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import L2, ElasticNet
from parsimon.problem import InMemoryProblem
from parsimon.solvers import (
    ADMM,
    LBFGS,
    OWLQN,
    BlockCoordinateDescent,
    Online,
    Result,
    Status,
    Weights,
    drive,
)
from parsimon.solvers.settings import (
    counts_epochs,
    epochs_of,
    is_resumable,
    tolerance_of,
    validation_interval,
)
from parsimon.tasks.checkpoint import Checkpoint, Running
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.training import (
    NobodyWatches,
    Run,
    Trained,
    Training,
    along_path,
    debiased,
    largest_strength,
    named_loss,
)
from solver_toys import set_up
from tiny_training import Examples, TinyModel, TinyTask, TinyTraining, examples
from toy_problems import make_toy

DATA = examples()


class Killed(Exception):
    pass


class Watcher(NobodyWatches):
    """Notes what is announced."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def phase(self, text: str, done: float | None = None) -> None:
        self.heard.append(text if done is None else (text, done))

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        self.heard.append((max_iter, None if end is None else end(40.0)))


def problem(l1: float = 0.5, data: Examples = DATA) -> InMemoryProblem:
    return flat_problem(data.X, data.y, 2, ElasticNet(l1, 0.1))


ZERO = Weights.zeros(problem().n_features)


def kill_at(iteration: int) -> Callable[[Any], None]:
    def kill(event: Any) -> None:
        if event.iteration == iteration:
            raise Killed

    return kill


def press(*_: Any) -> None:
    signal.raise_signal(signal.SIGINT)


def press_at(iteration: int) -> Callable[[Any], None]:
    return lambda event: press() if event.iteration == iteration else None


def started(path: Path, *, resume: bool = False, mark: str = "mark", every: float = 1e-9, **more: Any) -> Run:
    run = Run(**more)
    run.keep_in(path, every, mark, resume=resume)
    return run


def kept(path: Path) -> Checkpoint:
    return Checkpoint.load(path, "mark")


# ---- a training --------------------------------------------------------------------------------------------


def test_a_training_comes_to_a_model() -> None:
    trained = TinyTraining(l2=0.1).run(DATA)
    assert trained.result.status is Status.CONVERGED
    assert trained.model.weights.tobytes() == trained.result.weights.dense().tobytes()
    info = trained.model.info
    assert (info["loss"], info["l1"], info["l2"], info["random_state"], info["prune"]) == (
        "log",
        0.5,
        0.1,
        0,
        0.0,
    )
    assert (info["examples"], info["solver"]) == (60, "auto")
    assert info["objective"] == trained.result.objective
    assert info["iterations"] == len(trained.result.history)
    assert "seconds" not in str(info)
    assert TinyTraining(l2=0.1).run(DATA).model.info == info


def test_what_a_model_says_of_a_penalty_that_is_no_elastic_net() -> None:
    @dataclass(kw_only=True)
    class Other(TinyTraining):
        def task(self, data: Examples) -> TinyTask:
            from parsimon.penalties import L1Ball

            return TinyTask(flat_problem(data.X, data.y, 2, L1Ball(1.0), bias=False))

    info = Other(solver="fista").run(DATA).model.info
    assert (info["l1"], info["l2"], info["penalty"]) == (None, None, "L1Ball(radius=1.0)")


def test_options_are_checked_before_anything_is_done() -> None:
    with pytest.raises(ParsimonError, match="tol must be a number above zero, not -1"):
        TinyTraining(tol=-1).run(Examples(None, None))  # type: ignore[arg-type]


def test_a_random_state_gives_one_seed_to_all_of_a_training() -> None:
    training = TinyTraining(random_state=np.random.RandomState(5))
    drawn = np.random.RandomState(5).randint(2**31 - 1)
    assert training.seed == training.seed == drawn
    assert replace(training, tol=1e-3).seed == drawn
    assert training.run(DATA).model.info["random_state"] == drawn
    assert TinyTraining(random_state=None).seed == 0


def test_watch_hears_phases_and_fits() -> None:
    watcher = Watcher()
    TinyTraining(max_iter=7, tol=1e-3, solver="owlqn").run(DATA, watch=watcher)
    assert watcher.heard == ["training", (7, pytest.approx(100 * 1e-3 * 0.5))]
    watcher = Watcher()
    TinyTraining(l1=0.0, l2=1.0).run(DATA, start=Weights(np.ones(7), None, 7), watch=watcher)
    assert watcher.heard == [
        "training",
        (None, None),
    ]  # without a strength, the measure is the violation at zero


def test_callbacks_hear_every_event() -> None:
    one: list[Any] = []
    other: list[Any] = []
    result = TinyTraining(callback=[one.append, other.append]).run(DATA).result
    assert one == other == result.history


def test_pruning_drops_small_weights() -> None:
    whole = TinyTraining(l1=0.0, l2=0.1).run(DATA).model.weights
    pruned = TinyTraining(l1=0.0, l2=0.1, prune=1.0).run(DATA).model.weights
    assert 0 < np.count_nonzero(pruned) < np.count_nonzero(whole)
    assert set(pruned[pruned != 0]) <= set(whole)


def test_development_data_keep_the_best_iterate() -> None:
    dev = examples(40, seed=1)
    result = TinyTraining(l1=0.01, patience=2, solver="owlqn").run(DATA, dev=dev).result
    scores = [event.dev for event in result.history if event.dev is not None]
    assert TinyTask(problem()).development_score(dev)(result.weights) == max(scores)


def test_development_scores_are_as_frequent_as_the_solver_says() -> None:
    task = TinyTask(problem())
    training = TinyTraining(patience=3, dev_tolerance=0.25)
    for solver, every in ((LBFGS(), 5), (Online(3), 1), (BlockCoordinateDescent(), 1)):
        validation = training.validation(task, DATA, solver)
        assert (validation.every, validation.patience, validation.tolerance) == (every, 3, 0.25)


def test_what_solvers_say_of_themselves() -> None:
    assert (epochs_of(Online(3)), epochs_of(LBFGS()), epochs_of(BlockCoordinateDescent())) == (3, None, None)
    assert (counts_epochs(Online(3)), counts_epochs(BlockCoordinateDescent()), counts_epochs(LBFGS())) == (
        1,
        1,
        0,
    )
    assert (tolerance_of(LBFGS(tol=1e-3)), tolerance_of(Online(3))) == (1e-3, None)
    assert (is_resumable(ADMM()), is_resumable(ADMM(stopping="paper")), is_resumable(LBFGS())) == (
        True,
        False,
        True,
    )
    assert (validation_interval(Online(3)), validation_interval(LBFGS())) == (1, 5)


# ---- limits ------------------------------------------------------------------------------------------------


def test_the_clock_may_have_started_before() -> None:
    result = TinyTraining(time_limit=1000.0).run(DATA, began=time.perf_counter() - 2000.0).result
    assert result.status is Status.TIME
    assert len(result.history) == 1
    assert result.history[0].seconds > 2000.0


def test_a_limit_of_iterations() -> None:
    assert TinyTraining(max_iter=2, tol=1e-12).run(DATA).result.status is Status.ITERATIONS


def test_a_limit_of_memory_and_its_end() -> None:
    def fill(event: Any) -> None:
        np.ones(1 << 28)

    with pytest.raises(ParsimonError, match=r"training needs more than .* of memory"):
        TinyTraining(memory=memory_in_use() + (256 << 20), callback=fill).run(DATA)
    np.ones(1 << 26)
    with pytest.raises(ParsimonError, match="'much' is not a size"):
        TinyTraining(memory="much").run(DATA)


@pytest.mark.parametrize("from_thread", [False, True])
def test_the_first_ctrl_c_leaves_the_best_model_so_far(from_thread: bool) -> None:
    def interrupt(event: Any) -> None:
        if event.iteration == 2 and from_thread:
            thread = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
            thread.start()
            thread.join()
        elif event.iteration == 2:
            press()

    result = TinyTraining(tol=1e-12, callback=interrupt).run(DATA).result
    assert result.status is Status.INTERRUPTED
    assert len(result.history) in (3, 4)


def test_the_second_ctrl_c_ends_everything_at_once() -> None:
    def twice(event: Any) -> None:
        press()
        press()

    with pytest.raises(KeyboardInterrupt):
        TinyTraining(callback=twice).run(DATA)


# ---- runs --------------------------------------------------------------------------------------------------


def test_a_run_without_a_checkpoint_does_every_fit_once() -> None:
    events: list[Any] = []
    run = Run(callbacks=[events.append])
    first = run.fit("first", LBFGS(), problem(0.0), ZERO)
    n = len(events)
    assert run.fit("first", LBFGS(), problem(0.0), ZERO) is first
    assert len(events) == n
    assert run.fit("second", LBFGS(), problem(0.0), ZERO) is not first
    assert run.done("first") is first
    assert run.done("third") is None


def test_callbacks_can_be_left_out_of_a_fit() -> None:
    events: list[Any] = []
    run = Run(callbacks=[events.append])
    run.fit("quiet", LBFGS(), problem(0.0), ZERO, callbacks=())
    assert events == []


def test_a_run_says_how_long_it_has_taken(tmp_path: Path) -> None:
    run = Run(time_limit=5.0, began=time.perf_counter() - 3.0)
    assert 3.0 <= run.seconds < 5.0
    assert run.stopped is None
    run.began -= 2.0
    assert run.stopped is Status.TIME
    assert run.monitor().time_limit == 5.0
    assert run.monitor().started == run.began
    Checkpoint("mark", seconds=100.0).save(tmp_path / "run")
    assert 100.0 <= started(tmp_path / "run", resume=True).seconds < 200.0
    assert started(tmp_path / "run", resume=True, time_limit=99.0).stopped
    assert started(tmp_path / "run").seconds < 50.0


def test_finished_fits_are_kept_and_not_done_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    one = started(path).fit("fit", LBFGS(), problem(0.0), ZERO)
    run = started(path, resume=True, callbacks=[kill_at(0)])
    again = run.fit("fit", LBFGS(), problem(0.0), ZERO)
    assert again.weights.dense().tobytes() == one.weights.dense().tobytes()
    assert (again.status, again.objective, again.history) == (one.status, one.objective, one.history)


def test_a_fit_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    whole = Run().fit("fit", OWLQN(tol=1e-8), problem(), ZERO)
    with pytest.raises(Killed):
        started(path, callbacks=[kill_at(4)]).fit("fit", OWLQN(tol=1e-8), problem(), ZERO)
    assert [len(each.history) for each in kept(path).running.values()] == [4]
    events: list[Any] = []
    run = started(path, resume=True, callbacks=[events.append])
    resumed = run.fit("fit", OWLQN(tol=1e-8), problem(), ZERO)
    assert events[0].iteration == 4
    assert [event.iteration for event in resumed.history] == list(range(len(resumed.history)))
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-8)
    assert not kept(path).running


def test_a_whole_fit_begins_again_and_comes_to_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "run"
    whole = started(tmp_path / "other").fit("fit", OWLQN(tol=1e-8), problem(), ZERO, whole=True)
    with pytest.raises(Killed):
        started(path, callbacks=[kill_at(4)]).fit("fit", OWLQN(tol=1e-8), problem(), ZERO, whole=True)
    assert not kept(path).running
    events: list[Any] = []
    run = started(path, resume=True, callbacks=[events.append])
    resumed = run.fit("fit", OWLQN(tol=1e-8), problem(), ZERO, whole=True)
    assert events[0].iteration == 0
    assert resumed.weights.dense().tobytes() == whole.weights.dense().tobytes()


def test_a_solver_that_cannot_go_on_begins_again(tmp_path: Path) -> None:
    from parsimon.penalties import OverlappingGroupLasso
    from parsimon.penalties.groups import Groups

    groups = Groups.from_lists([[0, 1, 2], [2, 3], [4, 5]], 6)
    split = flat_problem(DATA.X, DATA.y, 2, OverlappingGroupLasso(0.5, groups))
    solver = ADMM(1e-6, 0.5, "paper")
    whole = Run().fit("fit", solver, split, ZERO)
    path = tmp_path / "run"
    with pytest.raises(Killed):
        started(path, callbacks=[kill_at(3)]).fit("fit", solver, split, ZERO)
    resumed = started(path, resume=True).fit("fit", solver, split, ZERO)
    assert resumed.weights.dense().tobytes() == whole.weights.dense().tobytes()


def test_a_needed_fit_has_no_model_to_leave_at_ctrl_c(tmp_path: Path) -> None:
    run = started(tmp_path / "run", callbacks=[press_at(1)])
    with pytest.raises(KeyboardInterrupt):
        run.fit("first", OWLQN(tol=1e-12), problem(), ZERO, needed=True)
    run = Run(callbacks=[press_at(1)])
    assert run.fit("first", OWLQN(tol=1e-12), problem(), ZERO).status is Status.INTERRUPTED


def test_ctrl_c_as_a_fit_ends_ends_the_next_one() -> None:
    """It comes in the last iteration, so the status of the first fit does not show it."""
    last = len(Run().fit("first", LBFGS(), problem(0.0), ZERO).history) - 1
    run = Run(callbacks=[press_at(last)])
    assert run.fit("first", LBFGS(), problem(0.0), ZERO).status is Status.CONVERGED
    assert run.stopped is Status.INTERRUPTED
    second = run.fit("second", LBFGS(), problem(0.0), ZERO)
    assert (second.status, len(second.history)) == (Status.INTERRUPTED, 1)


def test_ctrl_c_as_a_needed_fit_ends_is_not_lost(tmp_path: Path) -> None:
    last = len(Run().fit("first", LBFGS(), problem(0.0), ZERO).history) - 1
    run = started(tmp_path / "run", callbacks=[press_at(last)])
    with pytest.raises(KeyboardInterrupt):
        run.fit("first", LBFGS(), problem(0.0), ZERO, needed=True)
    assert run.done("first") is not None  # it need not be done again


def test_ctrl_c_while_something_is_found_out_keeps_none_of_it(tmp_path: Path) -> None:
    run = started(tmp_path / "run")

    def find_out() -> float:
        return drive(LBFGS(), problem(0.0), ZERO, run.monitor(callbacks=[press_at(1)])).objective

    with pytest.raises(KeyboardInterrupt):
        run.once("value", find_out, lambda value: {"value": value}, lambda kept: kept["value"])
    assert "value" not in kept(tmp_path / "run").values


def test_a_limit_is_an_end_only_if_it_is_proper(tmp_path: Path) -> None:
    path = tmp_path / "run"
    limited: Any = {"max_iter": 3}
    started(path).fit("fit", OWLQN(tol=1e-12), problem(), ZERO, **limited, proper_end=(Status.ITERATIONS,))
    assert list(kept(path).finished) == ["fit"]
    started(path).fit("fit", OWLQN(tol=1e-12), problem(), ZERO, **limited)
    assert (list(kept(path).finished), list(kept(path).running)) == ([], ["fit"])
    more = started(path, resume=True).fit("fit", OWLQN(tol=1e-12), problem(), ZERO, max_iter=6)
    assert [event.iteration for event in more.history] == [0, 1, 2, 3, 4, 5, 6]


def test_limits_of_iterations_count_from_the_first_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    for _ in range(2):
        with pytest.raises(Killed):
            started(path, resume=path.exists(), callbacks=[kill_at(2 if not path.exists() else 4)]).fit(
                "fit", OWLQN(tol=1e-12), problem(), ZERO, max_iter=5
            )
    result = started(path, resume=True).fit("fit", OWLQN(tol=1e-12), problem(), ZERO, max_iter=5)
    assert (result.status, len(result.history)) == (Status.ITERATIONS, 6)


def test_history_goes_before_and_does_not_count(tmp_path: Path) -> None:
    before = Run().fit("a", OWLQN(), problem(), ZERO, max_iter=2).history
    result = Run().fit("b", OWLQN(tol=1e-12), problem(), ZERO, max_iter=2, history=before)
    assert result.history[: len(before)] == before
    assert len(result.history) == 2 * len(before)


def test_fits_after_one_that_goes_on_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run = started(path)
    run.fit("one", OWLQN(tol=1e-12), problem(), ZERO, max_iter=2)
    run.fit("two", LBFGS(), problem(0.0), ZERO)
    assert list(kept(path).finished) == ["two"]
    again = started(path, resume=True)
    again.fit("one", OWLQN(tol=1e-12), problem(), ZERO)  # goes on, so what follows is another
    assert list(kept(path).finished) == ["one"]
    assert again.done("two") is None


def test_checkpoints_are_written_no_more_often_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(Killed):
        started(path, every=3600.0, callbacks=[kill_at(5)]).fit("fit", OWLQN(tol=1e-12), problem(), ZERO)
    assert not path.exists()
    with pytest.raises(Killed):
        started(path, every=0.0, callbacks=[kill_at(5)]).fit("fit", OWLQN(tol=1e-12), problem(), ZERO)
    assert not path.exists()
    started(path, every=0.0).fit("fit", OWLQN(), problem(), ZERO)
    assert list(kept(path).finished) == ["fit"]


def test_a_checkpoint_of_another_problem_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    started(path).fit("fit", LBFGS(), problem(0.0), ZERO)
    wide = flat_problem(np.hstack([DATA.X, DATA.X]), DATA.y, 2, L2(1.0))
    with pytest.raises(ParsimonError, match="is damaged: it has 7 features, but the data have 13"):
        started(path, resume=True).fit("fit", LBFGS(), wide, Weights.zeros(13))


@pytest.mark.parametrize("value", [1e90, -1e90, 1e12])
def test_weights_that_no_fit_comes_to_are_refused(value: float, tmp_path: Path) -> None:
    path, far = tmp_path / "run", Weights(np.array([value]), np.array([0]), 7)
    result = Result(far, Status.CONVERGED, 1.0)
    for checkpoint in (
        Checkpoint("mark", running={"fit": Running("fit", far, [], 0)}),
        Checkpoint("mark", finished={"fit": result}),
    ):
        checkpoint.save(path)
        with pytest.raises(ParsimonError, match=r"run is damaged: its weights are much worse than none"):
            started(path, resume=True).fit("fit", OWLQN(), problem(), ZERO)
        chains = set_up(make_toy(0), lambda n: ElasticNet(0.1, 0.0))
        again = replace(far, n_features=chains.n_features)
        Checkpoint("mark", running={"fit": Running("fit", again, [], 0)}).save(path)
        with pytest.raises(ParsimonError, match=r"run is damaged: its weights are much worse than none"):
            started(path, resume=True).fit(
                "fit", BlockCoordinateDescent(), chains, Weights.zeros(chains.n_features)
            )


def test_a_state_that_no_learner_has_given_is_refused_with_the_name_of_the_file(tmp_path: Path) -> None:
    path, chains = tmp_path / "run", set_up(make_toy(0), lambda n: ElasticNet(0.1, 0.0))
    n = chains.n_features
    start = Weights(np.zeros(0), np.zeros(0, np.int64), n, lambda: {"values": np.ones(2)})
    Checkpoint("mark", running={"fit": Running("fit", start, [], 0)}).save(path)
    with pytest.raises(
        ParsimonError, match=r"run is damaged: the state of the learner is of another solver\.$"
    ):
        started(path, resume=True).fit("fit", Online(3), chains, Weights.zeros(n))


# ---- once --------------------------------------------------------------------------------------------------


def test_what_is_found_out_is_kept_at_once_and_not_found_out_again(tmp_path: Path) -> None:
    path, calls = tmp_path / "run", []

    def find_out() -> list[int]:
        calls.append(path.exists())
        return [1, 2]

    def ask(run: Run) -> list[int]:
        return run.once("numbers", find_out, lambda value: {"value": value}, lambda kept: list(kept["value"]))

    assert ask(started(path)) == [1, 2]
    assert calls == [True]  # there is something to resume from by then
    assert kept(path).values == {"numbers": {"value": [1, 2]}}
    assert ask(started(path, resume=True)) == [1, 2]
    assert len(calls) == 1
    assert ask(Run()) == [1, 2]
    assert len(calls) == 2


@pytest.mark.parametrize("content", [{}, {"value": None}, {"value": "x"}])
def test_what_was_found_out_and_is_damaged_is_refused(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    Checkpoint("mark", values={"number": content}).save(path)
    with pytest.raises(ParsimonError, match="is damaged: its number cannot be read"):
        started(path, resume=True).once(
            "number", lambda: 1, lambda x: {"value": x}, lambda kept: int(kept["value"])
        )


# ---- checkpoints of trainings ------------------------------------------------------------------------------


def test_there_must_be_a_checkpoint_to_resume_from(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="there is no checkpoint to resume from; name one"):
        TinyTraining(resume=True).run(DATA)
    with pytest.raises(ParsimonError, match=r"there is no checkpoint .*run to resume from"):
        TinyTraining(resume=True, checkpoint=tmp_path / "run").run(DATA)


@pytest.mark.parametrize(
    ("changes", "data"),
    [
        ({"l1": 0.6}, DATA),
        ({"l2": 0.1}, DATA),
        ({"penalty": L2(1.0)}, DATA),
        ({}, examples(59)),
        ({}, examples(60, seed=1)),
        ({"solver": Online(3)}, DATA),
    ],
)
def test_a_checkpoint_belongs_to_data_and_options(
    changes: dict[str, Any], data: Examples, tmp_path: Path
) -> None:
    training = TinyTraining(checkpoint=tmp_path / "run")
    training.run(DATA)
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        replace(training, resume=True, **changes).run(data)


def test_limits_and_threads_may_change_when_a_training_is_resumed(tmp_path: Path) -> None:
    training = TinyTraining(checkpoint=tmp_path / "run", max_iter=2, tol=1e-12)
    training.run(DATA)
    more = replace(
        training, resume=True, max_iter=50, tol=1e-3, n_jobs=2, time_limit=99.0, verbose=1, memory="100G"
    )
    assert more.run(DATA).result.status is Status.CONVERGED


def test_another_kind_of_model_is_another_training(tmp_path: Path) -> None:
    @dataclass(kw_only=True)
    class Other(TinyTraining):
        kind = "other"

    TinyTraining(checkpoint=tmp_path / "run").run(DATA)
    with pytest.raises(ParsimonError, match="belongs to other data"):
        Other(checkpoint=tmp_path / "run", resume=True).run(DATA)


def test_ctrl_c_outside_of_a_fit_keeps_what_is_done(tmp_path: Path) -> None:
    training = TinyTraining(checkpoint=tmp_path / "run", checkpoint_every=0)
    with pytest.raises(KeyboardInterrupt), training.started(DATA) as run:  # noqa: PT012
        run.fit("first", LBFGS(), problem(0.0), ZERO, needed=True)
        raise KeyboardInterrupt
    with replace(training, resume=True).started(DATA) as run:
        assert run.done("first") is not None


def test_ctrl_c_before_anything_is_done_leaves_an_older_checkpoint_alone(tmp_path: Path) -> None:
    training = TinyTraining(checkpoint=tmp_path / "run")
    training.run(DATA)
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(KeyboardInterrupt), replace(training, l1=0.7).started(DATA):
        raise KeyboardInterrupt
    assert (tmp_path / "run").read_bytes() == before


@pytest.mark.parametrize("iteration", [0, 1, 3])
def test_a_training_killed_anywhere_comes_to_the_same(iteration: int, tmp_path: Path) -> None:
    dev = examples(40, seed=1)
    training = TinyTraining(l1=0.05, tol=1e-6, solver="owlqn", checkpoint=tmp_path / "run", patience=100)
    whole = training.run(DATA, dev=dev).result
    with pytest.raises(Killed):
        replace(training, checkpoint_every=1e-9, callback=kill_at(iteration)).run(DATA, dev=dev)
    resumed = replace(training, resume=True).run(DATA, dev=dev).result
    assert resumed.status is whole.status
    score = TinyTask(problem()).development_score(dev)
    assert score(resumed.weights) == score(whole.weights)


# ---- parts of trainings ------------------------------------------------------------------------------------


def test_debiasing_refits_what_is_left() -> None:
    task = TinyTask(problem(5.0))
    result = Run().fit("fit", OWLQN(tol=1e-9), task.problem, ZERO)
    watcher = Watcher()
    refit = debiased(task, result, 0.01, Run(watch=watcher))
    kept_there = np.flatnonzero(result.weights.dense())
    assert watcher.heard[0] == "debiasing"
    assert np.flatnonzero(refit.weights.dense()).tolist() == kept_there.tolist()
    small = replace(task.problem.restrict(kept_there), penalty=L2(0.01))
    _, gradient = small.loss_and_gradient(refit.weights.dense()[kept_there])
    np.testing.assert_allclose(gradient, -0.01 * refit.weights.dense()[kept_there], atol=1e-4)
    assert refit.status is result.status
    assert len(refit.history) > len(result.history)


def test_the_largest_strength_and_the_path_below_it() -> None:
    task = TinyTask(flat_problem(DATA.X, DATA.y, 2, ElasticNet(1.0, 0.0)))
    top = largest_strength(task.problem)
    path = list(along_path(TinyTraining(tol=1e-9), task, [top * 0.5, top * 1.001, top * 0.999]))
    assert [strength for strength, _ in path] == sorted((strength for strength, _ in path), reverse=True)
    sizes = [int(np.count_nonzero(model.weights[:6])) for _, model in path]
    assert sizes[0] == 0 < sizes[1] <= sizes[2]
    assert all(isinstance(model, TinyModel) for _, model in path)


def test_losses_by_name_or_as_objects() -> None:
    assert named_loss("hinge") == named_loss(get_loss("hinge")) == "hinge"


def test_a_training_says_what_it_is_missing() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Training()  # type: ignore[abstract]
    assert Trained(1, Result(ZERO, Status.DONE, 0.0)).model == 1
    assert NobodyWatches().phase("a") is None  # type: ignore[func-returns-value]
