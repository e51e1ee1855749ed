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

# Trainings of every kind, whose models and checkpoints are changed. A name begins with the kind.
TRAININGS: dict[str, str] = {
    "sequence": "--l1 0.1",
    "sequence-lbfgs": "--l1 0 --solver lbfgs",
    "sequence-bcd": "--l1 0.1 --solver bcd --max-iter 8",
    "sequence-sgd": "--solver sgd-l1 --max-iter 6",
    "sequence-mira": "--loss hinge --l1 0 --l2 0 --solver mira --max-iter 6",
    "sequence-order-2": "--l1 0.1 --order 2 --max-iter 8",
    "sequence-dev": "--l1 0.1 --dev dev.txt",
    "sequence-groups": "--group-lasso 0.1",
    "sequence-gain": "--l1 0.1 --select information-gain --budget 1",
    "sequence-sparseptron": "--select sparseptron --budget 1 --loss hinge --l1 0 --l2 0 --solver mira --max-iter 6",
    "sequence-growth": "--l1 0.1 --grow more.tpl:2",
    "sequence-debias": "--l1 0.5 --debias 0.1",
    "tree": "--l1 0.1",
    "tree-siblings": "--siblings also --max-iter 8",
    "page": "--l1 0.1",
    "document": "--l1 0.05",
    "document-lasso": "--penalty lasso --l1 0.05 --values tf-idf",
    "document-ridge": "--penalty ridge --values tf-idf --max-iter 8",
    "document-sentences": "--l1 0.01 --sentence-strength 0.1",
    "parser": "--max-iter 4",
    "parser-templates": "--max-iter 4 -t arc.tpl",
    "parser-projective": "--max-iter 4 --projective --relations none",
    "network": "--alpha 5",
    "network-ebic": "--alpha ebic --n-alphas 4",
    "network-folds": "--alpha cv --cv 2 --n-alphas 4",
    "network-stability": "--alpha 5 --stability 3",
    "matrix": "",
}


def training(name: str) -> list[str]:
    """The arguments of a training, but for the model."""
    kind = name.partition("-")[0]
    data = next(example.train for example in EXAMPLES if example.kind == kind)
    return ["train", kind, *data, *TRAININGS[name].split()]


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
    words = "1\tw\t_\tN\t_\t_\t2\tx\t_\t_\n2\tv\t_\tV\t_\t_\t0\troot\t_\t_\n3\tx\t_\tN\t_\t_\t2\ty\t_\t_\n\n"
    (folder / "dev.conllu").write_text("# text = w v x\n" + words)
    (folder / "more.tpl").write_text("U9:%x[-1,0]/%x[0,0]\n")
    (folder / "arc.tpl").write_text("h.form+m.form\nh.upos+m.upos+dir\nm.upos+dist\n")


def write_models(folder: Path) -> None:
    """A model of every training as name.model, and its first, middle and last checkpoint as name.0.ckpt, …"""
    for name in TRAININGS:
        written: list[bytes] = []
        with (
            inside(folder),
            patch("parsimon.tasks.checkpoint.write_file", lambda path, content, w=written: w.append(content)),
        ):
            invoke(*training(name), "-m", f"{name}.model", "-q", "--checkpoint-every", "1e-9")
        for i, content in enumerate((written[0], written[len(written) // 2], written[-1])):
            (folder / f"{name}.{i}.ckpt").write_bytes(content)


def make(folder: Path) -> Path:
    """Everything, in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder)
    write_models(folder)
    return folder
