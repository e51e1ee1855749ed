"""Trees whose arcs do not cross, against all trees of up to five tokens."""

from __future__ import annotations

import pytest

from brute_force import all_trees, arcs_do_not_cross
from parsimon.structures import check_tree, is_projective, make_projective


@pytest.mark.parametrize("n", range(6))
def test_which_trees_are_projective(n: int) -> None:
    for heads in all_trees(n, False, False).tolist():
        assert is_projective(heads) == arcs_do_not_cross(heads)
        check_tree(heads, single_root=False)


@pytest.mark.parametrize("n", range(6))
def test_trees_made_projective(n: int) -> None:
    for heads in all_trees(n, False, False).tolist():
        lifted = make_projective(heads).tolist()
        check_tree(lifted, single_root=False)
        assert arcs_do_not_cross(lifted)
        assert lifted == heads or not arcs_do_not_cross(heads)
        assert heads.count(0) > 1 or lifted == heads or lifted.count(0) == 1
        above = [0, *heads]
        for token, head in enumerate(lifted, 1):  # a word hangs on one that it was below already
            ancestors, at = [], token
            while at:
                at = above[at]
                ancestors.append(at)
            assert head in ancestors


def test_tokens_without_a_head_cross_nothing() -> None:
    assert is_projective([3, 4, -1, 0]) is False
    assert is_projective([3, -1, -1, 0])
