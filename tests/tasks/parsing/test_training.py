"""Checkpoints of parsers: a run that was killed goes on where it stood, to the same bits."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsimon.tasks.training as module
from parsimon.errors import ParsimonError, ParsimonWarning
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.selection import Sparseptron
from parsimon.solvers import Decreasing, Online, Status
from parsimon.tasks.model_file import save_model
from parsimon.tasks.parsing.training import Parsed, ParserTraining
from parsimon.tasks.training import NobodyWatches, Run
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
        replace(training, callback=killer(iteration), checkpoint_every=1e-9).fit(space(), TRAIN, **more)


def content(model: Any, path: Path) -> bytes:
    save_model(model, path)
    return path.read_bytes()


ONLINE = {
    "mira": ParserTraining(max_iter=6),
    "perceptron": ParserTraining(loss="perceptron", solver="sgd", max_iter=6, random_state=3),
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


# ---- while relations are learnt ------------------------------------------------------------------------------


def after_relation_epoch(patch: pytest.MonkeyPatch, epoch: int, act: Callable[[], None]) -> None:
    """Acts when the checkpoint of this epoch of learning relations is written."""
    sound, epochs = Run._keep, iter(range(100))

    def keep(run: Run, name: str, *more: Any) -> None:
        sound(run, name, *more)
        if name == "relations" and next(epochs) == epoch:
            act()

    patch.setattr(Run, "_keep", keep)


def kill() -> None:
    raise Killed


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


class InPhase(NobodyWatches):
    """Acts when a phase begins."""

    def __init__(self, text: str, act: Callable[[], None]) -> None:
        self.text, self.act = text, act

    def phase(self, text: str, done: float | None = None) -> None:
        if text == self.text:
            self.act()


@pytest.mark.parametrize("epoch", [0, 2, 4])
@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"max_iter": 4}, Status.DONE),
        ({"max_iter": 40, "patience": 2}, Status.DEVELOPMENT),
        ({"loss": "log", "solver": "lbfgs", "l2": 0.5}, Status.CONVERGED),
        ({"max_iter": 4, "prune": 1.0, "random_state": 3, "selection": Sparseptron(8, 1)}, Status.DONE),
    ],
    ids=["all epochs", "patience", "batch", "pruned"],
)
def test_what_was_killed_while_learning_relations_goes_on_there(
    settings: dict[str, Any], status: Status, epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ParserTraining(**settings, relations=RELATIONS, relation_epochs=5, checkpoint=tmp_path / "run")
    training = replace(training, checkpoint_every=1e-9)
    dev = DEV if "patience" in settings else None
    whole = replace(training, checkpoint=None).fit(space(), TRAIN, dev=dev)
    assert whole.info["status"] == status.value
    with monkeypatch.context() as patch:
        after_relation_epoch(patch, epoch, kill)
        with pytest.raises(Killed):
            training.fit(space(), TRAIN, dev=dev)
    seen: list[Any] = []
    learnt = [0]
    sound = Run._keep

    def count(run: Run, name: str, *more: Any) -> None:
        sound(run, name, *more)
        learnt[0] += name == "relations"

    monkeypatch.setattr(Run, "_keep", count)
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), TRAIN, dev=dev)
    assert seen == []
    assert learnt[0] == (5 - 1 - epoch + 1 if epoch < 4 else 0)  # once more when all is done
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_arcs_that_a_limit_of_iterations_has_cut_short_are_not_lost_while_learning_relations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ParserTraining(
        loss="log", solver="lbfgs", l2=0.1, max_iter=5, relations=RELATIONS, checkpoint=tmp_path / "run"
    )
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    assert whole.info["status"] == Status.ITERATIONS.value
    with monkeypatch.context() as patch:
        after_relation_epoch(patch, 2, kill)
        with pytest.raises(Killed):
            replace(training, checkpoint_every=1e-9).fit(space(), TRAIN)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), TRAIN)
    assert seen == []
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")
    more = replace(training, resume=True, max_iter=9, callback=seen.append).fit(space(), TRAIN)
    assert [event.iteration for event in seen] == [6, 7, 8, 9]
    assert more.relations is not None
    assert whole.relations is not None
    np.testing.assert_array_equal(more.relations.weights, whole.relations.weights)


@pytest.mark.parametrize("where", ["before", "within"])
def test_ctrl_c_while_learning_relations_keeps_the_arcs(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ParserTraining(max_iter=3, relations=RELATIONS, checkpoint=tmp_path / "run")
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    data = Parsed(space(), TRAIN)
    with monkeypatch.context() as patch:
        if where == "before":
            trained = training.run(data, watch=InPhase("learning relations", press_ctrl_c))
        else:
            after_relation_epoch(patch, 1, press_ctrl_c)
            trained = replace(training, checkpoint_every=1e-9).run(data)
    assert trained.result.status is Status.INTERRUPTED
    assert trained.model.info["status"] == Status.INTERRUPTED.value
    np.testing.assert_array_equal(trained.model.weights, whole.weights)
    assert (trained.model.relations is None) == (where == "before")
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_ctrl_c_while_learning_arcs_leaves_a_parser_without_relations(tmp_path: Path) -> None:
    training = ParserTraining(max_iter=6, relations=RELATIONS, checkpoint=tmp_path / "run")
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)

    def interrupt(event: Any) -> None:
        if event.iteration == 2:
            press_ctrl_c()

    trained = replace(training, callback=interrupt).run(Parsed(space(), TRAIN))
    assert trained.result.status is Status.INTERRUPTED
    assert trained.model.relations is None
    assert len(trained.model.info["history"]) == 3
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


# ---- time limits ---------------------------------------------------------------------------------------------


def test_the_time_limit_is_for_the_whole_run(tmp_path: Path) -> None:
    training = ParserTraining(max_iter=6, relations=RELATIONS, relation_epochs=5)
    whole = training.fit(space(), TRAIN)
    limited = replace(training, time_limit=1000.0, checkpoint=tmp_path / "run")
    late = limited.run(Parsed(space(), TRAIN), began=time.perf_counter() - 2000.0)
    assert late.result.status is Status.TIME
    assert late.model.info["status"] == Status.TIME.value
    assert len(late.model.info["history"]) == 1
    one = replace(training, max_iter=1, relation_epochs=1).fit(space(), TRAIN)
    assert late.model.relations is not None
    assert one.relations is not None
    assert late.model.relations.labels == one.relations.labels
    resumed = replace(limited, time_limit=None, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_time_that_runs_out_while_learning_relations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = ParserTraining(max_iter=6, relations=RELATIONS, relation_epochs=5, time_limit=1000.0)
    whole = replace(training, time_limit=None).fit(space(), TRAIN)
    runs: list[Run] = []
    sound = ParserTraining.start_run

    def remember(*given: Any) -> Run:
        runs.append(sound(*given))
        return runs[0]

    def run_out() -> None:
        runs[0].began -= 2000.0

    monkeypatch.setattr(ParserTraining, "start_run", remember)
    late = training.run(Parsed(space(), TRAIN), watch=InPhase("learning relations", run_out))
    assert late.result.status is Status.TIME
    np.testing.assert_array_equal(late.model.weights, whole.weights)
    assert late.model.relations is not None


# ---- two stages ----------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("event", [0, 1])
def test_what_was_killed_while_choosing_templates_begins_anew(event: int, tmp_path: Path) -> None:
    training = replace(SELECTING, relations=RELATIONS, checkpoint=tmp_path / "run")
    whole = replace(training, checkpoint=None).fit(space(), TRAIN)
    events = iter(range(100))

    def kill_then(_: Any) -> None:
        if next(events) == event:
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill_then).fit(space(), TRAIN)
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(whole, tmp_path / "b")


def test_ctrl_c_while_choosing_templates_leaves_nothing(tmp_path: Path) -> None:
    training = replace(SELECTING, checkpoint=tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        replace(training, callback=lambda _: press_ctrl_c()).fit(space(), TRAIN)
    resumed = replace(training, resume=True).fit(space(), TRAIN)
    assert content(resumed, tmp_path / "a") == content(SELECTING.fit(space(), TRAIN), tmp_path / "b")


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
        (replace(again, random_state=1), space(), TRAIN, {}),
        (replace(again, solver="sgd"), space(), TRAIN, {}),
        (replace(again, loss="log", solver="lbfgs"), space(), TRAIN, {}),
        (replace(again, selection=Sparseptron(5)), space(), TRAIN, {}),
        (replace(again, relations=RELATIONS), space(), TRAIN, {}),
        (replace(again, projective=True), space(), TRAIN, {}),
        (replace(again, cutoff=2), space(), TRAIN, {}),
        (again, other, TRAIN, {}),
        (again, ArcFeatures(arc_preset("mcdonald"), 2), TRAIN, {}),
        (again, space(), TRAIN[:-1], {}),
        (again, space(), grammar(8), {}),
        (again, space(), TRAIN.with_heads(np.zeros_like(TRAIN.heads), TRAIN.relations), {}),
        (again, space(), TRAIN.with_heads(TRAIN.heads, ["other"] * TRAIN.n_tokens), {}),
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
    with pytest.warns(ParsimonWarning, match=r"no checkpoint was kept.*cannot be written"):
        model = training.fit(space(), TRAIN)
    assert len(model.weights) > 0


# ---- what cannot be meant ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "more", "what"),
    [
        ({"loss": "squared"}, {}, "loss must be one of log, hinge, perceptron, not 'squared'."),
        ({"relation_epochs": 0}, {}, "relation_epochs must be a whole number, 1 or more, not 0."),
        ({"relations": "nothing"}, {}, "there is no file 'nothing' of arc templates and no preset of that name"),
        ({"time_limit": -1}, {}, "time_limit must be a number above zero, not -1."),
        ({"cutoff": 0}, {}, "cutoff must be a whole number, 1 or more, not 0."),
        ({"single_root": True}, {}, "do not ask for a single root, or leave such sentences out."),
        ({"resume": True}, {}, "there is no checkpoint to resume from; name one."),
        ({"loss": "log"}, {}, "needs the hinge loss"),
        ({}, {"weights": -np.ones(len(TRAIN))}, "sentence weights must be finite and not negative"),
        ({}, {"weights": np.array(1.0)}, "sentence weights must be finite and not negative"),
        ({}, {"dev": DEV.with_heads(np.full(DEV.n_tokens, -1))}, "sentence 1: a word has no head"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    settings: dict[str, Any], more: dict[str, Any], what: str
) -> None:
    with pytest.raises(ParsimonError) as error:
        ParserTraining(**settings).fit(space(), TRAIN, **more)
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_words_without_relation_among_others_are_refused() -> None:
    names = ["_", *TRAIN.values("deprel")[1:]]
    some = TRAIN.with_heads(TRAIN.heads, names)
    with pytest.raises(ParsimonError, match=r"has 1 words without relation, but others have one"):
        ParserTraining(callback=lambda _: pytest.fail("arcs are learnt first")).fit(space(), some)
    assert ParserTraining(max_iter=1, relations=None).fit(space(), some).relations is None


def test_a_model_remembers_how_it_was_trained() -> None:
    settings = {"max_iter": 2, "random_state": 5, "l2": 0.25, "solver": "sgd"}
    told = replace(SELECTING, **settings).fit(space(), TRAIN).info
    assert told["random_state"] == 5
    assert (told["solver"], told["loss"], told["l1"], told["l2"]) == ("sgd", "hinge", 0.0, 0.25)
    assert (told["sentences"], told["tokens"], told["format"]) == (len(TRAIN), TRAIN.n_tokens, TRAIN.format)
    assert told["selection"]["name"] == Sparseptron.name
    assert told["candidate_templates"] == len(arc_preset("mcdonald"))
    assert told["iterations"] == len(told["history"]) == 2
