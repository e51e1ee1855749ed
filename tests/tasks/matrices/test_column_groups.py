"""Groups of columns in all forms, and what is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.column_groups import as_groups, is_list

LISTS = [[0, 1], [2], [3, 4]]


@pytest.mark.parametrize(
    "groups",
    [
        LISTS,
        tuple(map(tuple, LISTS)),
        list(map(np.array, LISTS)),
        ["a", "a", "b", "c", "c"],
        np.array(["a", "a", "b", "c", "c"]),
        [1, 1, 2, 3, 3],
        Groups.from_lists(LISTS, 5),
    ],
    ids=str,
)
def test_forms(groups: Any) -> None:
    made = as_groups(groups, 5)
    assert [made.members(m).tolist() for m in range(3)] == LISTS
    np.testing.assert_allclose(made.weight, np.sqrt([2, 1, 2]))


def test_labels_of_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    made = as_groups(pandas.Series(["b", "a", "b"], index=["x", "y", "z"]), 3)
    assert [made.members(m).tolist() for m in range(2)] == [[1], [0, 2]]
    assert [made.name(m) for m in range(2)] == ["a", "b"]


def test_none_and_groups_that_overlap_or_are_empty() -> None:
    assert as_groups(None, 3).sizes.tolist() == [1, 1, 1]
    assert as_groups([[0, 1], [1], []], 3).sizes.tolist() == [2, 1, 0]
    assert as_groups([[0, 1]], 3, "ones").weight.tolist() == [1.0]
    assert as_groups([[0, 1]], 3, [2.5]).weight.tolist() == [2.5]


def deep() -> Any:
    inner: Any = 0
    for _ in range(100_000):
        inner = [inner]
    return inner


def wrong() -> list[tuple[Any, str]]:
    pandas = pytest.importorskip("pandas")
    return [
        ("abcde", "groups is 'abcde'; give lists of columns, one label for each column, or Groups"),
        (5, "groups is 5; give"),
        ({0: [1]}, "groups is .*; give"),
        (pandas.DataFrame({"a": range(5), "b": range(5)}), "groups has 2 dimensions; give"),
        ([[0], 1], "both lists and single labels"),
        (["a"] * 4, "groups has 4 labels, but X has 5 columns"),
        ([[0, 5]], "group 0 has column 5, but columns of X go from 0 to 4"),
        ([[0], [-1]], "group 1 has column -1"),
        ([[0.5]], r"group 0 is \[0.5\]; give the numbers of its columns"),
        ([["a"]], "give the numbers of its columns"),
        ([[0, [1, 2]]], "give the numbers of its columns"),
        ([[deep()], [0]], "group 0 is something so deep; give the numbers of its columns"),
        ([[[0]]], "give the numbers of its columns"),
        (Groups.from_lists([[0]], 4), "the groups are of 4 columns, but X has 5"),
    ]


@pytest.mark.parametrize("number", range(14))
def test_what_is_refused(number: int) -> None:
    groups, said = wrong()[number]
    with pytest.raises(ParsimonError, match=said):
        as_groups(groups, 5)


def test_lists_are_no_names() -> None:
    assert [is_list(each) for each in ([], (), np.zeros(1), {}, "a", b"a", 1, None)] == [True] * 4 + [
        False
    ] * 4
