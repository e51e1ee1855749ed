"""Scores of extracted records."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.pages.metrics import score_records


def test_scores_of_records() -> None:
    gold = [{"a": ["1", "2"], "b": ["x"]}, {"a": ["3"]}, {"a": [], "b": ["y"]}]
    scores = score_records(gold, [{"a": ["2", "1", "1"], "b": ["x"]}, {"a": ["4"], "c": ["z"]}, {"b": ["y"]}])
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx({"a": 2 * 2 / 6, "b": 1.0, "c": 0.0})
    assert scores.average_f1 == pytest.approx((2 / 3 + 1.0 + 0.0) / 3)
    assert score_records([], []).accuracy == score_records([], []).average_f1 == 0.0
    with pytest.raises(ParsimonError, match="3 records but predictions for 0"):
        score_records(gold, [])
