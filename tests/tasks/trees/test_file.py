"""Labellers of trees in model files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.trees.file import put_together, take_apart
from parsimon.tasks.trees.model import TreeModel
from toy_trees import learnt


@pytest.mark.parametrize("settings", [{}, {"siblings": "also"}, {"kind_column": 0}])
def test_there_and_back(settings: dict[str, Any]) -> None:
    model = replace(learnt(**settings), parent_column=2)
    again = parse_model(dump_model(model), kind=TreeModel)
    assert dump_model(again) == dump_model(model)
    assert again.parent_column == 2
    assert (again.node_kinds is None) == (model.node_kinds is None)
    assert (again.below is None) == (model.below is None)


@pytest.mark.parametrize("column", [-1, "0", True, 1.5])
def test_a_column_of_parents_that_cannot_be(column: object) -> None:
    header, tensors = take_apart(learnt())
    model = learnt()
    whole = {**header, "info": {}, "parent_column": column}
    with pytest.raises(ValueError, match="column of parents"):
        put_together(whole, {**tensors, "weights": model.weights})
