"""Where results go: whole files or none, full disks, and targets that are refused before any work."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from parsimon.characters.printable import printable
from parsimon.cli.output import output
from refusals import refused


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


def test_nothing_but_the_model_is_left(run, folder):
    before = {path.name for path in folder.iterdir()}
    assert run(*training(folder)).exit_code == 0
    assert {path.name for path in folder.iterdir()} == before | {"a.model"}


def test_models_that_could_not_be_written_are_refused_before_any_work(run, folder, monkeypatch):
    monkeypatch.setattr(
        "parsimon.tasks.sequences.training.SequenceTraining.run",
        lambda *_: pytest.fail("it has begun to work"),
    )
    refused(run(*training(folder, "-m", folder / "no/such/folder/a.model")), "there is no directory")
    refused(run(*training(folder, "-m", folder)), "is a directory")
    refused(run(*training(folder, "-m", "/dev/full")), "is a device")
    refused(run(*training(folder, "--log", folder / "no/log.jsonl")), "log.jsonl cannot be written")
    refused(run(*training(folder, "--log", "/dev/full")), "/dev/full cannot be written", "No space left")
    refused(run(*training(folder, "--checkpoint", folder / "no/a.ckpt")), "the checkpoint", "no directory")


def test_a_folder_without_permission_is_refused_before_any_work(run, folder, monkeypatch):
    # Where nothing can be made, not even by the superuser, to whom permissions mean little.
    place = Path("/proc") if Path("/proc/self").exists() else folder / "locked"
    place.mkdir(mode=0o555, exist_ok=True)
    monkeypatch.setattr(
        "parsimon.tasks.sequences.training.SequenceTraining.run",
        lambda *_: pytest.fail("it has begun to work"),
    )
    refused(run(*training(folder, "-m", place / "a.model")), "the model", "cannot be written")


@pytest.mark.parametrize("option", ["-m", "--log", "--checkpoint"])
def test_data_are_not_overwritten(run, folder, option):
    before = (folder / "train.txt").read_bytes()
    refused(run(*training(folder, option, folder / "train.txt")), "would be overwritten")
    assert (folder / "train.txt").read_bytes() == before


def test_an_output_file_is_complete_or_not_there(run, trained, folder):
    out = folder / "out.txt"
    assert run("predict", trained, folder / "new.txt", "-o", out).output == ""
    assert out.read_text() == run("predict", trained, folder / "new.txt").stdout
    out.write_text("as it was")
    before = {path.name for path in folder.iterdir()}
    (folder / "new.txt").write_text("The DT\ndog NN\n\nbroken\n")
    assert run("predict", trained, folder / "new.txt", "-o", out).exit_code == 2
    assert out.read_text() == "as it was"
    assert {path.name for path in folder.iterdir()} == before


def test_an_output_file_may_be_the_input(run, trained, folder):
    expected = run("predict", trained, folder / "new.txt").stdout
    assert run("predict", trained, folder / "new.txt", "-o", folder / "new.txt").exit_code == 0
    assert (folder / "new.txt").read_text() == expected


def test_a_full_disk(shell, trained, folder):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained), str(folder / "new.txt")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: standard output cannot be written: No space left on device.\n"
    done = shell("predict", trained, folder / "new.txt", "-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: /dev/full cannot be written: No space left on device.\n"
    assert Path("/dev/full").is_char_device()


def test_a_full_disk_behind_standard_output(trained, folder):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "parsimon.cli", "evaluate", str(trained), str(folder / "test.txt")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: the output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [("predict", "{model}", "{data}"), ("inspect", "{model}", "--json")])
def test_a_disk_that_becomes_full_on_the_way(trained, folder, command, unbuffered):
    """The system takes what still fits and says so only the next time; unbuffered streams do not ask again."""
    resource = pytest.importorskip("resource")
    (folder / "many.txt").write_text((folder / "new.txt").read_text() * 50)
    arguments = [part.format(model=trained, data=folder / "many.txt") for part in command]
    with (folder / "out").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "parsimon", *arguments],
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
            check=False,
        )
    assert (folder / "out").stat().st_size == 4096
    assert done.returncode == 2
    assert done.stderr.decode().endswith("output cannot be written: File too large.\n")


def test_unbuffered_output_is_whole(trained, folder, shell):
    expected = shell("predict", trained, folder / "new.txt").stdout
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    assert shell("predict", trained, folder / "new.txt", env=environment).stdout == expected != b""


HOSTILE = "\x1b]0;x\x07\u202e\x9b2J"  # renames the window, turns text round, clears the screen


def steered(text: str) -> set[str]:
    """What a terminal would obey."""
    return {c for c in text if (unicodedata.category(c) == "Cc" and c not in "\n\t") or c in "\u202e\u2066"}


def hostile_files(folder: Path) -> dict[str, list[object]]:
    """Training data with escapes in words, labels and names of columns, for kinds of model that show them."""
    (folder / f"{HOSTILE}.txt").write_text(f"The{HOSTILE} D{HOSTILE}\ndog N{HOSTILE}\n\n" * 8)
    (folder / "word.tpl").write_text("U:%x[0,0]\nB\n")
    (folder / "d.tsv").write_text(f"a{HOSTILE}\tgood{HOSTILE} film\nb{HOSTILE}\tdull{HOSTILE} film\n" * 8)
    (folder / "t.csv").write_text(f"x{HOSTILE},y\n" + f"u{HOSTILE},v\nw,z{HOSTILE}\n" * 8)
    return {
        "sequence": [folder / f"{HOSTILE}.txt", "-t", folder / "word.tpl"],
        "document": [folder / "d.tsv", "--l2", "0.1"],
        "network": [folder / "t.csv"],
    }


@pytest.mark.parametrize("kind", ["sequence", "document", "network"])
def test_nothing_steers_the_terminal(run, folder, kind):
    model, files = folder / f"{HOSTILE}.model", hostile_files(folder)[kind]
    assert run("train", kind, *files, "-m", model, "-v").exit_code == 0
    commands = [
        ("train", kind, *files, "-m", model, "-v"),
        ("train", kind, *files, "-m", model, "--json"),
        ("inspect", model, "--history"),
        ("inspect", model, "--json"),
        ("inspect", model, "--html", folder / f"{HOSTILE}.html"),
        ("evaluate", model, files[0]),
        ("evaluate", model, files[0], "--json"),
        ("evaluate", model, folder / f"none{HOSTILE}"),
        ("inspect", files[0]),
        *([("explain", model, files[0]), ("explain", model, files[0], "--json")] * (kind == "document")),
    ]
    shown = [run(*command) for command in commands]
    assert [steered(result.stdout + result.stderr) for result in shown] == [set()] * len(shown)
    assert any(r"\x1b]0;x\x07\u202e\x9b2J" in result.output for result in shown)


def test_labels_are_escaped_for_a_terminal_alone(run, folder, monkeypatch):
    files, model = hostile_files(folder)["sequence"], folder / "a.model"
    assert run("train", "sequence", *files, "-m", model, "-q").exit_code == 0
    plain = run("predict", model, files[0]).stdout
    assert f"dog N{HOSTILE}\tN{HOSTILE}\n" in plain
    run("predict", model, files[0], "-o", folder / "out.txt")
    assert (folder / "out.txt").read_text() == plain
    monkeypatch.setattr("parsimon.cli.output._is_terminal", lambda stream: True)
    shown = run("predict", model, files[0]).stdout
    assert shown == printable(plain)
    assert not steered(shown)


def test_what_is_not_utf8_is_shown_to_a_terminal_as_it_is(capsysbinary, monkeypatch):
    monkeypatch.setattr("parsimon.cli.output._is_terminal", lambda stream: True)
    with output("-") as write:
        write("été\x9b".encode("latin-1") + b"\x1b\n")
    assert capsysbinary.readouterr().out == b"\xe9t\xe9\\x9b\\x1b\n"
