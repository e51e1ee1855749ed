"""Tree models: a sequence model that knows nodes."""

from __future__ import annotations

import numpy as np

from parsimon.structures.label_schemes import forbid
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.trees.model import TreeModel
from toy_trees import model, trees


def test_of_a_sequence_model() -> None:
    fitted = model()
    plain = SequenceModel(fitted.labels, fitted.space, fitted.index, fitted.weights, fitted.info)
    tree = TreeModel.of(plain, parent_column=2)
    assert (tree.parent_column, tree.labels, tree.kind) == (2, plain.labels, "tree")
    assert tree.weights is plain.weights


def test_limits_are_set_once() -> None:
    fitted = model(kind_column=0)
    X, _ = trees(5, seed=1)
    limited = fitted.limited(X)
    assert limited.links is not None
    assert limited.links.allowed is not None
    assert fitted.limited(limited) is limited
    assert model().limited(X) is X


def test_what_was_not_seen_below_is_not_predicted() -> None:
    fitted = model(siblings="also")
    X, _ = trees(20, seed=1)
    allowed = forbid(fitted.tags, [("GOOD", "YES")])
    both = fitted._possible(allowed)
    assert both is not None
    good, yes = fitted.tags.index("GOOD"), fitted.tags.index("YES")
    assert not both.pair[good, yes]
    assert fitted.below is not None
    assert fitted.below.pair[good, yes]
    assert np.all(both.pair <= fitted.below.pair)
    assert fitted.decode(fitted.observe(X)).shape == (X.n_tokens,)
