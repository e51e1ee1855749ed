"""What `parsimon train` does for every kind, tried for every kind: limits, logs, summaries, kills, Ctrl-C, memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from every_kind import EXAMPLES, Example
from parsimon.tasks.kinds import kinds
from parsimon.tasks.model_file import load_model
from refusals import refused
from running_commands import lines_in, wait_for

SUMMARY = {
    *("kind", "model", "bytes", "status", "message", "objective", "kkt", "gap", "support"),
    *("size", "dev", "dev_iteration", "iterations", "seconds", "files", "too_strong"),
}
BEGINNING = {
    *("event", "parsimon", "resumed", "kind", "train", "dev", "model", "options", "command_line"),
}


@pytest.fixture(params=EXAMPLES, ids=lambda each: each.kind)
def example(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Example:
    """A kind, in a folder with its data."""
    chosen: Example = request.param
    chosen.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return chosen


def started(example: Example, *more: object) -> subprocess.Popen[bytes]:
    """A training without an end, as a process of its own, that has learnt something."""
    command = [sys.executable, "-m", "parsimon", *example.forever(*more)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: Path("a.model.ckpt").exists() and lines_in(Path("log.jsonl")) > 2, process)
    return process


def log() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]


def test_there_is_an_example_of_every_kind() -> None:
    assert [each.kind for each in EXAMPLES] == [kind.name for kind in kinds()]


def test_the_summary_and_the_log_have_the_same_shape(run: Any, example: Example) -> None:
    result = run(*example.arguments("--json", "--log", "log.jsonl"))
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record.keys() == SUMMARY
    assert (record["kind"], record["model"]) == (example.kind, "a.model")
    assert record["bytes"] == os.path.getsize("a.model")
    assert all(value is None or isinstance(value, int | float | str) for value in record["size"].values())
    first, *events, last = log()
    assert first.keys() == BEGINNING
    assert (first["event"], first["kind"], first["train"]) == ("start", example.kind, example.train[0])
    assert "time_limit" in first["options"]
    assert "separator" not in first["options"]
    assert {"iteration", "seconds", "objective", "active"} <= events[0].keys()
    assert {name: last[name] for name in SUMMARY} == {**record, "seconds": last["seconds"]}


def test_people_are_told_the_same(run: Any, example: Example) -> None:
    lines = run(*example.arguments()).stdout.splitlines()
    told = [line.split("  ")[0] for line in lines]
    assert told[0] == "model"
    assert {"status", "time"} <= set(told)


TOO_STRONG = {
    "parser": ("--loss", "log", "--solver", "auto", "--l1", "1e6"),
    "network": ("--alpha", "1e6"),
    "matrix": ("--alpha", "1e6"),
}


def test_a_strength_that_leaves_nothing_is_said_with_the_largest_that_does_not(
    run: Any, example: Example
) -> None:
    flags = TOO_STRONG.get(example.kind, ("--l1", "1e6"))
    result = run(*example.arguments(*flags))
    assert result.exit_code == 0, result.output
    *_, flag, _ = flags
    warning = f"{flag} 1e+06 is too strong, as it drops everything from {flag} "
    assert warning in result.stderr
    assert result.stderr.count("\n") == 1
    limit = result.stderr.partition(warning)[2].split()[0]
    assert f"nothing is kept from {flag} {limit} on" in result.stdout
    record = json.loads(run(*example.arguments(*flags, "--json")).stdout)
    assert record["too_strong"]["limit"] == pytest.approx(float(limit), rel=1e-3)
    weaker = run(*example.arguments(*flags[:-1], 0.9 * float(limit)))
    assert weaker.stderr == ""
    assert "too strong" not in weaker.stdout


def test_inspect_and_evaluate_have_one_shape(run: Any, example: Example) -> None:
    assert run(*example.arguments("-q")).output == ""
    inspected = json.loads(run("inspect", "a.model", "--json").stdout)
    assert inspected.keys() == {"kind", "model", "bytes", "size", "training", "details", "history"}
    assert inspected["kind"] == example.kind
    if example.test:
        result = run("evaluate", "a.model", *example.test, "--json")
        evaluated = json.loads(result.stdout)
        assert evaluated.keys() == {"kind", "model", "data", "scores", "details"}
        assert all(isinstance(value, int | float) for value in evaluated["scores"].values())
        assert evaluated["data"] == example.test[0]


def test_a_time_limit(run: Any, example: Example) -> None:
    result = run(*example.forever("--time-limit", "0.7", "--json"))
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["status"] == "time"
    assert record["seconds"] < 20
    assert load_model("a.model").kind == example.kind
    assert not Path("a.model.ckpt").exists()


def test_a_killed_run_is_resumed(run: Any, example: Example) -> None:
    process = started(example)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not Path("a.model").exists()
    killed_at = lines_in(Path("log.jsonl"))
    result = run(*example.forever("--resume", "--time-limit", "0.01", "--json"))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert load_model("a.model").kind == example.kind
    assert not Path("a.model.ckpt").exists()
    resumed = [line for line in log()[killed_at - 1 :] if line["event"] == "start"]
    assert [line["resumed"] for line in resumed] == [True]
    assert json.loads(result.stdout)["iterations"] >= 1


def test_ctrl_c_keeps_the_best_model_and_the_way_on(run: Any, example: Example) -> None:
    process = started(example)
    process.send_signal(signal.SIGINT)
    stdout, stderr = (text.decode() for text in process.communicate(timeout=120))
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "the same command with --resume goes on from a.model.ckpt" in stderr
    if "no model was written" not in stderr:  # Ctrl-C in a stage that leaves none
        assert "the best model so far was written to a.model" in stderr
        assert "interrupted" in stdout
        assert log()[-1]["status"] == "interrupted"
        assert load_model("a.model").kind == example.kind
    result = run(*example.forever("--resume", "--time-limit", "0.01", "-q"))
    assert (result.exit_code, result.output) == (0, "")
    assert not Path("a.model.ckpt").exists()


def test_other_settings_are_not_resumed(run: Any, example: Example) -> None:
    process = started(example)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    other = ("--alpha", "7") if example.kind in ("network", "matrix") else ("--l2", "7")
    result = run(*example.forever("--resume", *other))
    refused(result, "a.model.ckpt", "belongs to other data, templates or settings")


def test_too_little_memory(example: Example) -> None:
    command = [sys.executable, "-m", "parsimon", *example.arguments("--memory", "1M")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("parsimon: the limit is 1 MB of memory, but the program and the data take ")
    assert not Path("a.model").exists()


def test_progress_in_plain_lines(shell: Any, example: Example, tmp_path: Path) -> None:
    lines = shell(*example.arguments("-v", "-j", "1"), cwd=tmp_path).stderr.decode().splitlines()
    assert f"reading {Path(example.train[0]).name}" in lines[0]
    assert any("iteration 0: objective" in line for line in lines)
    assert "writing a.model" in lines[-1]
