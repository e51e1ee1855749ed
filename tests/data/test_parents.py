"""Parent arrays: which are trees, cycles, and the left-child right-sibling form."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.parents import attach_to_siblings, check_parents, in_cycles, previous_siblings
from parsimon.errors import ParsimonError


def test_forests_are_accepted() -> None:
    check_parents(np.array([-1, 0, 0, -1, -1, 4]), np.array([4, 2]))
    check_parents(np.zeros(0, np.int64), np.zeros(0, np.int64))


@pytest.mark.parametrize(
    ("parent", "lengths", "message"),
    [
        ([-1, 0], [3], "there are 3 nodes, but 2 parents; give one per node, -1 for roots"),
        (
            [-1, -2],
            [2],
            "the parent of node 1 is -2, which must be the number of a node of the same tree or -1",
        ),
        ([-1, 2], [2], "the parent of node 1 is 2"),
        ([-1, 0, -1, 0], [2, 2], "the parent of node 3 is 0"),  # in another tree
        ([-1, 2, 1], [3], "node 1 is its own ancestor"),
        ([0], [1], "node 0 is its own ancestor"),
    ],
)
def test_other_arrays_are_refused(parent: list[int], lengths: list[int], message: str) -> None:
    with pytest.raises(ParsimonError, match=re.escape(message)):
        check_parents(np.array(parent), np.array(lengths))


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(-1, n - 1), min_size=n, max_size=n)))
def test_nodes_that_reach_no_root_are_found(parent: list[int]) -> None:
    def reaches_root(node: int) -> bool:
        for _ in parent:
            node = parent[node] if node >= 0 else -1
        return node < 0

    expected = [node for node in range(len(parent)) if not reaches_root(node)]
    assert in_cycles(np.array(parent)).tolist() == expected


@given(st.lists(st.integers(-1, 10), max_size=12))
def test_siblings(draws: list[int]) -> None:
    parent = [p if p < i else -1 for i, p in enumerate(draws)]
    expected = [
        max((u for u in range(i) if parent[u] == p), default=-1) if p >= 0 else -1
        for i, p in enumerate(parent)
    ]
    assert previous_siblings(np.array(parent, int)).tolist() == expected
    attached, to_sibling = attach_to_siblings(np.array(parent, int))
    assert to_sibling.tolist() == [u >= 0 for u in expected]
    assert attached.tolist() == [u if u >= 0 else p for u, p in zip(expected, parent, strict=True)]
    assert not len(in_cycles(attached))
