"""The program as a whole: its help, its version, and how little it imports."""

from __future__ import annotations

import pytest

from loaded import loaded_by
from parsimon import __version__
from parsimon.tasks.kinds import kinds

COMMANDS = [
    [],
    ["train"],
    ["predict"],
    ["evaluate"],
    ["inspect"],
    ["explain"],
    *[["train", kind.name] for kind in kinds()],
    ["sample"],
    ["presets"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_page(run, command):
    for flag in ("-h", "--help"):
        result = run(*command, flag)
        assert result.exit_code == 0
        assert "Usage:" in result.stdout


def test_version(run):
    assert run("--version").stdout == f"parsimon {__version__}\n"


def test_a_group_without_a_command_shows_its_help(run):
    result = run("train")
    assert result.exit_code == 2
    assert "sequence" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["train", "sequence", "--help"],
        ["train", "document", "--help"],
        ["train", "network", "--help"],
        ["sample", "--help"],
        ["explain", "-h"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments):
    heavy = loaded_by(arguments) & {"numpy", "scipy", "sklearn", "rich", "safetensors", "parsimon._core"}
    assert heavy == set()


def test_commands_import_neither_scikit_learn_nor_rich(folder, trained):
    training = ["train", "sequence", folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "m"]
    for arguments in (
        training,
        ["predict", trained, folder / "new.txt"],
        ["evaluate", trained, folder / "test.txt"],
        ["inspect", trained],
    ):
        assert (
            loaded_by([str(a) for a in arguments]) & {"sklearn", "scipy", "rich", "pandas", "pooch"} == set()
        )
