"""Strengths that choose themselves: paths, folds, the rule, Ctrl-C, limits, checkpoints and what is remembered."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError, ParsimonWarning
from parsimon.penalties import ElasticNet
from parsimon.solvers import Status, Weights
from parsimon.tasks.info import TUNING
from parsimon.tasks.matrices.flat import flat_problem, over_columns
from parsimon.tasks.options import DevelopmentOptions, PenaltyOptions, TuningOptions, changed
from parsimon.tasks.training import Run, Trained
from parsimon.tasks.tuning import Family, Tried, TunedTraining, chosen_of, largest_of
from tiny_training import Examples, TinyModel, TinyTask, examples


@dataclass(kw_only=True)
class TinyTuned(PenaltyOptions, DevelopmentOptions, TunedTraining[Examples, TinyModel]):
    """The smallest training whose strength chooses itself."""

    kind: ClassVar[str] = "tiny"
    l1: float = changed(PenaltyOptions, "l1", 0.5)
    tune: bool | None = changed(TuningOptions, "tune", True)

    def content(self, data: Examples) -> Sequence[Any]:
        return [data.X, data.y]

    def families(self) -> Sequence[Family]:
        return [Family("l1", {"l2": self.l2})]

    def classes_of(self, data: Examples) -> IntArray:
        return data.y

    def part(self, data: Examples, chosen: IntArray) -> Examples:
        return Examples(data.X[chosen], data.y[chosen])

    def held_out(self, data: Examples) -> Examples:
        return data

    def task(self, data: Examples) -> TinyTask:
        return TinyTask(flat_problem(data.X, data.y, 2, ElasticNet(self.l1, self.l2)))

    def again(self, task: TinyTask) -> TinyTask:
        penalty = over_columns(ElasticNet(self.l1, self.l2), 6, 1, bias=True)
        return TinyTask(task.problem.with_penalty(penalty))  # type: ignore[arg-type]

    def train(self, data: Examples, run: Run, *, dev: Any = None, start: Any = None) -> Trained[TinyModel]:
        task = self.task(data)
        run.phase("training")
        first = None if start is None else Weights(start.weights, None, len(start.weights))
        result = self.solve(task, first, run, dev=dev)
        return Trained(task.model(result, self.describe(task, result)), result)


class Heard:
    def __init__(self) -> None:
        self.phases: list[str] = []

    def phase(self, text: str, done: float | None = None) -> None:
        self.phases.append(text)

    def fit(self, *_: Any) -> None:
        pass


def tuning_of(training: TinyTuned, **more: Any) -> dict[str, Any]:
    info: dict[str, Any] = training.run(examples(), **more).model.info["tuning"]
    return info


def test_the_strength_with_the_best_mean_score_is_that_of_the_model() -> None:
    model = TinyTuned(folds=4).run(examples()).model
    tuning = model.info["tuning"]
    assert TUNING(tuning, "tuning") == tuning
    best = max(each["score"] for each in tuning["tried"])
    (chosen,) = [each for each in tuning["tried"] if each["strengths"] == tuning["chosen"]]
    assert chosen["score"] == best
    assert model.info["l1"] == tuning["chosen"]["l1"]
    assert tuning["folds"] == 4
    strengths = [each["strengths"]["l1"] for each in tuning["tried"]]
    assert strengths == sorted(strengths, reverse=True)
    assert tuning["tried"][0]["size"] <= 1  # a bias: everything else is dropped
    np.testing.assert_array_equal(
        model.weights, TinyTuned(tune=False, l1=tuning["chosen"]["l1"]).run(examples()).model.weights
    )


def test_scores_are_those_of_fits_on_the_other_folds() -> None:
    """One strength, one fold, by hand."""
    training, data = TinyTuned(folds=3, tol=1e-9), examples(40)
    cuts = training._cuts(data)
    assert sorted(np.concatenate(cuts).tolist()) == list(range(40))
    for cut in cuts:  # each class has its share
        assert abs(np.mean(data.y[cut]) - np.mean(data.y)) < 0.1
    tried = training.run(data).model.info["tuning"]["tried"][4]
    scores = []
    for cut in cuts:
        rest = training.part(data, np.setdiff1d(np.arange(40), cut))
        weights = TinyTuned(tune=False, tol=1e-9, l1=tried["strengths"]["l1"]).run(rest).result.weights
        scores.append(TinyTask(None).development_score(training.part(data, cut))(weights))  # type: ignore[arg-type]
    assert tried["score"] == pytest.approx(np.mean(scores))
    assert tried["error"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))


def test_development_data_choose_without_folds() -> None:
    dev = examples(50, seed=1)
    tuning = tuning_of(TinyTuned(), dev=dev)
    assert tuning["folds"] is None
    assert all(each["error"] is None for each in tuning["tried"])
    whole = TinyTuned(tune=False, l1=tuning["chosen"]["l1"]).run(examples())
    score = TinyTask(None).development_score(dev)(whole.result.weights)  # type: ignore[arg-type]
    assert score == pytest.approx(max(each["score"] for each in tuning["tried"]), abs=0.021)


def test_one_standard_error_is_the_smallest_that_is_not_much_worse() -> None:
    tried = [
        Tried({"l1": 3.0}, 0.80, 0.02, 1),
        Tried({"l1": 2.0}, 0.89, 0.02, 5),
        Tried({"l1": 1.0}, 0.90, 0.02, 9),
        Tried({"l1": 0.5}, 0.90, 0.02, 20),
    ]
    assert chosen_of(tried, "best").size == 9  # of equals the smallest
    assert chosen_of(tried, "one-standard-error").size == 5
    assert chosen_of([replace(each, error=None) for each in tried], "one-standard-error").size == 9
    sizes = {}
    for rule in ("best", "one-standard-error"):
        tuning = tuning_of(TinyTuned(tune_rule=rule))
        sizes[rule] = next(e["size"] for e in tuning["tried"] if e["strengths"] == tuning["chosen"])
    assert sizes["one-standard-error"] <= sizes["best"]


def test_a_path_ends_when_scores_have_fallen_for_a_while() -> None:
    """Noise alone: weak strengths only make it worse."""
    random = np.random.default_rng(3)
    data = Examples(random.normal(size=(30, 6)), (np.arange(30) % 3 == 0).astype(np.int64))
    scores = [each["score"] for each in TinyTuned().run(data).model.info["tuning"]["tried"]]
    assert 1 <= len(scores) <= len(Family("l1").path(1.0))


def test_a_ridge_begins_where_little_can_be_gained() -> None:
    data = examples()
    problem = flat_problem(data.X, data.y, 2, ElasticNet(0.0, 1.0))
    top = largest_of(problem, Family("l2"))
    weights = TinyTuned(tune=False, l1=0.0, l2=top, tol=1e-8).run(data).result
    nothing = 60 * np.log(2)
    assert 0.75 * nothing < weights.objective < nothing


def test_phases_and_events_are_told() -> None:
    heard, events = Heard(), []  # type: ignore[var-annotated]
    TinyTuned(folds=2, callback=events.append).run(examples(), watch=heard)
    assert "tuning: fold 2 of 2, strength 1 of 13" in heard.phases
    assert heard.phases[-1] == "training"
    assert len(events) > 26


class Killed(Exception):
    pass


@pytest.mark.parametrize("after", [5, 15, 40])
def test_a_run_that_is_killed_goes_on_to_the_same_bits(after: int, tmp_path: Path) -> None:
    whole = TinyTuned(folds=3, checkpoint=tmp_path / "whole").run(examples()).model
    seen: list[Any] = []

    def kill(event: Any) -> None:
        seen.append(event)
        if len(seen) == after:
            raise Killed

    training = TinyTuned(folds=3, checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    with pytest.raises(Killed):
        replace(training, callback=kill).run(examples())
    left: list[Any] = []
    again = replace(training, resume=True, callback=left.append).run(examples()).model
    assert again.info["tuning"]["chosen"] == whole.info["tuning"]["chosen"]
    np.testing.assert_allclose(again.weights, whole.weights, atol=1e-3)
    done: list[Any] = []
    replace(training, resume=True, callback=done.append).run(examples())
    assert not done  # nothing is done twice


def test_ctrl_c_keeps_the_best_so_far() -> None:
    seen: list[Any] = []

    def interrupt(event: Any) -> None:
        seen.append(event)
        if len(seen) == 30:
            os.kill(os.getpid(), signal.SIGINT)

    model = TinyTuned(callback=interrupt).run(examples()).model
    assert model.info["status"] == Status.INTERRUPTED.value
    assert len(model.info["tuning"]["tried"]) >= 1
    assert model.info["tuning"]["folds"] == 1  # those that were done
    assert model.weights.any()


def test_a_limit_of_time_ends_the_choice_too() -> None:
    with pytest.warns(ParsimonWarning, match="choice of strengths was ended after 1 fits; give it more time"):
        model = TinyTuned(time_limit=1e-9).run(examples()).model
    assert model.info["status"] == Status.TIME.value


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ParsimonError, match=r"tune=True chooses l1, so l1=0\.7 would make no difference"):
        TinyTuned(l1=0.7).run(examples())
    with pytest.raises(ParsimonError, match="folds must be a whole number, 2 or more"):
        TinyTuned(folds=1).run(examples())
    with pytest.raises(ParsimonError, match="tune_rule must be one of best, one-standard-error"):
        TinyTuned(tune_rule="worst").run(examples())
    with pytest.raises(ParsimonError, match="with standard errors needs folds"):
        TinyTuned(tune_rule="one-standard-error").run(examples(), dev=examples(20))
    few = Examples(np.eye(6)[:3], np.array([0, 1, 1]))
    with pytest.raises(ParsimonError, match="too few instances for folds"):
        TinyTuned().run(few)


def test_threads_and_seeds() -> None:
    one, three = (TinyTuned(n_jobs=jobs).run(examples()).model for jobs in (1, 3))
    assert one.info["tuning"] == three.info["tuning"]
    other = tuning_of(TinyTuned(random_state=1))
    assert other["tried"] != one.info["tuning"]["tried"]
