"""Training of labellers of trees."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.training import TreeTraining
from toy_trees import data, learnt, space


@pytest.mark.parametrize("siblings", [None, "instead", "also"])
def test_it_learns_what_parents_tell(siblings: str | None) -> None:
    model, (X, y) = learnt(siblings), data()
    assert isinstance(model, TreeModel)
    assert np.array_equal(model.decode(model.observe(X)), y.ids)
    assert (model.below is not None) == (siblings == "also")


def test_kinds_of_nodes_limit_labels_in_training_and_development() -> None:
    X, y = data()
    model = TreeTraining(l1=0.1, kind_column=0).fit(space(), X, y, dev=(X, y))
    assert model.node_kinds is not None
    assert set(model.node_kinds.names) == {"table", "th", "td", "list"}


def test_wrong_settings() -> None:
    with pytest.raises(ParsimonError, match="siblings must be one of instead, also"):
        learnt("beside")
