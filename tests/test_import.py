"""Importing Parsimon is cheap: what is heavy is loaded when it is first needed."""

from __future__ import annotations

import subprocess
import sys

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
    assert "sklearn" in loaded_by("from parsimon import SequenceLabeler")


def test_every_public_name_is_there() -> None:
    import parsimon

    assert set(parsimon.__all__) <= set(dir(parsimon))
    for name in parsimon.__all__:
        assert getattr(parsimon, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = parsimon.nothing
