"""Node kinds: the labels seen in training are allowed, and new kinds allow any label."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features import Labels
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.tree_columns import tree_columns


def test_wrong_columns_and_labels() -> None:
    X = tree_columns([([("a", "x"), ("b", "y")], [-1, 0])])
    with pytest.raises(ParsimonError, match="no column 2 with node kinds; columns are numbered from 0 to 1"):
        NodeKinds.learn(X, 2, Labels.from_sequences([["A", "B"]]))
    with pytest.raises(ParsimonError, match="there are 2 nodes but 1 labels; give one label per node"):
        NodeKinds.learn(X, 0, Labels.from_sequences([["A"]]))


def test_trees_without_nodes_have_no_kinds() -> None:
    empty = tree_columns([])
    kinds = NodeKinds.learn(empty, 0, Labels.from_sequences([], names=["A"]))
    assert (kinds.names, kinds.allowed.shape) == ((), (0, 1))
    links = kinds.limit(tree_columns([(["new"], [-1])])).links
    assert links is not None
    assert links.allowed is not None
    assert links.allowed.tolist() == [[True]]


def test_kinds_allow_what_was_seen_and_new_ones_anything() -> None:
    X = tree_columns([(["in", "leaf", "leaf", "odd"], [-1, 0, 0, 0])])
    kinds = NodeKinds.learn(X, 0, Labels.from_sequences([["R", "A", "B", None]]))
    again = NodeKinds.from_dict(kinds.to_dict(), kinds.labels)
    for each in (kinds, again):
        links = each.limit(tree_columns([(["leaf", "in", "new", "odd"], [-1, 0, 0, 0])])).links
        assert links is not None
        assert links.allowed is not None
        assert links.node_kind is not None
        rows = links.allowed[links.node_kind].tolist()
        assert rows == [[False, True, True], [True, False, False], [True] * 3, [True] * 3]
