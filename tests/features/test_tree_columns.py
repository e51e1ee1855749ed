"""Trees as columns, whom nodes look at, and which labels their kinds allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.features.links import RELATIONS, Links
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.tree_columns import parents_from_column, tree_columns
from toy_problems import random_parents

forests = st.builds(
    lambda seed, lengths: (lengths, random_parents(np.random.default_rng(seed), lengths)),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 7), min_size=1, max_size=4),
)


def by_hand(relation: str, parent: list[int], t: int) -> int:
    if t < 0:
        return -1
    children = [u for u, p in enumerate(parent) if p == t]
    siblings = [u for u, p in enumerate(parent) if p == parent[t]] if parent[t] >= 0 else [t]
    at = siblings.index(t)
    return {
        "parent": parent[t],
        "first_child": children[0] if children else -1,
        "last_child": children[-1] if children else -1,
        "previous_sibling": siblings[at - 1] if at else -1,
        "next_sibling": siblings[at + 1] if at + 1 < len(siblings) else -1,
    }[relation]


@given(forests)
def test_relations(forest: tuple[list[int], Any]) -> None:
    parent = forest[1].tolist()
    links = Links.from_parents(parent)
    for name in RELATIONS:
        found = links.related(name).tolist()
        assert found == [by_hand(name, parent, t) for t in range(len(parent))]
        twice = links.related(f"{name}.parent").tolist()
        assert twice == [by_hand("parent", parent, u) for u in found]


@given(forests, st.data())
def test_some_trees_keep_their_links(forest: tuple[list[int], Any], data: Any) -> None:
    lengths, parent = forest
    offsets = np.cumsum([0, *lengths])
    nodes = [str(t) for t in range(len(parent))]
    pieces = [slice(offsets[i], offsets[i + 1]) for i in range(len(lengths))]
    X = tree_columns((nodes[s], np.where(parent[s] < 0, -1, parent[s] - s.start).tolist()) for s in pieces)
    chosen = data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, unique=True))
    some = X[np.array(chosen)]  # type: ignore[call-overload]
    again = Columns.concatenate([X[i] for i in chosen])
    for columns in (some, again):
        assert columns.links is not None
        names = [token[0] for i in range(len(columns)) for token in columns.sequence(i)]
        for name, p in zip(names, columns.links.parent.tolist(), strict=True):
            assert parent[int(name)] == (int(names[p]) if p >= 0 else -1)


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


def test_kinds_allow_what_was_seen_and_new_ones_anything() -> None:
    X = tree_columns([(["in", "leaf", "leaf", "odd"], [-1, 0, 0, 0])])
    kinds = NodeKinds.learn(X, 0, Labels.from_sequences([["R", "A", "B", None]]))
    again = NodeKinds.from_told(kinds.told(), kinds.labels)
    for each in (kinds, again):
        links = each.limit(tree_columns([(["leaf", "in", "new", "odd"], [-1, 0, 0, 0])])).links
        assert links is not None
        assert links.allowed is not None
        assert links.node_kind is not None
        rows = links.allowed[links.node_kind].tolist()
        assert rows == [[False, True, True], [True, False, False], [True] * 3, [True] * 3]
