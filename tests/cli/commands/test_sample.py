"""`parsimon sample`: rows drawn from a network."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from every_kind import write_survey
from refusals import refused


@pytest.fixture
def model(run: Any, tmp_path: Path) -> Path:
    write_survey(tmp_path)
    path = tmp_path / "survey.model"
    result = run("train", "network", tmp_path / "survey.csv", "-m", path, "-q")
    assert result.exit_code == 0, result.output
    return path


def test_sample(run: Any, model: Path, tmp_path: Path) -> None:
    result = run("sample", model, "-n", 300, "--random-state", 3)
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(result.stdout.splitlines()))
    assert rows[0] == ["smoker", "cough", "asthma", "region"]
    assert len(rows) == 301
    assert {row[3] for row in rows[1:]} == {"n", "s", "w"}
    agree = np.mean([row[0] == row[1] for row in rows[1:]])
    assert agree > 0.7
    assert run("sample", model, "-n", 300, "--random-state", 3).stdout == result.stdout
    assert run("sample", model, "-n", 300, "--random-state", 4).stdout != result.stdout
    target = tmp_path / "made.csv"
    assert run("sample", model, "-n", 5, "--given", "smoker=yes", "-o", target).exit_code == 0
    assert all(line.startswith("yes,") for line in target.read_text().splitlines()[1:])
    refused(run("sample", model, "--given", "smoker"), "write COLUMN=STATE")
    refused(
        run("sample", model, "--given", "smoker=maybe"),
        "'maybe' is not a state of 'smoker', which has 'no', 'yes'",
    )
    refused(run("sample", model, "--given", "smok=yes"), "did you mean 'smoker'?")


def test_only_networks_can_be_drawn_from(run: Any, trained: Path) -> None:
    refused(run("sample", trained), "is a sequence model, but a network model is needed here")
