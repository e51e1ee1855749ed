"""Trees as columns, whom nodes look at, and which labels their kinds allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features import Columns, TemplateFeatures, TemplateSet
from parsimon.features.tree_columns import parents_from_column, tree_columns
from toy_problems import random_parents

forests = st.builds(
    lambda seed, lengths: (lengths, random_parents(np.random.default_rng(seed), lengths)),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 7), min_size=1, max_size=4),
)


def test_templates_look_at_relatives() -> None:
    X = tree_columns([([("a", "1"), ("b", "2"), ("c", "3")], [-1, 0, 0])])
    templates = TemplateSet.parse(
        'U0:%x[parent,0]/%x[0,1]\nU1:%f[next_sibling,0,"prefix:3"]\nB:%x[parent.parent,1]'
    )
    assert templates.dumps() == TemplateSet.parse(templates.dumps()).dumps()
    space = TemplateFeatures(templates)
    observations = space.learn(X, 1)
    rows = observations.node
    names = [space.node_names(rows.index[rows.start[t] : rows.start[t + 1]]) for t in range(3)]
    assert [row[0] for row in names] == ["U0:_parent/1", "U0:a/2", "U0:a/3"]
    assert [row[1] for row in names] == ["U1:_ne", "U1:c", "U1:_ne"]
    assert observations.links is X.links
    seen = space.observe(tree_columns([([("b", "2"), ("a", "1")], [1, -1])]), 1)
    assert space.node_names(seen.node.index[: seen.node.start[1]]) == ["U0:a/2", "U1:_ne"]
    assert space.pair_names(seen.pair.index) == ["B:_parent.parent"] * 2  # also at nodes that come first


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("U:%x[uncle,0]", "'uncle' is not a valid row"),
        ("U:%x[@parent,0]", "drop the @"),
        ("U:%x[parent.,0]", "'parent.' is not a valid row"),
    ],
)
def test_mistakes_in_templates(text: str, match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        TemplateSet.parse(text)


def test_sequences_have_no_parents() -> None:
    space = TemplateFeatures(TemplateSet.parse("U:%x[parent,0]"))
    with pytest.raises(ParsimonError, match="sequences, not trees"):
        space.learn(Columns.from_sequences([["a", "b"]]), 1)


@pytest.mark.parametrize(
    ("trees", "match"),
    [
        ([["a", "b", "c"]], "tree 0 must be a pair"),
        ([(["a", "b"], [-1])], "tree 0 has 2 nodes but 1 parents"),
        ([(["a"], [-1]), (["a", "b"], [1, 0])], "its own ancestor"),
        ([(["a"], [-1]), (["a", "b"], [-1, 7])], "parent of node 2"),
    ],
)
def test_mistakes_in_trees(trees: Any, match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        tree_columns(trees)


def test_a_column_of_parents() -> None:
    X = parents_from_column(Columns.from_sequences([[("a", "-1"), ("b", "0")], [("c", "1"), ("d", "-1")]]), 1)
    assert X.links is not None
    assert X.links.parent.tolist() == [-1, 0, 3, -1]
    assert X.sequence(1) == [("c", "1"), ("d", "-1")]
    for wrong in ("x", "1", "-2", "²", ""):
        with pytest.raises(ParsimonError, match=rf"node 1: the parent is '{wrong}'"):
            parents_from_column(Columns.from_sequences([[("a", "-1")], [("b", wrong)]]), 1)
    with pytest.raises(ParsimonError, match="line 7: this node is its own ancestor"):
        parents_from_column(Columns.from_sequences([[("a", "0")]]), 1, lambda node: f"line {node + 7}")
    with pytest.raises(ParsimonError, match="node 1: the parent is 'x'"):
        parents_from_column(Columns.from_sequences([[("a", "-1")], [("b", "x")]]), 1)
    with pytest.raises(ParsimonError, match="no column 2 with parents"):
        parents_from_column(Columns.from_sequences([[("a", "-1")]]), 2)


@pytest.mark.parametrize(
    ("trees", "match"),
    [
        ((["a", "b"], [-1, 0]), "tree 0 has the parent 'b', which must be the number of a node"),
        ((["a", "b", "c"], [-1, 0, 0]), r"tree 0 must be a pair of lists .*put a single tree into a list"),
        ([(["a"], [0.5])], r"tree 0 has the parent 0\.5"),
        ([(["a"], [None])], "tree 0 has the parent None"),
        ([(5, [-1])], "tree 0 must be a pair of lists"),
        ([(["a"], [10**400])], "which must be the number of a node of the same tree"),
    ],
)
def test_a_single_tree_and_parents_that_are_no_numbers(trees: Any, match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        tree_columns(trees)


def test_parents_may_be_an_array() -> None:
    links = tree_columns([(["a", "b"], np.array([1, -1], np.int16)), (["c"], [np.int64(-1)])]).links
    assert links is not None
    assert links.parent.tolist() == [1, -1, -1]
