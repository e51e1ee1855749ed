"""Options that all kinds share: declared once, and told of in docs/vocabulary.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from parsimon.cli import program
from parsimon.cli.commands.train import pace_record, result_record
from parsimon.solvers import Result, Status, Weights
from parsimon.tasks import options
from parsimon.tasks.options import Option, options_of

PAGE = (Path(__file__).parents[1] / "docs" / "vocabulary.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the page."""
    (part,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def shared() -> dict[str, Option]:
    """All options that are declared for several kinds."""
    classes = [each for _, each in inspect.getmembers(options, inspect.isclass) if each.__name__ != "Option"]
    mine = [each for each in classes if each.__module__ == options.__name__]
    return {name: told for each in mine for name, told in options_of(each).items()}


def test_the_page_has_exactly_the_shared_options() -> None:
    names = [row[0].strip("`") for row in rows("Options of training")]
    assert len(names) == len(set(names))
    assert set(names) == set(shared())


def test_the_page_has_their_flags() -> None:
    for name, told in shared().items():
        (cell,) = [row[1] for row in rows("Options of training") if row[0] == f"`{name}`"]
        if told.from_python_only:
            assert cell == "Python only"
            continue
        for flag in told.flags or (f"--{name.replace('_', '-')}",):
            assert re.search(rf"`{flag}[ `]", cell), (name, cell)


def test_options_of_prediction_are_those_of_predict_and_evaluate() -> None:
    names = {row[0].strip("`") for row in rows("Options of prediction")}
    for command in ("predict", "evaluate"):
        assert names <= {each.name for each in program.commands[command].params}


def test_keys_of_results() -> None:
    told = {key for row in rows("Results") for key in re.findall(r"`(\w+)`", row[0])}
    result = Result(Weights.zeros(1), Status.CONVERGED, 1.0)
    keys = {*result_record(result), *pace_record([], 1.0), "size"}
    assert told <= keys
    assert keys - told == {"dev_iteration", "iterations", "seconds"}
