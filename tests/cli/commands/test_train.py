"""What `parsimon train` does for every kind: what is written, said, logged, kept for resuming and refused."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from parsimon.tasks.model_file import load_model
from refusals import refused
from running_commands import fill_the_disk, lines_in, wait_for


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


def test_it_writes_a_model_and_says_what_came_of_it(run, folder):
    result = run(*training(folder, "--l1", 0.1))
    assert result.exit_code == 0, result.output
    model = load_model(folder / "a.model")
    facts = dict(line.split("  ", 1) for line in result.stdout.splitlines())
    assert facts.keys() == {"model", "features", "templates", "objective", "status", "time"}
    assert f"{len(model.weights)} of " in facts["features"]
    assert "a.model" in facts["model"]
    assert "bytes" in facts["model"] or "kB" in facts["model"]
    assert re.search(
        r"\(within [\d.e-]+% of the optimum, violations [\d.e-]+% of the strength\)", facts["objective"]
    )
    assert "converged" in facts["status"]
    assert result.stderr == ""


def test_quiet_says_nothing(run, folder):
    result = run(*training(folder, "--quiet"))
    assert (result.exit_code, result.output) == (0, "")
    assert load_model(folder / "a.model").labels


def test_json_is_one_object(run, folder):
    record = json.loads(run(*training(folder, "--json")).stdout)
    model = load_model(folder / "a.model")
    assert record["size"]["features"] == len(model.weights)
    assert record["size"]["candidate_features"] == model.info["candidate_features"]
    assert record["objective"] == model.info["objective"]
    assert record["status"] == "converged"
    assert record["bytes"] == (folder / "a.model").stat().st_size


def test_a_bound_that_is_not_known_is_null(run, folder, monkeypatch):
    from parsimon.tasks.training import Training

    finished = Training.finished
    monkeypatch.setattr(Training, "finished", lambda *given: replace(finished(*given), gap=math.inf))
    record = json.loads(run(*training(folder, "--json")).stdout, parse_constant=pytest.fail)
    assert record["gap"] is None
    assert record["kkt"] is not None


def test_float32_makes_a_smaller_file(run, folder):
    run(*training(folder))
    size = (folder / "a.model").stat().st_size
    run(*training(folder, "--dtype", "float32"))
    assert (folder / "a.model").stat().st_size < size


def test_a_development_set_is_scored(run, folder):
    result = run(*training(folder, "--dev", folder / "test.txt", "--log", folder / "log.jsonl"))
    assert result.exit_code == 0, result.output
    assert "\ndev " in result.stdout
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    scores = [e["dev"] for e in events if e["event"] == "iteration" and e["dev"] is not None]
    assert scores
    assert events[-1]["dev"] == max(scores)


def test_the_log_has_a_line_for_everything_that_happens(run, folder):
    run(*training(folder, "--log", folder / "log.jsonl"))
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    first, *events, last = lines
    assert first["event"] == "start"
    assert first["options"]["l1"] == 0.5
    assert first["resumed"] is False
    assert {e["event"] for e in events} == {"iteration"}
    assert [e["iteration"] for e in events] == list(range(len(events)))
    assert events[-1]["kkt"] is not None
    assert last["event"] == "end"
    assert last["objective"] == events[-1]["objective"]


def test_the_same_bytes_for_any_number_of_threads(run, folder, code):
    models = []
    for threads in (1, 2, 3):
        path = folder / f"{threads}.model"
        run("train", "sequence", code, "-m", path, "--n-jobs", threads, "--max-iter", 25, "-q")
        models.append(path.read_bytes())
    assert models[0] == models[1] == models[2]


def test_training_data_from_standard_input(shell, folder):
    with (folder / "train.txt").open("rb") as stream:
        done = shell(
            "train", "sequence", "-", "-t", folder / "small.tpl", "-m", folder / "a.model", stdin=stream
        )
    assert done.returncode == 0, done.stderr
    assert load_model(folder / "a.model").labels


def test_no_bar_when_not_a_terminal_and_lines_when_asked_for(shell, folder):
    assert shell(*training(folder)).stderr == b""
    lines = shell(*training(folder, "--verbose")).stderr.decode().splitlines()
    assert "reading" in lines[0]
    assert "making features" in lines[1]
    assert any("iteration 0: objective" in line for line in lines)


def test_a_bar_in_a_terminal(code, folder):
    master, terminal = pty.openpty()
    command = slow(code, folder / "a.model", "--dev", code, "--time-limit", 3)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    try:
        while block := os.read(master, 65536):
            shown += block
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(master)
    assert process.stdout is not None
    summary = process.stdout.read().decode()
    assert process.wait() == 0
    text = shown.decode()
    for word in ("training", "objective", "active", "dev", r"0:\d\d", "left"):
        assert re.search(word, text)
    assert "a.model" in summary
    assert "\x1b" not in summary


def slow(code: Path, model: Path, *more: object) -> list[str]:
    """Training that takes some seconds to converge, and keeps what it has all the time."""
    settings = ["--l2", "0.1", "--tol", "1e-6", "--checkpoint-every", "0.1"]
    command = [sys.executable, "-m", "parsimon.cli", "train", "sequence", code, "-m", model, *settings, *more]
    return [str(part) for part in command]


def test_kill_and_resume_reach_the_same_objective(code, tmp_path):
    whole, halved, log = tmp_path / "whole.model", tmp_path / "halved.model", tmp_path / "log.jsonl"
    subprocess.run(slow(code, whole, "-q"), check=True, timeout=300)

    process = subprocess.Popen(slow(code, halved, "--log", log))
    checkpoint = tmp_path / "halved.model.ckpt"
    wait_for(lambda: checkpoint.exists() and lines_in(log) > 20, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not halved.exists()
    killed_at = lines_in(log)

    done = subprocess.run(
        slow(code, halved, "--log", log, "--resume", "--json"), check=True, capture_output=True, timeout=300
    )
    assert done.stderr == b""
    assert json.loads(done.stdout)["status"] == "converged"
    assert load_model(halved).info["objective"] == pytest.approx(
        load_model(whole).info["objective"], rel=1e-8
    )
    assert not checkpoint.exists()

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) > killed_at
    starts = [(i, line) for i, line in enumerate(lines) if line["event"] == "start"]
    assert [line["resumed"] for _, line in starts] == [False, True]
    assert lines[starts[1][0] + 1]["iteration"] > 0
    assert lines[starts[1][0] + 1]["objective"] < lines[1]["objective"]


def test_ctrl_c_keeps_the_best_model_and_the_way_on(code, tmp_path, run):
    model, log = tmp_path / "a.model", tmp_path / "log.jsonl"
    process = subprocess.Popen(
        slow(code, model, "--log", log), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: lines_in(log) > 20, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the best model so far was written to" in stderr.decode()
    assert "--resume" in stderr.decode()
    assert "Traceback" not in stderr.decode()
    assert "interrupted" in stdout.decode()
    assert json.loads(log.read_text().splitlines()[-1])["status"] == "interrupted"
    assert (tmp_path / "a.model.ckpt").exists()
    scores = json.loads(run("evaluate", model, code, "--json").stdout)
    assert scores["scores"]["accuracy"] > 0.5

    again = subprocess.run(
        slow(code, model, "--resume", "--json"), capture_output=True, check=True, timeout=300
    )
    assert json.loads(again.stdout)["status"] == "converged"


def test_ctrl_c_while_reading(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "parsimon.cli", "train", "sequence", "-", "-m", str(folder / "a.model"), "-v"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert b"reading" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"no model was written" in stderr
    assert b"Traceback" not in stderr
    assert not (folder / "a.model").exists()


def test_resume_without_a_checkpoint_starts_from_the_beginning_and_says_so(run, folder):
    result = run(*training(folder, "--resume"))
    assert result.exit_code == 0
    assert "there is no checkpoint" in result.stderr
    assert "starts from the beginning" in result.stderr


def leave_a_checkpoint(run, folder: Path, monkeypatch) -> Path:
    """A run whose model could not be written."""
    with monkeypatch.context() as patch:
        fill_the_disk(patch)
        result = run(*training(folder))
    assert result.exit_code == 2
    assert "a.model cannot be written: No space left on device" in result.stderr
    assert "--resume goes on from" in result.stderr
    assert not (folder / "a.model").exists()
    return folder / "a.model.ckpt"


def test_a_full_disk_at_the_end_leaves_the_checkpoint(run, folder, monkeypatch):
    checkpoint = leave_a_checkpoint(run, folder, monkeypatch)
    assert checkpoint.exists()
    record = json.loads(run(*training(folder, "--resume", "--json")).stdout)
    assert record["status"] == "converged"
    assert not checkpoint.exists()


def test_a_full_disk_for_checkpoints_is_one_sentence_without_source(shell, folder, monkeypatch):
    script = (
        "import os, sys; from parsimon import files; from parsimon.cli import program\n"
        "before = files.write_atomically\n"
        "def full(path, content):\n"
        "    if str(path).endswith('.ckpt'): raise OSError(28, 'No space left on device')\n"
        "    before(path, content)\n"
        "files.write_atomically = full; program(sys.argv[1:])"
    )
    arguments = [str(each) for each in training(folder, "--checkpoint-every", "1e-9", "-q")]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    path = folder / "a.model.ckpt"
    said = f"parsimon: no checkpoint was kept: {path} cannot be written: No space left on device; nothing was changed."
    assert set(done.stderr.splitlines()) == {said}
    assert load_model(folder / "a.model").labels


def test_a_model_behind_a_link_is_replaced_with_its_permissions(run, folder):
    secret, link = folder / "secret.model", folder / "a.model"
    secret.touch()
    secret.chmod(0o600)
    link.symlink_to(secret.name)
    assert run(*training(folder)).exit_code == 0
    assert link.is_symlink()
    assert secret.stat().st_mode & 0o777 == 0o600
    assert load_model(secret).labels
    assert not [each for each in folder.iterdir() if each.name.startswith(".")]


def test_a_checkpoint_of_other_settings_is_refused(run, folder, monkeypatch):
    leave_a_checkpoint(run, folder, monkeypatch)
    result = run(*training(folder, "--l1", 3, "--resume"))
    assert result.exit_code == 2
    assert "belongs to other data, templates or settings" in result.stderr


def test_a_damaged_checkpoint_is_refused(run, folder):
    (folder / "a.model.ckpt").write_text("not a checkpoint")
    result = run(*training(folder, "--resume"))
    assert result.exit_code == 2
    assert "is not a checkpoint, or is damaged" in result.stderr


def test_a_forgotten_resume_is_mentioned(run, folder):
    (folder / "a.model.ckpt").write_text("of a run that did not finish")
    result = run(*training(folder))
    assert result.exit_code == 0
    assert "--resume would go on from it" in result.stderr


def test_no_checkpoint_when_not_wanted(run, folder):
    (folder / "a.model.ckpt").write_text("somebody else's")
    assert run(*training(folder, "--checkpoint-every", 0)).exit_code == 0
    assert (folder / "a.model.ckpt").read_text() == "somebody else's"


def test_a_log_that_fills_up_does_not_end_training(run, folder, monkeypatch):
    from parsimon.report import json_lines

    sound = json_lines._line
    monkeypatch.setattr(
        json_lines, "_line", lambda record: sound(record) if record["event"] == "start" else full()
    )

    def full():
        raise OSError(28, "No space left on device")

    result = run(*training(folder, "--log", folder / "log.jsonl"))
    assert result.exit_code == 0
    assert "log.jsonl is not complete: No space left on device" in result.stderr
    assert load_model(folder / "a.model").labels


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--l1", "-1"], ["--l1", "-1 is not a number, zero or more"]),
        (["--l2", "nan"], ["--l2", "nan is not a number, zero or more"]),
        (["--l1", "much"], ["--l1", "'much' is not a valid float"]),
        (["--tol", "0"], ["--tol", "above zero"]),
        (["--time-limit", "-5"], ["--time-limit", "above zero"]),
        (["--n-jobs", "0"], ["--n-jobs must be a whole number and not 0"]),
        (["--debias=-1"], ["-1"]),
        (["--solver", "lbfgs"], ["lbfgs needs a smooth penalty", "working-set"]),
        (["--solver", "magic"], ["--solver", "owlqn"]),
        (["--loss", "hinge", "--solver", "owlqn"], ["needs a smooth loss", "subgradient"]),
        (["--encoding", "klingon"], ["no encoding called 'klingon'", "utf-8"]),
        (["-t", "no-such-thing"], ["no template file 'no-such-thing'", "presets are", "words"]),
        (["--initial", "nothing.model"], ["nothing.model cannot be read"]),
        (["--dev", "nothing.txt"], ["nothing.txt cannot be read"]),
        (["-m", "-"], ["standard output"]),
    ],
    ids=lambda value: " ".join(value) if value and str(value[0]).startswith("-") else "",
)
def test_bad_options(run, folder, options, said):
    refused(run(*training(folder, *options)), *said)


def test_files_that_cannot_be_read(run, folder):
    refused(
        run("train", "sequence", folder / "nothing.txt", "-m", folder / "m"), "nothing.txt cannot be read"
    )
    refused(run("train", "sequence", folder, "-m", folder / "m"), "cannot be read", "directory")
    refused(run(*training(folder, "-t", folder)), "directory")


def test_a_limit_on_memory_that_is_no_size(run, folder):
    result = run(*training(folder, "--memory", "lots"))
    assert result.exit_code == 2
    assert "'lots' is not a size; give a number with a unit" in result.stderr


# --- Options that do nothing, and data that are the same ----------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (
            ["--groups", "label"],
            "--groups is about groups that are kept or dropped; add --group-lasso STRENGTH",
        ),
        (["--patience", 3], "--patience is about development data; add --dev"),
        (["--dev-tolerance", 0.1], "--dev-tolerance is about development data; add --dev"),
        (["--budget", 3], "--budget is about choosing templates; add --select"),
        (["--refit", "mira"], "--refit is about choosing templates; add --select"),
        (["--select-epochs", 3], "--select-epochs is about choosing templates by a perceptron"),
        (["--select", "group-lasso", "--select-epochs", 3], "add --select sparseptron, or leave it out"),
        (["--l1-ball", 3, "--l1", 1], "--l1-ball takes the place of --l1; leave one of them out"),
        (["--kl-norm", 3, "--l2", 1], "--kl-norm takes the place of --l2; leave one of them out"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, folder, flags, sentence):
    refused(run(*training(folder, *flags)), sentence)
    assert not (folder / "a.model").exists()


def test_the_same_options_are_fine_where_they_do_something(run, folder):
    result = run(*training(folder, "--group-lasso", 0.1, "--groups", "label", "-q"))
    assert (result.exit_code, result.output) == (0, "")
    result = run(*training(folder, "--dev", folder / "test.txt", "--patience", 3, "-q"))
    assert (result.exit_code, result.output) == (0, "")


def test_a_budget_that_is_no_limit_is_said(run, folder):
    choose = ["--select", "information-gain", "-q"]
    result = run(*training(folder, *choose, "--budget", 9))
    assert result.exit_code == 0
    assert result.stderr == (
        "parsimon: --budget 9 is no limit, as there are only 4 templates to choose from; give a smaller number.\n"
    )
    assert run(*training(folder, *choose, "--budget", 3)).stderr == ""


def test_a_choice_among_nothing_is_refused(run, folder):
    (folder / "small.tpl").write_text("B\n")
    refused(run(*training(folder, "--select", "sparseptron")), "there are no templates to choose from")


def test_development_data_that_are_learnt_from_are_said(run, folder):
    (folder / "copy.txt").write_bytes((folder / "train.txt").read_bytes())
    for name in ("train.txt", "copy.txt"):
        result = run(*training(folder, "--dev", folder / name, "-q"))
        assert result.exit_code == 0
        assert f"{name} is what is learnt from, so its score cannot tell when to stop" in result.stderr
    assert run(*training(folder, "--dev", folder / "test.txt", "-q")).stderr == ""


def test_warnings_of_other_packages_stay_what_they_are(run, folder, monkeypatch):
    import warnings

    from parsimon.cli.options import warnings_said

    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with warnings_said([]):
        warnings.warn("somebody else's", DeprecationWarning, stacklevel=1)
    assert shown == ["somebody else's"]


def test_the_same_warning_is_said_once(capsys):
    from parsimon.cli.options import warnings_said
    from parsimon.errors import warn

    with warnings_said([]):
        for _ in range(3):
            warn("once is enough.")
    assert capsys.readouterr().err == "parsimon: once is enough.\n"


@pytest.mark.parametrize("kind", ["parser", "network"])
def test_kinds_without_a_choice_of_strengths_name_those_that_have_one(run, folder, kind):
    result = run("train", kind, folder / "train.txt", "-m", folder / "a.model", "--tune")
    refused(result, "--tune is for a sequence model,", "a document model or a matrix model, not for a ")
    refused(run("train", kind, folder / "train.txt", "--never"), "No such option")


def test_l1_chooses_itself(run, folder):
    result = run(*training(folder, "--tune", "--folds", "2", "--tune-plot", folder / "a.png", "--json"))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["files"] == {"plot": str(folder / "a.png")}
    chosen = load_model(folder / "a.model").info["tuning"]["chosen"]
    assert chosen["l1"] == load_model(folder / "a.model").info["l1"]
    shown = run("inspect", folder / "a.model").stdout
    assert f"strengths  l1 {chosen['l1']:g}, l2 1e-05: of " in shown
    refused(
        run(*training(folder, "--tune", "--l1", "0.7")),
        "--tune chooses l1, so --l1 0.7 would make no difference",
    )
