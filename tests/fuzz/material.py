"""Small data and models of every kind, and checkpoints of their training, which attacks begin with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from every_kind import EXAMPLES
from parsimon.cli import program

MORE_MODELS = {
    "sequence-order-2": ("sequence", "train.txt", "-t", "a.tpl", "--order", "2", "--max-iter", "5"),
    "sequence-mira": (
        "sequence",
        "train.txt",
        "-t",
        "a.tpl",
        "--loss",
        "hinge",
        "--solver",
        "mira",
        "--max-iter",
        "3",
    ),
    "tree-siblings": ("tree", "trees.txt", "-t", "trees.tpl", "--siblings", "also", "--max-iter", "5"),
    "document-ridge": (
        "document",
        "train.tsv",
        "--values",
        "tf-idf",
        "--penalty",
        "ridge",
        "--max-iter",
        "5",
    ),
    "parser-projective": ("parser", "train.conllu", "--projective", "--relations", "none", "--max-iter", "1"),
}

# Trainings whose checkpoints are changed: the sequence learner with each sort of solver, and other kinds.
TRAININGS: dict[str, tuple[str, ...]] = {
    "log": ("sequence", "train.txt", "-t", "a.tpl", "--l1", "0.1", "--max-iter", "8"),
    "dev": ("sequence", "train.txt", "-t", "a.tpl", "--l1", "0.1", "--dev", "dev.txt", "--max-iter", "8"),
    "mira": (
        "sequence",
        "train.txt",
        "-t",
        "a.tpl",
        "--loss",
        "hinge",
        "--solver",
        "mira",
        "--max-iter",
        "5",
    ),
    "sgd": ("sequence", "train.txt", "-t", "a.tpl", "--solver", "sgd-l1", "--max-iter", "5"),
    "bcd": ("sequence", "train.txt", "-t", "a.tpl", "--solver", "bcd", "--l1", "0.1", "--max-iter", "5"),
    "parser": ("parser", "train.conllu", "--max-iter", "4", "-t", "arc.tpl"),
    "document": ("document", "train.tsv", "--l1", "0.05", "--max-iter", "8"),
}


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Commands name files of their folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def invoke(*arguments: str) -> None:
    """A command that must end well."""
    result = CliRunner().invoke(program, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, (arguments, result.output)


def write_data(folder: Path) -> None:
    """The data of every kind, all in one folder."""
    for example in EXAMPLES:
        example.write(folder)
    (folder / "dev.txt").write_text("w1 b\nw2 a\n\nw3 b\nw7 b\nw0 a\n")
    (folder / "arc.tpl").write_text("h.form+m.form\nh.upos+m.upos+dir\nm.upos+dist\n")


def write_models(folder: Path) -> None:
    """A model of every kind, as kind.model, and some others."""
    with inside(folder):
        for example in EXAMPLES:
            invoke("train", example.kind, *example.train, "-m", f"{example.kind}.model", "-q", *example.quick)
        for name, arguments in MORE_MODELS.items():
            invoke("train", *arguments, "-m", f"{name}.model", "-q")


def write_checkpoints(folder: Path) -> None:
    """A checkpoint from the middle of every training, as name.ckpt."""
    for name, arguments in TRAININGS.items():
        written: list[bytes] = []
        with (
            inside(folder),
            patch("parsimon.tasks.checkpoint.write_file", lambda path, content, w=written: w.append(content)),
        ):
            invoke("train", *arguments, "-m", "unused.model", "-q", "--checkpoint-every", "1e-9")
        (folder / f"{name}.ckpt").write_bytes(written[len(written) // 2])


def make(folder: Path) -> Path:
    """Everything, once in a folder."""
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_data(folder)
        write_models(folder)
        write_checkpoints(folder)
        (folder / "complete").touch()
    return folder
