"""The public names of metrics: those of all kinds of models, and they count what they say."""

from __future__ import annotations

import pytest

from parsimon import metrics
from parsimon.tasks.pages import metrics as of_pages
from parsimon.tasks.parsing import metrics as of_parsers
from parsimon.tasks.sequences import metrics as of_sequences


@pytest.mark.parametrize("name", metrics.__all__)
def test_each_name_is_the_one_of_its_kind_of_model(name: str) -> None:
    (home,) = [m for m in (of_sequences, of_parsers, of_pages) if getattr(m, name, None) is not None]
    assert getattr(metrics, name) is getattr(home, name)
    assert getattr(metrics, name).__doc__


def test_they_count_what_they_say() -> None:
    gold, given = [["B-X", "I-X", "O", "B-Y"]], [["B-X", "I-X", "B-Y", "B-Y"]]
    assert metrics.token_accuracy(gold, given) == 0.75
    assert metrics.span_precision(gold, given) == pytest.approx(2 / 3)
    assert metrics.span_recall(gold, given) == 1.0
    assert metrics.span_f1(gold, given) == pytest.approx(0.8)
