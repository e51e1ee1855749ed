"""Files of tree models: what sequences have, and what is known of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from damaged_headers import refused, survives_any_header
from parsimon.tasks.model_file import dump_model, parse_model
from toy_trees import model, trees


@pytest.mark.parametrize("settings", [{}, {"kind_column": 0}, {"siblings": "also"}], ids=str)
def test_there_and_back(settings: dict[str, Any]) -> None:
    there = replace(model(**settings), parent_column=3)
    back = parse_model(dump_model(there))
    assert dump_model(back) == dump_model(there)
    assert back.parent_column == 3
    assert (back.node_kinds is None) == (there.node_kinds is None)
    assert (back.below is None) == (there.below is None)
    X = there.limited(trees(10, seed=1)[0])
    assert np.array_equal(back.predict_columns(X).ids, there.predict_columns(X).ids)


@pytest.mark.parametrize("settings", [{"kind_column": 0}, {"siblings": "also"}], ids=str)
def test_wrong_headers_and_missing_arrays(settings: dict[str, Any]) -> None:
    survives_any_header(model(**settings))


@pytest.mark.parametrize("wrong", [-1, True, 1.5, "0"])
def test_the_column_of_parents_is_a_number(wrong: Any) -> None:
    assert "the column of parents must be a number" in refused(
        model(), lambda h, t: h.update(parent_column=wrong)
    )


@pytest.mark.parametrize(
    "wrong", [[], [[0]], [[9], [], [], [], [], []], [["0"], [], [], [], [], []], "abcdef", [1] * 6]
)
def test_labels_below_that_cannot_be(wrong: Any) -> None:
    assert "damaged" in refused(model(siblings="also"), lambda h, t: h.update(below=wrong))
