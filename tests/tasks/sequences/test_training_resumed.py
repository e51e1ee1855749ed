"""Training of sequences that is killed and goes on from a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsimon.tasks.training as module
from parsimon.errors import ParsimonError, ParsimonWarning
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.selection import GroupLassoPath, InformationGain, Sparseptron
from parsimon.solvers import SGDL1, Decreasing, Online, PassiveAggressive, Status
from parsimon.tasks.model_file import dump_model
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


@pytest.fixture
def data() -> Any:
    return make_data()


class Killed(Exception):
    pass


def killed(training: SequenceTraining, after: int, *data: Any, **more: Any) -> None:
    """A run that is killed when it has told of so many rounds; the checkpoint is of the one before."""
    rounds = iter(range(1, 1000))

    def kill(event: Any) -> None:
        if next(rounds) > after:
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill, checkpoint_every=1e-9).fit(space(), *data, **more)


# ---- online learners ---------------------------------------------------------------------------------------

MIRA = SequenceTraining(
    loss="hinge", penalty=L2(0.0), solver=Online(6, PassiveAggressive(0.1), burn_in=1 / 3)
)
ONLINE = {
    "mira": MIRA,
    "by name": SequenceTraining(loss="hinge", penalty=L2(0.0), solver="mira", max_iter=6),
    "perceptron": SequenceTraining(loss="perceptron", penalty=L2(0.0), solver="sgd", max_iter=6),
    "log": SequenceTraining(penalty=L2(0.1), solver="sgd", max_iter=6),
    "sgd-l1": SequenceTraining(solver=SGDL1(6), penalty=ElasticNet(l1=0.3, l2=0.5)),
    "sgd-l1, exempt": SequenceTraining(solver=SGDL1(6), penalty=L1(0.5), penalize_bias=False),
    "sgd-l1, seen": SequenceTraining(solver="sgd-l1", max_iter=6, penalty=L1(0.5), candidates="seen"),
    "l1": SequenceTraining(solver=Online(6, Decreasing(0.3), every=7), penalty=L1(0.1)),
    "templates": SequenceTraining(solver=Online(6, Decreasing(0.3), every=7), penalty=GroupLasso(0.1, l2=0.1)),
    "debiased": SequenceTraining(solver=Online(6, Decreasing(0.3), every=7), penalty=L1(0.3), debias=0.5),
}  # fmt: skip


@pytest.mark.parametrize("when", [1, 4, 5])
@pytest.mark.parametrize("training", ONLINE.values(), ids=ONLINE)
def test_online_learners_resume_to_the_same_bits(
    training: SequenceTraining, when: int, data: Any, tmp_path: Path
) -> None:
    dev = make_data(1, 10)
    whole = training.fit(space(), *data, dev=dev)
    assert len(whole.weights) > 5
    safe = replace(training, checkpoint=tmp_path / "run")
    killed(safe, when, *data, dev=dev)
    resumed = replace(safe, resume=True).fit(space(), *data, dev=dev)
    assert dump_model(resumed) == dump_model(whole)


def test_killed_twice(data: Any, tmp_path: Path) -> None:
    training = replace(MIRA, checkpoint=tmp_path / "run")
    killed(training, 2, *data)
    killed(replace(training, resume=True), 2, *data)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), *data)
    assert [event.iteration for event in seen] == [4, 5]
    assert dump_model(resumed) == dump_model(MIRA.fit(space(), *data))


def test_what_had_come_to_its_end_learns_nothing_again(data: Any, tmp_path: Path) -> None:
    training = replace(MIRA, checkpoint=tmp_path / "run")
    whole = training.fit(space(), *data)  # the checkpoint is the caller's to remove
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), *data)
    assert seen == []
    assert resumed.info["status"] == Status.DONE.value
    assert dump_model(resumed) == dump_model(whole)


# ---- two stages --------------------------------------------------------------------------------------------

SELECTIONS = {
    "sparseptron": Sparseptron(budget=2, epochs=2),
    "information gain": InformationGain(2),
    "path": GroupLassoPath(2),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_templates_are_chosen_once(
    selection: Any, data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = replace(ONLINE["log"], selection=selection, checkpoint=tmp_path / "run")
    whole = training.fit(space(), *data)

    def refuse(*_: Any) -> Any:
        pytest.fail("templates are being chosen again")

    def kill(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(module, "drive", kill)  # before the first epoch
        with pytest.raises(Killed):
            training.fit(space(), *data)
    monkeypatch.setattr(type(selection), "select", refuse)
    resumed = replace(training, resume=True).fit(space(), *data)
    assert dump_model(resumed) == dump_model(whole)
    assert resumed.info["selection"] == whole.info["selection"]


def test_a_second_stage_resumes_to_the_same_bits(data: Any, tmp_path: Path) -> None:
    training = replace(MIRA, selection=Sparseptron(budget=2, epochs=2), checkpoint=tmp_path / "run")
    whole = training.fit(space(), *data)
    killed(training, 2 + 3, *data)  # two epochs of choosing, three of learning
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), *data)
    assert [event.iteration for event in seen] == [3, 4, 5]
    assert dump_model(resumed) == dump_model(whole)


def test_a_choice_among_other_templates_or_by_other_means_is_refused(data: Any, tmp_path: Path) -> None:
    training = replace(MIRA, selection=Sparseptron(budget=2, epochs=2), checkpoint=tmp_path / "run")
    training.fit(space(), *data)
    again = replace(training, resume=True)
    fewer = TemplateFeatures(TemplateSet.parse("U0:%x[0,0]\nB"))
    X, y = data
    for changed, where, given in (
        (again, fewer, data),
        (again, space(), (X[:-1], y[:-1])),
        (replace(again, selection=Sparseptron(budget=2, epochs=3)), space(), data),
        (replace(again, selection=None), space(), data),
        (replace(again, solver=Online(7, PassiveAggressive(0.1))), space(), data),
    ):
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            changed.fit(where, *given)
    assert again.fit(space(), *data).info["status"] == Status.DONE.value


def test_a_choice_where_there_was_none_is_refused(data: Any, tmp_path: Path) -> None:
    training = replace(MIRA, checkpoint=tmp_path / "run")
    training.fit(space(), *data)
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        replace(training, selection=Sparseptron(budget=2), resume=True).fit(space(), *data)


# ---- batch solvers -----------------------------------------------------------------------------------------


def test_resuming_ends_where_it_would_have_ended(data: Any, tmp_path: Path) -> None:
    X, y = data
    training = SequenceTraining(penalty=ElasticNet(l1=0.2, l2=0.01), tol=1e-7, checkpoint=tmp_path / "run")
    whole = training.fit(space(), X, y)

    def kill(event: Any) -> None:
        if event.iteration == 6:
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill, checkpoint_every=1e-9).fit(space(), X, y)
    resumed = replace(training, resume=True).fit(space(), X, y)
    assert resumed.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-6)
    iterations = [event["iteration"] for event in resumed.info["history"]]
    assert iterations == sorted(set(iterations))
    assert iterations[0] == 0


def test_resuming_remembers_the_best_on_the_development_set_and_how_long_ago_that_was(
    data: Any, tmp_path: Path
) -> None:
    X, y = data
    training = SequenceTraining(
        penalty=ElasticNet(l1=0.2, l2=0.01),
        tol=1e-9,
        patience=2,
        checkpoint=tmp_path / "run",
        max_iter=60,
    )
    dev = (X[:4], y[:4])
    whole = training.fit(space(), X, y, dev=dev)

    def kill(event: Any) -> None:
        if event.iteration == 7:
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill, checkpoint_every=1e-9).fit(space(), X, y, dev=dev)
    resumed = replace(training, resume=True).fit(space(), X, y, dev=dev)
    best = [max(event.get("dev", 0.0) for event in model.info["history"]) for model in (whole, resumed)]
    assert best[1] >= best[0]
    assert np.isfinite(resumed.info["objective"])
    assert len(resumed.info["history"]) <= 61


def test_what_a_limit_of_iterations_has_cut_short_is_not_lost_in_the_fit_that_follows(
    data: Any, tmp_path: Path
) -> None:
    training = SequenceTraining(l1=0.2, l2=0.01, max_iter=4, debias=0.5, checkpoint=tmp_path / "run")
    whole = training.fit(space(), *data)
    assert whole.info["status"] == Status.ITERATIONS.value
    killed(training, 5, *data)  # in the first iteration of debiasing
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(space(), *data)
    assert seen[0].iteration == 5
    assert dump_model(resumed) == dump_model(whole)
    before = len(seen)
    replace(training, resume=True, max_iter=8, callback=seen.append).fit(space(), *data)
    again = [event.iteration for event in seen[before:]]
    assert again[:5] == [5, 6, 7, 8, 9]  # four more, and debiasing of what these have changed


def test_a_checkpoint_of_something_else_is_refused(data: Any, tmp_path: Path) -> None:
    X, y = data
    training = SequenceTraining(checkpoint=tmp_path / "run")
    with pytest.raises(ParsimonError, match=r"there is no checkpoint .*run to resume from"):
        replace(training, resume=True).fit(space(), X, y)
    training.fit(space(), X, y)
    for other, changed in ((replace(training, penalty=L2(3.0)), (X, y)), (training, (X[:-1], y[:-1]))):
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            replace(other, resume=True).fit(space(), *changed)


def test_a_checkpoint_knows_the_input_and_not_only_the_labels(tmp_path: Path) -> None:
    y = Labels.from_sequences([["A", "B"], ["B", "A"]])
    training = SequenceTraining(checkpoint=tmp_path / "run")
    training.fit(space(), Columns.from_sequences([["a", "b"], ["c", "d"]]), y)
    with pytest.raises(ParsimonError, match="belongs to other data"):
        replace(training, resume=True).fit(space(), Columns.from_sequences([["q", "r"], ["s", "t"]]), y)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_damaged_checkpoint_is_refused(data: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(ParsimonError, match="is not a checkpoint, or is damaged"):
        SequenceTraining(checkpoint=tmp_path / "run", resume=True).fit(space(), *data)


def test_a_checkpoint_that_cannot_be_written(data: Any, tmp_path: Path) -> None:
    with pytest.warns(ParsimonWarning, match=r"no checkpoint was kept.*cannot be written"):
        model = SequenceTraining(checkpoint=tmp_path / "no" / "run").fit(space(), *data)
    assert len(model.weights) > 0
