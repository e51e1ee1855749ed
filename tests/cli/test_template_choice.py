"""Choosing templates before a model is learnt, as flags ask for it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from parsimon.tasks.model_file import load_model
from running_commands import lines_in, wait_for


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


@pytest.mark.parametrize("refit", ["crf", "mira", "hinge", "perceptron"])
def test_templates_are_chosen_and_the_rest_refitted(run, folder, refit):
    options = [
        "--select",
        "sparseptron",
        "--budget",
        2,
        "--select-epochs",
        3,
        "--refit",
        refit,
        "--max-iter",
        5,
    ]
    result = run(*training(folder, *options))
    assert result.exit_code == 0, result.output
    model = load_model(folder / "a.model")
    assert len(model.space.templates) <= 3  # two, and the label bigram
    assert model.info["candidate_templates"] == 5
    assert model.info["loss"] == {"crf": "log", "mira": "hinge"}.get(refit, refit)
    assert model.info["selection"]["name"] == "sparseptron"
    assert "of 5" in result.output


@pytest.mark.parametrize("select", ["information-gain", "group-lasso"])
def test_other_ways_to_choose_templates(run, folder, select):
    assert run(*training(folder, "--select", select, "--budget", 2)).exit_code == 0
    assert load_model(folder / "a.model").info["selection"]["name"] == select


def test_what_is_chosen_and_learnt_by_epochs_resumes_to_the_same_model(code, tmp_path):
    whole, halved, log = tmp_path / "whole.model", tmp_path / "halved.model", tmp_path / "log.jsonl"
    two_stages = ["--select", "sparseptron", "--budget", 5, "--refit", "mira", "--max-iter", 60]

    def training(model: Path, *more: object) -> list[str]:
        command = [sys.executable, "-m", "parsimon.cli", "train", "sequence", code, "-m", model, *two_stages]
        return [str(part) for part in (*command, "--checkpoint-every", 0.001, *more)]

    subprocess.run(training(whole, "-q"), check=True, timeout=300)
    process = subprocess.Popen(training(halved, "--log", log, "-q"))
    wait_for(lambda: (tmp_path / "halved.model.ckpt").exists() and lines_in(log) > 10, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not halved.exists()

    subprocess.run(training(halved, "--log", log, "-q", "--resume"), check=True, timeout=300)
    assert halved.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "halved.model.ckpt").exists()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (second,) = [i for i, line in enumerate(lines) if line["event"] == "start" and line["resumed"]]
    assert lines[second + 1]["iteration"] > 0  # nothing was chosen again
