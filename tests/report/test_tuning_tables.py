"""How strengths were chosen, for people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from parsimon.errors import ParsimonError
from parsimon.report.figure_file import save_figure
from parsimon.report.tuning_tables import draw_tuning, path_of, tuning_facts, tuning_table


def tried(l1: float, l2: float, score: float, size: float, error: float | None = 0.01) -> dict[str, Any]:
    return {"strengths": {"l1": l1, "l2": l2}, "score": score, "error": error, "size": size}


TUNING: dict[str, Any] = {
    "tried": [
        tried(4, 4, 0.5, 1),
        tried(2, 2, 0.7, 9),
        tried(1, 1, 0.6, 20),
        tried(4, 40, 0.5, 2),
        tried(2, 20, 0.8, 1200),
    ],
    "chosen": {"l1": 2, "l2": 20},
    "rule": "best",
    "folds": 5,
}


def test_facts() -> None:
    assert tuning_facts({"tuning": TUNING}) == [
        ("strengths", "l1 2, l2 20: of 5 tried on 5 folds, score 80.00% (± 1.00%)")
    ]
    dev = {**TUNING, "folds": None, "rule": "one-standard-error", "tried": [tried(2, 20, -3.25, 7, None)]}
    assert tuning_facts({"tuning": dev}) == [
        (
            "strengths",
            "l1 2, l2 20: of 1 tried on development data, the smallest within one standard error, score -3.25",
        )
    ]
    assert tuning_facts({}) == []
    assert tuning_table({}) == ""


def test_the_table_is_of_the_path_that_was_chosen() -> None:
    assert tuning_table({"tuning": TUNING}).splitlines() == [
        "   strengths     score      ±  weights",
        "   l1 4, l2 40  50.00%  1.00%        2",
        "*  l1 2, l2 20  80.00%  1.00%    1,200",
    ]
    long = [tried(2.0**-k, 1.0, k / 50, k) for k in range(30)]
    table = tuning_table({"tuning": {**TUNING, "tried": long, "chosen": long[25]["strengths"]}})
    assert len(table.splitlines()) == 13
    assert "*" in table


def test_paths_of_different_strengths_are_told_apart() -> None:
    ridge = {**tried(1, 1, 0.9, 30), "strengths": {"l2": 0.5, "l1": 0.0}}
    tuning = {**TUNING, "tried": [*TUNING["tried"], ridge], "chosen": ridge["strengths"]}
    assert path_of(tuning) == [ridge]


def test_the_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    save_figure(draw_tuning(TUNING), tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParsimonError, match="drawing strengths needs matplotlib"):
        draw_tuning(TUNING)
