"""`parsimon evaluate`: the same frame for every kind of model."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_one_shape_of_json(run: Any, trained: Any, folder: Any) -> None:
    result = run("evaluate", trained, folder / "test.txt", "--json")
    record = json.loads(result.stdout)
    assert list(record) == ["kind", "model", "data", "scores", "details"]
    assert (record["kind"], record["data"]) == ("sequence", str(folder / "test.txt"))
    assert all(isinstance(value, int | float) for value in record["scores"].values())


def test_text_is_the_kind_s_own(run: Any, trained: Any, folder: Any) -> None:
    result = run("evaluate", trained, folder / "test.txt")
    assert result.exit_code == 0
    assert result.stdout.startswith("processed ")


@pytest.mark.parametrize("option", [["--values", "v.csv"], ["--no-such-option"]])
def test_options_that_it_does_not_take(run: Any, trained: Any, folder: Any, option: list[str]) -> None:
    result = run("evaluate", trained, folder / "test.txt", *option)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
