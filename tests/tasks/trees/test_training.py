"""Training of tree labellers: kinds of nodes, siblings, and the model that comes out."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.training import TreeTraining
from toy_trees import model, space, trees


def test_it_learns_what_depends_on_parents() -> None:
    fitted = model()
    assert isinstance(fitted, TreeModel)
    X, y = trees(30, seed=1)
    ids = fitted.predict_columns(X).ids
    assert np.mean(np.array(fitted.tags)[ids] == np.array(y.names)[y.ids]) > 0.95
    assert fitted.below is None
    assert fitted.node_kinds is None


def test_kinds_of_nodes_limit_labels() -> None:
    fitted = model(kind_column=0)
    assert fitted.node_kinds is not None
    X, _ = trees(30, seed=2)
    ids = fitted.predict_columns(fitted.limited(X)).ids
    leaves = np.array(X.strings.get_all(X.ids[0])) == "leaf"
    assert set(np.array(fitted.tags)[ids[leaves]]) <= {"YES", "NO"}
    assert set(np.array(fitted.tags)[ids[~leaves]]) <= {"TOP", "GOOD", "BAD"}


@pytest.mark.parametrize("siblings", ["instead", "also"])
def test_siblings(siblings: str) -> None:
    fitted = model(siblings=siblings)
    assert (fitted.below is None) == (siblings == "instead")
    assert fitted.predict_columns(trees(5, seed=3)[0]).ids.shape == trees(5, seed=3)[1].ids.shape


def test_a_development_set_is_limited_as_well() -> None:
    X, y = trees()
    training = TreeTraining(l1=0.05, kind_column=0, dev_metric="accuracy", solver="owlqn")
    fitted = training.fit(space(), X, y, dev=trees(10, seed=1))
    scores = [each["dev"] for each in fitted.info["history"] if "dev" in each]
    assert max(scores) > 0.9


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(ParsimonError, match="column"):
        model(kind_column=7)


@pytest.mark.parametrize("dev", [False, True])
def test_l1_chooses_itself(dev: bool) -> None:
    """With kinds of nodes, which limit labels on folds and development data as well."""
    X, y = trees()
    training = TreeTraining(kind_column=0, tune=True, folds=2)
    fitted = training.fit(space(), X, y, dev=trees(10, seed=1) if dev else None)
    tuning = fitted.info["tuning"]
    assert fitted.info["l1"] == tuning["chosen"]["l1"]
    assert max(each["score"] for each in tuning["tried"]) > 0.9
    assert fitted.node_kinds is not None
