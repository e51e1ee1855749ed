"""Solvers that cannot do what was asked for are refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--refit", "mira"], ["--refit", "--select"]),
        (["--budget", "3"], ["--budget", "--select"]),
        (["--solver", "mira"], ["mira", "hinge"]),
        (["--solver", "mira", "--loss", "hinge", "--tol", "0.1"], ["mira", "tolerance"]),
        (["--solver", "owlqn", "--group-lasso", "1"], ["owlqn", "by itself"]),
        (["--group-lasso", "-1"], ["-1"]),
    ],
)
def test_combinations_that_cannot_work_are_refused_before_reading(run, folder, options, words):
    (folder / "train.txt").write_text("")
    result = run(*training(folder, *options))
    assert result.exit_code == 2
    assert all(word in result.output for word in words), result.output
