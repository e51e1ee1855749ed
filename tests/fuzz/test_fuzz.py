"""The attacks in small: every file of the corpus, and some new inputs. `make fuzz` runs them for longer."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np
import pytest

from fuzz import material
from fuzz.__main__ import explained
from fuzz.all_targets import all_targets
from fuzz.child import Attack
from fuzz.mutations import change_array, change_bytes, change_cells, change_safetensors, change_value
from fuzz.target import CORPUS, Target, Wrong, command, numbers_only
from fuzz.targets.core_calls import CoreCalls, find
from fuzz.targets.core_scripts import SCRIPTS
from fuzz.targets.models import commands_of
from parsimon.errors import ParsimonError

# Commands take some hundredths of a second, calls of the core next to nothing.
NEW_INPUTS = {"core": 300, "objects": 3, "models": 150, "checkpoints": 100}
FEW = 8


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return material.make(tmp_path_factory.mktemp("material"))


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Calls of the core with huge sizes ask for as much memory as they say."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", all_targets())
def test_no_answer_is_wrong(name: str, made: Path, tmp_path: Path) -> None:
    target = all_targets()[name](made)
    for content in target.corpus():
        assert target.finding(content, tmp_path) is None
    for number in range(NEW_INPUTS.get(name, FEW)):
        assert target.finding(target.input(0, number), tmp_path) is None, f"input {number}"


@pytest.mark.parametrize("name", [name for name in all_targets() if name not in ("core", "objects")])
def test_inputs_that_are_not_changed_are_used(name: str, made: Path, tmp_path: Path) -> None:
    target = all_targets()[name](made)
    used = 0
    for content in target.made():
        try:
            target.run(content, tmp_path)
            used += 1
        except ParsimonError:  # an option that does not go with this input
            pass
    assert used == len(target.made()) if name in ("models", "checkpoints") else used > 0


@pytest.mark.parametrize("name", material.TRAININGS)
def test_every_command_works_with_a_model_of_every_kind(name: str, made: Path, tmp_path: Path) -> None:
    (tmp_path / "changed.model").write_bytes((made / f"{name}.model").read_bytes())
    with material.inside(made):
        for each in commands_of(name.partition("-")[0], tmp_path):
            numbers_only(command(*each))


def test_changes_reach_everything_in_a_header() -> None:
    header = {"a": [1, {"b": "text"}], "c": None, "d": {"e": 1.5, "f": [True, []]}, "long": [0] * 1000}
    changed = [change_value(header, Random(seed)) for seed in range(300)]
    changed = [each for each in changed if isinstance(each, dict)]
    for name in header:
        assert sum(each.get(name) != header[name] for each in changed) > 20


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_the_core_are_right(name: str) -> None:
    made = None
    for call, arguments in SCRIPTS[name]():
        if call.startswith("new "):
            made = find(call.removeprefix("new "))(*arguments)
        else:
            find(call, made)(*arguments)


def test_a_seed_gives_the_same_inputs(made: Path) -> None:
    for target in (each(made) for each in all_targets().values()):
        inputs = [target.input(3, number) for number in range(20)]
        assert inputs == [target.input(3, number) for number in range(20)]
        assert inputs != [target.input(4, number) for number in range(20)]


def test_everything_in_the_corpus_is_of_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(all_targets())


@pytest.mark.parametrize("seed", range(60))
def test_every_change_gives_something(seed: int) -> None:
    choose = Random(seed)
    assert isinstance(change_bytes(b"one two\nthree", choose), bytes)
    assert isinstance(change_bytes(b"", choose), bytes)
    assert isinstance(change_cells(b"a\tb\nc", choose, b"\t", (b"x",)), bytes)
    value = {"a": [1, "b"], "c": None}
    change_value(value, choose)
    assert value == {"a": [1, "b"], "c": None}
    array = np.arange(4)
    change_array(array, choose)
    assert array.tolist() == [0, 1, 2, 3]
    assert isinstance(change_safetensors(b"no such file", choose, "parsimon"), bytes)


# --- The driver finds what it should ---------------------------------------------------------------------------


class Trap(Target):
    """Answers in every wrong way, as its input asks."""

    name: ClassVar[str] = "trap"

    def change(self, content: bytes, choose: Random) -> bytes:
        return content

    def run(self, content: bytes, folder: Path) -> None:
        if content == b"refuse":
            raise ParsimonError("no")
        if content == b"raise":
            raise KeyError("oh")
        if content == b"command":
            command("inspect", folder / "no.model")


@pytest.mark.parametrize(
    ("content", "found"), [(b"", None), (b"refuse", None), (b"command", None), (b"raise", "KeyError at")]
)
def test_wrong_answers_are_kept(tmp_path: Path, content: bytes, found: str | None) -> None:
    attack = Attack(Trap(tmp_path), tmp_path, limit=0)
    attack.give(content, 6)
    assert (tmp_path / "trap.count").read_text() == "7"
    kept = list((tmp_path / "findings").glob("trap-*")) if (tmp_path / "findings").exists() else []
    assert len(kept) == (2 if found else 0)
    for file in kept:
        assert (
            file.read_bytes() == content
            if file.suffix != ".txt"
            else file.read_text().startswith(found or "")
        )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import time; faulthandler.dump_traceback_later(0.1, exit=True); time.sleep(60)", "too slow File"),
        (
            "import signal; faulthandler.register(signal.SIGPROF, chain=True);"
            " signal.setitimer(signal.ITIMER_PROF, 0.1)\nwhile True: pass",
            "too slow File",
        ),
        ("faulthandler.enable(); import ctypes; ctypes.string_at(0)", "crash with code -11"),
    ],
)
def test_ends_of_processes_are_explained(body: str, reason: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", f"import faulthandler; {body}"], capture_output=True, text=True
    )
    assert child.returncode != 0
    assert explained(child.returncode, child.stderr).startswith(reason)


def test_reports_of_sanitisers_are_of_one_sort_in_every_run() -> None:
    reports = [
        f"x\n=={i}==ERROR: AddressSanitizer: heap-use-after-free on address 0x{i}a\n" for i in (12, 34)
    ]
    first, second = (explained(1, report).splitlines()[0] for report in reports)
    assert first == second
    assert "heap-use-after-free" in first


def test_what_is_printed_must_be_numbers() -> None:
    numbers_only("0.5, -1 nothing")
    numbers_only("x nan", b"x NaN")  # the input has it
    numbers_only("x inf\u2028(", "x inf\u2028(".encode())
    for shown in ("a nan b", "[1.0, NaN, 2]", "-inf"):
        with pytest.raises(Wrong):
            numbers_only(shown)


def test_calls_that_are_left_out_are_no_finding(tmp_path: Path) -> None:
    target = CoreCalls(tmp_path)
    for content in (
        b"",
        b"{}",
        b'{"script": "dot", "changes": []}',
        b'{"script": "chains", "changes": [["skip", 0, 0]]}',
    ):
        assert target.finding(content, tmp_path) is None
