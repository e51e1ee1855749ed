"""Importing Parsimon is cheap: what is heavy is loaded when it is first needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "numpy",
    "sklearn",
    "scipy",
    "rich",
    "pandas",
    "pooch",
    "safetensors",
    "highspy",
    "jinja2",
    "lxml",
    "matplotlib",
    "networkx",
)


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("module", ["parsimon", "parsimon.cli"])
def test_import_loads_nothing_heavy(module: str) -> None:
    assert not loaded_by(f"import {module}").intersection(HEAVY)


def test_the_check_would_notice() -> None:
    assert "sklearn" in loaded_by("from parsimon import SequenceLabeler; SequenceLabeler()")


def test_sequence_labelers_wait_for_scikit_learn() -> None:
    heavy = set(HEAVY) - {"numpy"}
    assert not loaded_by("from parsimon import SequenceLabeler, TreeLabeler").intersection(heavy)


def test_every_public_name_is_there() -> None:
    import parsimon

    assert set(parsimon.__all__) <= set(dir(parsimon))
    for name in parsimon.__all__:
        assert getattr(parsimon, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = parsimon.nothing


def test_prediction_loads_nothing_that_training_needs(tmp_path: Path) -> None:
    """Of the parts of the machine those that score and decode, and of the tasks that of the model."""
    (tmp_path / "train.txt").write_text("a X\nb Y\n\nb Y\na X\n")
    (tmp_path / "plain.tpl").write_text("U0:%x[0,0]\nB\n")
    command = [sys.executable, "-m", "parsimon.cli"]
    trained = [*command, "train", "sequence", "train.txt", "-m", "model", "-t", "plain.tpl", "-q"]
    subprocess.run(trained, cwd=tmp_path, check=True)
    predict = [sys.executable, "-X", "importtime", *command[1:], "predict", "model", "train.txt"]
    run = subprocess.run(predict, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines()}
    assert "parsimon.structures.chain" in loaded
    for part in ("losses", "penalties", "problem", "solvers", "selection"):
        assert not {name for name in loaded if name.startswith(f"parsimon.{part}.")} - {
            "parsimon.solvers.registry"
        }
    for task in ("pages", "documents", "parsing", "networks", "matrices"):
        assert f"parsimon.tasks.{task}" not in loaded
    assert not {name.split(".")[0] for name in loaded} & {"sklearn", "scipy", "rich", "pandas"}
