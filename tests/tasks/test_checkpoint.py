"""Checkpoints: what is written comes back; damaged, hostile and foreign files are refused in one sentence."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

from parsimon.errors import ParsimonError, ParsimonWarning
from parsimon.solvers import (
    LBFGS,
    Event,
    Monitor,
    Online,
    PassiveAggressive,
    Result,
    Status,
    Validation,
    Weights,
)
from parsimon.solvers.base import Iterate
from parsimon.tasks import checkpoint as module
from parsimon.tasks.checkpoint import Best, Checkpoint, Running, ended, lasting_settings

STATE = {"values": np.array([[1.5, -2.0]]), "counts": np.array([3, 4], np.int32), "empty": np.zeros((0, 2))}
HISTORY = [
    Event(0, 0.5, 3.25, 4, 1),
    Event(1, 1.5, 2.0, 3, 2, "phase", 0.1, 0.2, 0.9, (5, 4), 7, 2),
]
SOME = Weights(np.array([0.1, -1e-300, 1e90]), np.array([0, 5, 9]), 10)


def example() -> Checkpoint:
    weights = replace(SOME, state=lambda: STATE)
    best = Best(0.875, 2, 2.5, 0.75, Weights(np.array([2.0]), np.array([3]), 10))
    result = Result(SOME, Status.CONVERGED, 1.25, 1e-6, None, HISTORY, 3, np.array([0.0, 1.5, 2.0]))
    return Checkpoint(
        "mark",
        12.5,
        {"selection": {"order": [["U0", 1.5]], "kept": {"é": None}}},
        {
            "first": result,
            "second": Result(Weights.zeros(4), Status.ITERATIONS, 0.5),
        },
        {"third": Running("third", weights, HISTORY, 1, best), "fourth": Running("fourth", SOME, [], 0)},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    example().save(tmp_path / "run")
    return tmp_path / "run"


def same_weights(one: Weights, other: Weights) -> None:
    assert one.n_features == other.n_features
    assert one.dense().tobytes() == other.dense().tobytes()


# ---- there and back ----------------------------------------------------------------------------------------


def test_what_is_written_comes_back(path: Path) -> None:
    there, back = example(), Checkpoint.load(path, "mark")
    assert (back.mark, back.seconds, back.values) == (there.mark, there.seconds, there.values)
    assert list(back.finished) == ["first", "second"]
    assert list(back.running) == ["third", "fourth"]
    for name, each in there.finished.items():
        one, other = each, back.finished[name]
        same_weights(one.weights, other.weights)
        for field in ("status", "objective", "kkt", "gap", "history", "support"):
            assert getattr(one, field) == getattr(other, field)
    np.testing.assert_array_equal(back.finished["first"].relevance, [0.0, 1.5, 2.0])
    assert back.finished["second"].relevance is None
    for name, going in there.running.items():
        again = back.running[name]
        same_weights(going.weights, again.weights)
        assert (going.name, going.history, going.counted_from) == (
            again.name,
            again.history,
            again.counted_from,
        )
    third = back.running["third"]
    assert third.weights.state is not None
    state = third.weights.state()
    assert state.keys() == STATE.keys()
    for name, values in STATE.items():
        assert state[name].dtype == values.dtype
        assert np.array_equal(state[name], values)
    assert third.best is not None
    assert (third.best.score, third.best.since, third.best.objective, third.best.kept) == (
        0.875,
        2,
        2.5,
        0.75,
    )
    assert back.running["fourth"].weights.state is None
    assert back.running["fourth"].best is None


def test_the_same_checkpoint_makes_the_same_file(path: Path) -> None:
    before = path.read_bytes()
    Checkpoint.load(path, "mark").save(path)
    assert path.read_bytes() == before


def test_an_empty_one(tmp_path: Path) -> None:
    Checkpoint("m").save(tmp_path / "run")
    assert Checkpoint.load(tmp_path / "run", "m") == Checkpoint("m")


def test_fits_can_be_forgotten() -> None:
    checkpoint = example()
    checkpoint.only({"second", "third", "another"})
    assert (list(checkpoint.finished), list(checkpoint.running)) == (["second"], ["third"])


def test_dense_weights_are_kept_without_their_zeros(tmp_path: Path) -> None:
    weights = Weights(np.array([0.0, 2.0, 0.0]), None, 3)
    Checkpoint("m", running={"a": Running("a", weights, [], 0)}).save(tmp_path / "run")
    back = Checkpoint.load(tmp_path / "run", "m").running["a"].weights
    assert back.features is not None
    assert back.features.tolist() == [1]
    assert back.dense().tolist() == [0.0, 2.0, 0.0]


# ---- what is refused ---------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(ParsimonError) as error:
        Checkpoint.load(path, "mark")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_foreign_marks(path: Path) -> None:
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        Checkpoint.load(path, "another")


def test_files_that_are_not_there_or_are_no_files(tmp_path: Path) -> None:
    assert "there is no checkpoint" in refused(tmp_path / "nothing")
    assert "is not a checkpoint, or is damaged" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0", b"nonsense", b"\x08\0\0\0\0\0\0\0{}      ", b"\xff" * 64])
def test_files_that_are_something_else(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(content)
    assert "is not a checkpoint, or is damaged" in refused(tmp_path / "run")


def test_a_model_file_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(save({"weights": np.zeros(2)}, {"parsimon": "{}"}))
    assert "is not a checkpoint, or is damaged" in refused(tmp_path / "run")


def test_every_truncation(path: Path) -> None:
    content = path.read_bytes()
    for length in {*range(0, len(content), 7), *range(64), *range(len(content) - 64, len(content))}:
        path.write_bytes(content[:length])
        assert "is not a checkpoint, or is damaged" in refused(path)
    path.write_bytes(content + b"\0")
    refused(path)


@given(st.data())
def test_flipped_bytes(data: st.DataObject) -> None:
    content = bytearray(CONTENT)
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    damaged = FOLDER / "damaged"
    damaged.write_bytes(content)
    try:
        back = Checkpoint.load(damaged, "mark")
    except ParsimonError:
        return
    # A flip in the blanks of the header, which mean nothing.
    assert bytes(content).replace(b" ", b"").replace(b"\t", b"") != b""
    back.save(damaged)
    assert damaged.read_bytes() == CONTENT


@pytest.fixture(scope="module", autouse=True)
def _content(tmp_path_factory: pytest.TempPathFactory) -> None:
    global CONTENT, FOLDER
    FOLDER = tmp_path_factory.mktemp("checkpoints")
    example().save(FOLDER / "run")
    CONTENT = (FOLDER / "run").read_bytes()


CONTENT, FOLDER = b"", Path()


def changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """A file whose digest is right, by somebody who means harm."""
    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(json.loads(file.metadata()["parsimon-checkpoint"])["header"])
    change(header, arrays)
    write(path, json.dumps(header), arrays)


def write(path: Path, header: str, arrays: dict[str, Any]) -> None:
    signed = json.dumps({"digest": module._digest(header, arrays), "header": header})
    path.write_bytes(save(arrays, {"parsimon-checkpoint": signed}))


WRONG: list[Any] = [None, [], {}, "text", -1, 1.5, True, math.nan, math.inf, 10**400, [[]], {"a": 1}]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize("name", ["format", "mark", "seconds", "values", "finished", "running"])
def test_wrong_types_in_the_header(name: str, wrong: Any, path: Path) -> None:
    changed(path, lambda header, arrays: header.update({name: wrong}))
    harmless = {"values": [{}], "seconds": [1.5], "mark": []}  # no fits, but their arrays, are not
    if any(type(wrong) is type(each) and wrong == each for each in harmless.get(name, [])):
        Checkpoint.load(path, "mark")
    elif name == "values" and wrong == []:
        refused(path)
    else:
        refused(path)


FINISHED = ["name", "n_features", "status", "objective", "kkt", "gap", "support", "history"]
RUNNING = ["name", "n_features", "history", "counted_from", "best"]
EVENT = [
    "iteration",
    "seconds",
    "objective",
    "active",
    "evaluations",
    "phase",
    "kkt",
    "gap",
    "dev",
    "support",
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize(
    ("where", "name"),
    [
        *(("finished", each) for each in FINISHED),
        *(("running", each) for each in RUNNING),
        *(("event", each) for each in EVENT),
    ],
)
def test_wrong_types_in_fits_give_one_sentence_or_sound_numbers(
    where: str, name: str, wrong: Any, path: Path
) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        into = header["running"][0]["history"][1] if where == "event" else header[where][0]
        into[name] = wrong

    changed(path, change)
    try:
        back = Checkpoint.load(path, "mark")
    except ParsimonError:
        return
    for fit in back.running.values():
        assert np.isfinite(fit.weights.dense()).all()
        assert all(isinstance(event, Event) and not math.isnan(event.objective) for event in fit.history)
        assert isinstance(fit.counted_from, int)
        assert 0 <= fit.counted_from <= len(fit.history)
    for done in back.finished.values():
        assert np.isfinite(done.weights.dense()).all()
        assert not math.isnan(done.objective)
        assert done.kkt is None or not math.isnan(done.kkt)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: arrays.update({"running.0.values": np.array([1.0, np.nan, 2.0])}),
        lambda header, arrays: arrays.update({"running.0.values": np.array([1.0, np.inf, 2.0])}),
        lambda header, arrays: arrays.update({"running.0.values": np.ones(2)}),
        lambda header, arrays: arrays.update({"running.0.values": np.ones((3, 1))}),
        lambda header, arrays: arrays.update({"running.0.values": np.ones(3, np.float32)}),
        lambda header, arrays: arrays.update({"running.0.features": np.array([0, 5, 10])}),
        lambda header, arrays: arrays.update({"running.0.features": np.array([-1, 5, 9])}),
        lambda header, arrays: arrays.update({"running.0.features": np.array([5, 5, 9])}),
        lambda header, arrays: arrays.update({"running.0.features": np.array([5, 0, 9])}),
        lambda header, arrays: arrays.update({"running.0.features": np.array([0.0, 5.0, 9.0])}),
        lambda header, arrays: arrays.pop("running.0.features"),
        lambda header, arrays: arrays.pop("finished.1.values"),
        lambda header, arrays: arrays.pop("running.0.best.values"),
        lambda header, arrays: header["running"][0].pop("best"),
        lambda header, arrays: header["running"][0].update(best=[1.0, 2]),
        lambda header, arrays: header["running"][0].update(best=["good", 2, 1.0, 1.0]),
        lambda header, arrays: header["running"][0].update(counted_from=3),
        lambda header, arrays: header["finished"][0]["history"][0].update(instantiated=["a"]),
        lambda header, arrays: header["finished"][0]["history"][0].update(colour="red"),
        lambda header, arrays: header["finished"][0]["history"][0].pop("seconds"),
        lambda header, arrays: header["finished"][0].update(status="ASLEEP"),
        lambda header, arrays: header.pop("seconds"),
        lambda header, arrays: header.update(seconds=1e300),
        lambda header, arrays: header.update(more=1),
        lambda header, arrays: header["values"].update(a=[]),
        lambda header, arrays: header["values"].update(a={"b": math.nan}),
        lambda header, arrays: header["running"][1].update(name="third"),
        lambda header, arrays: header["finished"][0].update(name="a\nb"),
        lambda header, arrays: header["finished"][0].update(objective=math.inf),
        lambda header, arrays: header["running"][0]["history"][1].update(iteration=7),
        lambda header, arrays: header["running"][0]["history"].reverse(),
        lambda header, arrays: arrays.update({"junk": np.ones(2)}),
        lambda header, arrays: arrays.update({"running.7.values": np.ones(2)}),
        lambda header, arrays: arrays.update({"running.0.values": np.array([1.0, 2.0, 1e200])}),
        lambda header, arrays: arrays.update({"finished.0.relevance": np.array([1.0, np.nan])}),
        lambda header, arrays: arrays.update({"finished.0.relevance": np.array([-1.0])}),
        lambda header, arrays: arrays.update({"finished.0.relevance": np.ones((2, 1))}),
        lambda header, arrays: arrays.update({"finished.0.relevance": np.ones(2, np.int64)}),
    ],
)
def test_hostile_files(change: Any, path: Path) -> None:
    changed(path, change)
    assert "is not a checkpoint, or is damaged" in refused(path)


def test_headers_that_are_nested_too_deeply(path: Path) -> None:
    text = "[" * 100_000 + "]" * 100_000
    write(path, text, {})
    refused(path)


# ---- writing -----------------------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.warns(ParsimonWarning, match=r"no checkpoint was kept: .*No space left"):
        replace(example(), seconds=99.0).save_or_warn(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# ---- going on ----------------------------------------------------------------------------------------------


def test_a_fit_as_its_monitor_sees_it_and_back() -> None:
    monitor = Monitor(validation=Validation(lambda weights: 0.0), history=list(HISTORY), counted_from=1)
    assert monitor.validation is not None
    monitor.validation.resume(0.9, 3, SOME, 1.5, 0.8)
    state = {"a": np.array([1.0])}
    running = Running.of("fit", replace(SOME, state=lambda: state), monitor)
    state["a"] = np.array([2.0])  # the learner goes on; what is kept does not
    monitor.history.append(HISTORY[0])
    assert running.history == HISTORY
    assert running.weights.state is not None
    assert running.weights.state()["a"].tolist() == [1.0]
    other = Monitor(validation=Validation(lambda weights: 0.0))
    assert running.take_up(other) is running.weights
    assert (other.history, other.counted_from) == (HISTORY, 1)
    assert other.validation is not None
    assert other.validation.best_iterate is not None
    assert (other.validation.best, other.validation.since_best, other.validation.kept) == (0.9, 3, 0.8)
    assert running.take_up(Monitor()) is running.weights  # without development data


def test_whether_a_fit_had_ended() -> None:
    online, plain = Online(2), replace(SOME, state=None)
    at_work = replace(SOME, state=lambda: STATE)
    assert ended(online, at_work, Monitor()) is None
    done = ended(online, at_work, Monitor(history=list(HISTORY), counted_from=0))
    assert done is not None
    assert (done.status, done.objective, done.kkt, done.support) == (Status.DONE, 2.0, 0.1, 2)
    assert done.weights.state is None
    assert ended(Online(3), at_work, Monitor(history=list(HISTORY), counted_from=0)) is None
    assert ended(online, at_work, Monitor(history=list(HISTORY), counted_from=1)) is None
    assert ended(LBFGS(), plain, Monitor(history=list(HISTORY), counted_from=0)) is None
    limited = ended(LBFGS(), plain, Monitor(max_iter=1, history=list(HISTORY), counted_from=0))
    assert limited is not None
    assert limited.status is Status.ITERATIONS


def test_a_fit_without_patience_ends_with_its_best() -> None:
    validation = Validation(lambda weights: 0.0, patience=2)
    best = Weights(np.array([5.0]), np.array([0]), 10)
    validation.resume(0.9, 2, best, 1.5)
    monitor = Monitor(validation=validation, history=list(HISTORY), counted_from=0)
    result = ended(Online(9), replace(SOME, state=lambda: STATE), monitor)
    assert result is not None
    assert result.status is Status.DEVELOPMENT
    assert result.weights is best
    assert isinstance(validation.best_iterate, Iterate)


def test_settings_of_solvers_that_must_stay_the_same() -> None:
    assert (
        lasting_settings("lbfgs", 5, 0)
        == lasting_settings(LBFGS(), 5, 0)
        == lasting_settings("auto", 5, 0)
        == []
    )
    assert lasting_settings("mira", 5, 0)[1:] == [5, 0]
    assert lasting_settings(Online(3), 5, 0) == [Online(3), 5, 0]
    assert lasting_settings(Online(3, PassiveAggressive()), 5) != lasting_settings(Online(3), 5)
    assert lasting_settings("nothing of that name", 5) == []  # refused later, with all names
