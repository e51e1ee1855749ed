"""What goes wrong: a sentence, an exit code and no traceback."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest


def test_a_closed_pipe_is_no_trouble(trained, folder):
    (folder / "new.txt").write_text((folder / "new.txt").read_text() * 50_000)
    command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained), str(folder / "new.txt")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"The DT\tB-NP\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141
    process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "sequence", "x.txt"], "Missing option '-m' / '--model'"),
        (["predict"], "Missing argument 'MODEL'"),
        (["inspect", "m", "--top", "many"], "'many' is not a valid integer"),
        (["inspect", "m", "--frobnicate"], "No such option"),
    ],
)
def test_usage_errors_are_one_sentence_and_a_hint(run, arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    first, second = result.stderr.splitlines()
    assert first.startswith("parsimon: ")
    assert said in first
    assert second.startswith("Try 'program") or second.startswith("Try 'parsimon")
    assert "--help" in second


def test_a_warning_is_a_sentence(run, monkeypatch):
    from parsimon.cli.commands import presets

    monkeypatch.setattr(
        presets.presets, "callback", lambda **_: warnings.warn("something is off", stacklevel=1)
    )
    result = run("presets")
    assert result.exit_code == 0
    assert result.stderr == "parsimon: something is off.\n"


def test_a_sentence_about_hostile_input_is_one_short_line(run, folder):
    name = "no\x1b[2Jsuch\nfile\u202e"
    result = run("inspect", folder / name)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert r"no\x1b[2Jsuch\nfile\u202e cannot be read" in result.stderr
    (folder / "long.tpl").write_text("U:%x" + "y" * 9000)
    result = run(
        "train", "sequence", folder / "train.txt", "-t", folder / "long.tpl", "-m", folder / "a.model"
    )
    assert result.exit_code == 2
    assert len(result.stderr) < 2100
    assert "yyy … " in result.stderr
