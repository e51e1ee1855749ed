"""Readers of pages in model files."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.pages.file import put_together, take_apart
from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.trees.model import TreeModel
from toy_pages import learnt


def test_there_and_back() -> None:
    model = learnt()
    assert dump_model(parse_model(dump_model(model), kind=PageModel)) == dump_model(model)
    parse_model(dump_model(model), kind=TreeModel)  # which it is, too
    parse_model(dump_model(model), kind=SequenceModel)


def test_kinds_of_nodes_must_be_there() -> None:
    model = learnt()
    header, tensors = take_apart(model)
    with pytest.raises(ValueError, match="kinds of nodes"):
        put_together({**header, "info": {}, "node_kinds": None}, {**tensors, "weights": model.weights})


def test_another_kind_is_refused() -> None:
    from toy_trees import learnt as tree

    with pytest.raises(ParsimonError, match="is a tree model, but a page model is needed"):
        parse_model(dump_model(tree()), "m", kind=PageModel)
