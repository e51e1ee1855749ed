"""A small task, a model of it, and two ways to run commands: in this process, and as a user's shell would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from parsimon.cli import program

TEMPLATES = """\
# words and tags around each token
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[0,1]
U03:%x[-1,1]/%x[0,1]
B
"""

SENTENCES = [
    "The/DT/B-NP big/JJ/I-NP dog/NN/I-NP barks/VBZ/B-VP",
    "A/DT/B-NP cat/NN/I-NP saw/VBD/B-VP the/DT/B-NP dog/NN/I-NP in/IN/B-PP Paris/NNP/B-NP ././O",
    "She/PRP/B-NP has/VBZ/B-VP seen/VBN/I-VP it/PRP/B-NP today/NN/B-NP ././O",
    "Dogs/NNS/B-NP of/IN/B-PP Rome/NNP/B-NP sleep/VBP/B-VP ././O",
    "The/DT/B-NP old/JJ/I-NP man/NN/I-NP saw/VBD/B-VP her/PRP/B-NP",
    "It/PRP/B-NP rains/VBZ/B-VP in/IN/B-PP the/DT/B-NP old/JJ/I-NP town/NN/I-NP ././O",
]


def columns(sentences: Sequence[str], separator: str = " ") -> str:
    return "".join(
        "".join(separator.join(token.split("/")) + "\n" for token in s.split()) + "\n" for s in sentences
    )


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs a command in this process."""

    def invoke(*arguments: Any) -> Result:
        return CliRunner().invoke(program, [str(a) for a in arguments])

    return invoke


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command as a process of its own."""

    def invoke(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "parsimon", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, check=False, timeout=300, **options)

    return invoke


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with training data, templates and data without labels."""
    (tmp_path / "train.txt").write_text(columns(SENTENCES * 4))
    (tmp_path / "test.txt").write_text(columns(SENTENCES[:3]))
    bare = [" ".join(token.rsplit("/", 1)[0] for token in s.split()) for s in SENTENCES[:3]]
    (tmp_path / "new.txt").write_text(columns(bare))
    (tmp_path / "small.tpl").write_text(TEMPLATES)
    return tmp_path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the small task."""
    place = tmp_path_factory.mktemp("trained")
    (place / "train.txt").write_text(columns(SENTENCES * 4))
    (place / "small.tpl").write_text(TEMPLATES)
    model = place / "small.model"
    arguments = [
        "train",
        "sequence",
        place / "train.txt",
        "-t",
        place / "small.tpl",
        "-m",
        model,
        "--l1",
        0.1,
    ]
    result = CliRunner().invoke(program, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return model


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled Python source: enough to learn from for some seconds."""
    from parsimon.data import load_python_code

    path = tmp_path_factory.mktemp("code") / "code.txt"
    load_python_code(6, max_tokens=6000).write(path)
    return path
