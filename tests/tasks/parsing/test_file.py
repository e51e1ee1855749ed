"""Parsers in model files."""

from __future__ import annotations

from typing import Any

import pytest

from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.parsing.file import put_together, take_apart
from parsimon.tasks.parsing.model import ParserModel
from toy_parser import learnt


@pytest.mark.parametrize("settings", [{}, {"relations": None}, {"projective": True}])
def test_there_and_back(settings: dict[str, Any]) -> None:
    model = learnt(**settings)
    again = parse_model(dump_model(model), kind=ParserModel)
    assert dump_model(again) == dump_model(model)
    assert (again.projective, again.single_root) == (model.projective, model.single_root)


@pytest.mark.parametrize("field", ["projective", "single_root"])
def test_what_trees_there_are_must_be_said(field: str) -> None:
    model = learnt()
    header, tensors = take_apart(model)
    with pytest.raises(ValueError, match="what trees there are"):
        put_together({**header, "info": {}, field: 1}, {**tensors, "weights": model.weights})
