"""Links between nodes of trees: relations, selections, concatenation, and relations that do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features import Columns
from parsimon.features.links import RELATIONS, Links, check_relation
from parsimon.features.tree_columns import tree_columns
from toy_problems import random_parents

forests = st.builds(
    lambda seed, lengths: (lengths, random_parents(np.random.default_rng(seed), lengths)),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 7), min_size=1, max_size=4),
)


def test_a_slice_of_nodes_is_renumbered() -> None:
    links = Links.from_parents([-1, 0, -1, 2, 3]).restrict(np.array([0, 1, 0, 1, 1]), np.ones((2, 3), bool))
    second = links[2:5]
    assert second.parent.tolist() == [-1, 0, 1]
    assert second.node_kind is not None
    assert second.node_kind.tolist() == [0, 1, 1]
    assert second.allowed is links.allowed


def test_concatenation_renumbers_the_trees_that_follow() -> None:
    first, second = Links.from_parents([-1, 0]), Links.from_parents([-1, 0, 0])
    assert first.concatenate([second, first]).parent.tolist() == [-1, 0, -1, 2, 2, -1, 5]


@pytest.mark.parametrize("relation", ["uncle", "parent.", "", "parent.uncle", "Parent"])
def test_unknown_relations_are_refused(relation: str) -> None:
    with pytest.raises(ParsimonError, match="is not a valid row: a row is a number or, in trees, parent"):
        check_relation(relation)
    check_relation("parent.previous_sibling.last_child")


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
