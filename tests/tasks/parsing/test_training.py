"""Checkpoints of parsers: a run that was killed goes on where it stood, to the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsimon.tasks.parsing.training as module
from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.selection import Sparseptron
from parsimon.solvers import Decreasing, Online, Status
from parsimon.tasks.model_file import save_model
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import grammar, random_treebank

TRAIN = random_treebank(3, (3, 5, 4, 6, 2, 7, 3, 5))
DEV = random_treebank(4, (4, 5, 3, 6))
RELATIONS = ArcTemplates.parse("h.upos+m.upos\nm.form")


class Killed(Exception):
    pass


def space() -> ArcFeatures:
    return ArcFeatures(arc_preset("mcdonald"))


def killer(iteration: int) -> Any:
    def kill(event: Any) -> None:
        if event.iteration == iteration:
            raise Killed

    return kill


def killed(training: ParserTraining, iteration: int, **more: Any) -> None:
    """A run that is killed when it tells of this iteration; the checkpoint is of the one before."""
    with pytest.raises(Killed):
        replace(training, callbacks=(killer(iteration),), checkpoint_every=1e-9).fit(space(), TRAIN, **more)


def content(model: Any, path: Path) -> bytes:
    save_model(model, path)
    return path.read_bytes()


ONLINE = {
    "mira": ParserTraining(max_iter=6),
    "perceptron": ParserTraining(loss="perceptron", solver="sgd", max_iter=6, seed=3),
    "log": ParserTraining(loss="log", solver="sgd", max_iter=6),
    "l2": ParserTraining(solver="sgd", penalty=ElasticNet(l1=0.0, l2=0.1), max_iter=6),
    "elastic net": ParserTraining(
        solver=Online(6, step=Decreasing(0.3), every=3), penalty=ElasticNet(l1=0.05, l2=0.1)
    ),
    "templates": ParserTraining(solver=Online(6, step=Decreasing(0.3), every=3), penalty=GroupLasso(0.05, l2=0.1)),
    "no average": ParserTraining(solver=Online(6, average=False, every=3), penalty=L1(0.1)),
}  # fmt: skip


@pytest.mark.parametrize("when", [1, 3, 5])
@pytest.mark.parametrize("training", ONLINE.values(), ids=ONLINE)
def test_online_learners_resume_to_the_same_bits(training: ParserTraining, when: int, tmp_path: Path) -> None:
    training = replace(training, relations=RELATIONS)
    whole = training.fit(space(), TRAIN, dev=DEV)
    assert len(whole.weights) > 10
    safe = replace(training, checkpoint=tmp_path / "run")
    killed(safe, when, dev=DEV)
    seen: list[Any] = []
    resumed = replace(safe, resume=True, callback=seen.append).fit(space(), TRAIN, dev=DEV)
    assert [event.iteration for event in seen] == list(range(when, 6))
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_killed_twice(tmp_path: Path) -> None:
    training = ParserTraining(max_iter=6, checkpoint=tmp_path / "run", relations=None)
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    killed(training, 2)
    killed(replace(training, resume=True), 4)
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


@pytest.mark.parametrize(
    ("settings", "status"),
    [({"max_iter": 4}, Status.DONE), ({"max_iter": 40, "patience": 2}, Status.DEVELOPMENT)],
    ids=["all epochs", "patience"],
)
def test_what_was_killed_while_naming_relations_learns_no_arcs_again(
    settings: dict[str, Any], status: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ParserTraining(**settings, checkpoint=tmp_path / "run", relations=RELATIONS)
    whole = replace(training, checkpoint=None).fit(space(), TRAIN, dev=DEV)
    assert whole.info["status"] == status.value

    def kill(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(ParserTraining, "_learn_relations", kill)
        with pytest.raises(Killed):
            training.fit(space(), TRAIN, dev=DEV)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), TRAIN, dev=DEV)
    assert seen == []
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_ctrl_c_while_naming_relations_is_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ParserTraining(max_iter=3, relations=RELATIONS, checkpoint=tmp_path / "run")
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    sound = module.drive

    def interrupted(solver: Any, problem: Any, start: Any, monitor: Any) -> Any:
        result = sound(solver, problem, start, monitor)
        return result if monitor.checkpoint else replace(result, status=Status.INTERRUPTED)

    with monkeypatch.context() as patch:
        patch.setattr(module, "drive", interrupted)
        model, result = training.run(space(), TRAIN)
    assert result.status is Status.INTERRUPTED
    assert model.info["status"] == Status.INTERRUPTED.value
    assert model.relations is not None
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


SELECTING = ParserTraining(max_iter=5, selection=Sparseptron(budget=10, epochs=2), relations=None)


def test_templates_are_chosen_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = replace(SELECTING, checkpoint=tmp_path / "run")
    whole = SELECTING.fit(space(), TRAIN)

    def refuse(*_: Any) -> Any:
        pytest.fail("templates are being chosen again")

    def kill(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(module, "drive", kill)  # before the first epoch
        with pytest.raises(Killed):
            training.fit(space(), TRAIN)
    monkeypatch.setattr(Sparseptron, "select", refuse)
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")
    assert resumed.info["selection"] == whole.info["selection"]


def test_a_second_stage_resumes_to_the_same_bits(tmp_path: Path) -> None:
    training = replace(SELECTING, checkpoint=tmp_path / "run")
    whole = SELECTING.fit(space(), TRAIN)
    events = iter(range(100))

    def kill(event: Any) -> None:
        if next(events) == 2 + 3:  # two epochs of choosing, three of learning
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill, checkpoint_every=1e-9).fit(space(), TRAIN)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), TRAIN)
    assert [event.iteration for event in seen] == [3, 4]
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_the_smallest_of_good_models_is_remembered(tmp_path: Path) -> None:
    training = ParserTraining(max_iter=8, dev_tolerance=0.2, relations=None, checkpoint=tmp_path / "run")
    whole = replace(training, checkpoint=None).fit(space(), TRAIN, dev=DEV)
    for when in (2, 4, 6):
        killed(training, when, dev=DEV)
        resumed = replace(training, resume=True).fit(space(), TRAIN, dev=DEV)
        assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_batch_solvers_end_where_they_would_have_ended(tmp_path: Path) -> None:
    training = ParserTraining(
        loss="log", solver="lbfgs", penalty=L2(0.5), tol=1e-8, relations=None, checkpoint=tmp_path / "run"
    )
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    killed(training, 6)
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert resumed.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-8)
    iterations = [event["iteration"] for event in resumed.info["history"]]
    assert iterations == list(range(len(iterations)))
    assert len(iterations) > 6


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    training = ParserTraining(max_iter=3, relations=None, checkpoint=tmp_path / "run")
    again = replace(training, resume=True)
    with pytest.raises(ParsimonError, match=r"there is no checkpoint .*run to resume from"):
        again.fit(space(), TRAIN)
    training.fit(space(), TRAIN)
    other = ArcFeatures(RELATIONS)
    weights = np.ones(len(TRAIN))
    for changed, where, treebank, more in (
        (replace(again, penalty=L2(3.0)), space(), TRAIN, {}),
        (replace(again, max_iter=4), space(), TRAIN, {}),
        (replace(again, seed=1), space(), TRAIN, {}),
        (replace(again, solver="sgd"), space(), TRAIN, {}),
        (replace(again, loss="log", solver="lbfgs"), space(), TRAIN, {}),
        (replace(again, selection=Sparseptron(5)), space(), TRAIN, {}),
        (again, other, TRAIN, {}),
        (again, ArcFeatures(arc_preset("mcdonald"), 2), TRAIN, {}),
        (again, space(), TRAIN[:-1], {}),
        (again, space(), grammar(8), {}),
        (again, space(), TRAIN.with_heads(np.zeros_like(TRAIN.heads), TRAIN.relations), {}),
        (again, space(), TRAIN, {"weights": weights}),
    ):
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            changed.fit(where, treebank, **more)
    assert again.fit(space(), TRAIN).info["status"] == Status.DONE.value


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"nonsense")
    with pytest.raises(ParsimonError, match="is not a checkpoint, or is damaged"):
        ParserTraining(checkpoint=tmp_path / "run", resume=True).fit(space(), TRAIN)


def test_a_checkpoint_that_cannot_be_written(tmp_path: Path) -> None:
    training = ParserTraining(
        max_iter=2,
        selection=Sparseptron(10, 1),
        relations=None,
        checkpoint=tmp_path / "no" / "run",
    )
    with pytest.warns(RuntimeWarning, match=r"no checkpoint was kept.*cannot be written"):
        model = training.fit(space(), TRAIN)
    assert len(model.weights) > 0
