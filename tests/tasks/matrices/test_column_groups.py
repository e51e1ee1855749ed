"""Groups of columns as users have them."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import Groups
from parsimon.tasks.matrices.column_groups import as_groups


def test_lists_labels_and_groups() -> None:
    lists = as_groups([[0, 1], [1, 2]], 3)
    assert [lists.members(g).tolist() for g in range(2)] == [[0, 1], [1, 2]]
    labelled = as_groups(["b", "a", "b"], 3)
    assert {labelled.name(g): labelled.members(g).tolist() for g in range(2)} == {"a": [1], "b": [0, 2]}
    assert as_groups(None, 3).sizes.tolist() == [1, 1, 1]
    made = Groups.from_lists([[0, 2]], 3)
    assert as_groups(made, 3) is made


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([[0, 3]], "columns"),
        ([[0, 1], "a", 2], "both lists and single labels"),
        ("ab", "give lists of columns"),
        (Groups.from_lists([[0]], 5), "5 columns, but X has 3"),
        ([np.array([0.5])], "give the numbers of its columns"),
    ],
)
def test_what_is_no_groups(groups: object, said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        as_groups(groups, 3)
