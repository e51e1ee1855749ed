"""Every request to the system that a save makes may fail or be the last one: the old file or the new one is whole."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults import KILLED, Fault, failing, fault_at, in_a_child, interrupted, killed_after, killed_before
from parsimon import SequenceLabeler
from parsimon.cli.output import output
from parsimon.errors import ParsimonError
from parsimon.files import write_file
from parsimon.report.json_lines import JsonLines
from parsimon.report.model_page import Part, model_page
from parsimon.solvers import Event, Weights
from parsimon.tasks.checkpoint import Checkpoint, Running
from parsimon.tasks.model_file import load_model, save_model

MOST = 512  # bytes that a write takes, so that a save has several writes
ERRORS = [errno.ENOSPC, errno.EIO]
Save = Callable[[Path, int], None]  # the first or the second content


def model(which: int) -> Any:
    words = [[{"w": f"{which}{i}"}, {"w": "b"}] for i in range(20)]
    return SequenceLabeler(l1=0.01 * (which + 1)).fit(words, [["A", "B"]] * 20).model_


MODELS = [model(0), model(1)]


def checkpoint(which: int) -> Checkpoint:
    weights = Weights(np.arange(1.0, 200.0 + which), np.arange(199 + which), 1000)
    return Checkpoint("mark", float(which), running={"fit": Running("fit", weights, [], 0)})


def save_page(path: Path, which: int) -> None:
    write_file(path, model_page("Page", [("model", str(which))], [Part("", MODELS[which])]).encode()[-3000:])


def save_predictions(path: Path, which: int) -> None:
    with output(str(path)) as write:
        for i in range(8):
            write(f"{which} {i}\n".encode() * 40)


SAVES: dict[str, Save] = {
    "model": lambda path, which: save_model(MODELS[which], path),
    "checkpoint": lambda path, which: checkpoint(which).save(path),
    "page": save_page,
}
READS: dict[str, Callable[[Path], Any]] = {
    "model": load_model,
    "checkpoint": lambda path: Checkpoint.load(path, "mark"),
    "page": lambda path: path.read_text(),
}


@pytest.fixture(params=SAVES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def files(kind: str, tmp_path: Path) -> tuple[Path, bytes, bytes]:
    """A file, its old content, and the new one."""
    paths = [tmp_path / "a", tmp_path / "b"]
    for which, path in enumerate(paths):
        SAVES[kind](path, which)
    contents = [path.read_bytes() for path in paths]
    paths[1].unlink()
    assert contents[0] != contents[1]
    return paths[0], contents[0], contents[1]


def requests_of(save: Callable[[], None]) -> int:
    """How many requests a save makes."""
    with fault_at(0, interrupted, most=MOST) as counter:
        save()
    return counter.requests


def failure_of(save: Callable[[], None]) -> str | None:
    """What a save is refused with."""
    try:
        save()
    except ParsimonError as error:
        return str(error)
    return None


def test_short_writes_and_interruptions_do_no_harm(kind: str, files: tuple[Path, bytes, bytes]) -> None:
    path, _, new = files
    assert requests_of(lambda: SAVES[kind](path, 1)) > 8
    assert path.read_bytes() == new
    for number in range(1, 20):
        SAVES[kind](path, 0)
        with fault_at(number, interrupted, most=MOST):
            SAVES[kind](path, 1)
        assert path.read_bytes() == new


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("exists", [True, False])
def test_a_request_that_fails_leaves_the_old_file_and_nothing_else(
    kind: str, error: int, exists: bool, files: tuple[Path, bytes, bytes]
) -> None:
    path, old, new = files
    failed, met = 0, 0
    for number in range(1, 100):
        path.unlink(missing_ok=True)
        if exists:
            path.write_bytes(old)
        with fault_at(number, failing(error), most=MOST) as counter:
            said = failure_of(lambda: SAVES[kind](path, 1))
        if not counter.met:
            break
        met += 1
        if said is None:  # of what is not needed: permissions, and synchronising the folder
            assert path.read_bytes() == new
        else:
            failed += 1
            assert said.endswith(f"{os.strerror(error)}; nothing was changed.")
            assert (path.read_bytes() if path.exists() else None) == (old if exists else None)
        assert [each for each in path.parent.iterdir() if each != path] == []
    assert met - 4 < failed < met
    assert failed > 5


@pytest.mark.parametrize("fault", [killed_before, killed_after])
def test_after_a_kill_the_old_file_or_the_new_one_is_whole(
    kind: str, fault: Fault, files: tuple[Path, bytes, bytes]
) -> None:
    path, old, new = files
    n, found = requests_of(lambda: SAVES[kind](path, 1)), []
    for number in range(1, n + 1):
        path.write_bytes(old)

        def save(number: int = number) -> None:
            with fault_at(number, fault, most=MOST):
                SAVES[kind](path, 1)

        assert in_a_child(save) == KILLED
        found.append(path.read_bytes())
        READS[kind](path)
    assert set(found) == {old, new}
    assert found == sorted(found, key=lambda content: content == new)  # once there, it stays
    SAVES[kind](path, 1)  # the next writer removes what the killed ones have left behind
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("fault", [failing(errno.ENOSPC), killed_before, killed_after])
def test_predictions_appear_when_all_of_them_are_there(fault: Fault, tmp_path: Path) -> None:
    path = tmp_path / "a"
    save_predictions(path, 1)
    new = path.read_bytes()
    save_predictions(path, 0)
    old = path.read_bytes()
    for number in range(1, 7):
        path.write_bytes(old)

        def save(number: int = number) -> None:
            with fault_at(number, fault):
                save_predictions(path, 1)

        in_a_child(save)
        assert path.read_bytes() in (old, new)
    save_predictions(path, 1)
    assert path.read_bytes() == new
    assert list(tmp_path.iterdir()) == [path]


# ---- the log --------------------------------------------------------------------------------------------------


def write_log(path: Path) -> None:
    log = JsonLines(path)
    log.start(parsimon="1", texts="x" * 100)
    for i in range(5):
        log(Event(i, 0.5, 1.0, 2, 3, "phase" * 20))
    log.end(status="done")
    log.close()


def whole_lines(content: bytes) -> list[Any]:
    *lines, rest = content.split(b"\n")
    assert not rest
    return [json.loads(line) for line in lines]


def test_lines_of_a_log_are_whole_when_writes_are_short_or_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write_log(path)
    wanted = path.read_bytes()
    for number in range(15):
        with fault_at(number, interrupted, most=50):
            write_log(path)
        assert path.read_bytes() == wanted


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
def test_a_log_that_cannot_go_on_ends_with_a_whole_line(error: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    write_log(path)
    wanted, lengths = whole_lines(path.read_bytes()), set()
    for number in range(1, 60):
        with fault_at(number, failing(error), most=50) as counter:
            said = failure_of(lambda: write_log(path))
        assert said is None or os.strerror(error) in said
        found = whole_lines(path.read_bytes())
        assert found == wanted[: len(found)]
        lengths.add(len(found))
        if not counter.met:
            break
    assert lengths == set(range(8))


@pytest.mark.parametrize("fault", [killed_before, killed_after])
def test_after_a_kill_a_log_has_whole_lines_but_for_the_last(fault: Fault, tmp_path: Path) -> None:
    path = tmp_path / "log"
    write_log(path)
    wanted = path.read_bytes()
    for number in range(1, 30, 2):
        path.unlink()

        def save(number: int = number) -> None:
            with fault_at(number, fault, most=50):
                write_log(path)

        assert in_a_child(save) == KILLED
        assert wanted.startswith(path.read_bytes())
        log = JsonLines(path, append=True)  # a run that is resumed
        log.start(resumed=True)
        log.close()
        assert json.loads(path.read_bytes().splitlines()[-1])["resumed"]
