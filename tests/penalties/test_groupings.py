"""Groupings by template, attribute, label, order and tree: the groups that they make of a table of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from feature_tables import TABLE, SmallTable
from group_cases import Chain, as_sets
from parsimon.errors import ParsimonError
from parsimon.penalties.groupings import ByAttribute, ByLabel, ByOrder, ByTemplate, ByTree

WORD, BIAS, STEP, BIGRAM = set(range(4)), {4, 5, 6}, {7, 8, 9}, set(range(10, 19))


def test_by_template() -> None:
    groups = ByTemplate().groups(TABLE)
    assert groups.in_order
    assert groups.covers
    assert as_sets(groups) == [WORD, set(), BIAS, STEP, BIGRAM]
    assert [groups.name(m) for m in range(5)] == list(TABLE.templates)
    assert groups.weight.tolist() == pytest.approx([2.0, 1.0, 0.0, np.log2(3), 0.0])
    assert np.all(ByTemplate("ones", keep_bias=False).groups(TABLE).weight == 1)
    assert ByTemplate([1, 2, 3, 4, 5]).groups(TABLE).weight.tolist() == [1, 2, 0, 4, 0]


def test_by_template_when_a_template_is_in_two_places() -> None:
    """As Wapiti's `*` templates are, which make features of tokens and of steps."""
    table = SmallTable(("both", "word"), node=((0, (0, 1)), (1, (0,))), pair=((0, (3,)),))
    groups = ByTemplate("ones").groups(table)
    assert as_sets(groups) == [{0, 1, 3}, {2}]
    assert groups.disjoint
    assert groups.norms(np.array([1.0, 2.0, 7.0, 2.0])).tolist() == [3, 7]


def test_by_attribute() -> None:
    groups = ByAttribute().groups(TABLE)
    assert groups.in_order
    assert as_sets(groups) == [{0, 1, 2}, set(), {3}, BIAS, {7, 8}, {9}, BIGRAM]
    assert [groups.name(m) for m in range(7)] == [
        "node0", "attribute 1", "node2", "node3", "pair0", "pair1", "pair2",
    ]  # fmt: skip
    assert groups.restrict(np.array([3, 9])).name(5) == "pair1"
    assert groups.weight.tolist() == [1] * 7


def test_by_label() -> None:
    groups = ByLabel().groups(TABLE)
    for label, members in enumerate(as_sets(groups)):
        assert members == {f for f, (_, _, y) in enumerate(TABLE.all_features()) if y == label}
    assert [groups.name(m) for m in range(3)] == ["X", "Y", "Z"]
    np.testing.assert_allclose(groups.weight, np.sqrt(groups.sizes))
    assert groups.disjoint


def test_by_order() -> None:
    """Coarse to fine: whatever the group of a template has, those before it have, too."""
    groups = ByOrder(Chain(("word", "caps", "step")), "ones").groups(TABLE)
    assert as_sets(groups) == [WORD | STEP, STEP, STEP, BIAS, BIGRAM]
    assert [groups.name(m) for m in range(5)] == ["word", "caps", "step", "bias", "bigram"]
    assert groups.weight.tolist() == [1, 1, 1, 0, 0]
    assert groups.covers
    assert groups.nested
    assert ByOrder(Chain(("step", "word")), "sqrt").groups(TABLE).weight[0] == pytest.approx(np.sqrt(7))


def test_by_order_with_a_bias_in_it() -> None:
    order = Chain(("bias", "word"))
    assert as_sets(ByOrder(order).groups(TABLE))[:2] == [BIAS, WORD]
    kept = ByOrder(order, keep_bias=False).groups(TABLE)
    assert as_sets(kept)[:2] == [BIAS | WORD, WORD]
    assert np.all(kept.weight > 0)


def test_by_tree() -> None:
    """Words and steps under one node that is not a template."""
    groups = ByTree([5, 5, -1, 5, -1, -1], "ones", names=["all"]).groups(TABLE)
    assert as_sets(groups) == [WORD, set(), BIAS, STEP, BIGRAM, WORD | STEP]
    assert groups.name(5) == "all"
    assert groups.weight.tolist() == [1, 1, 0, 1, 0, 1]
    assert groups.nested
    everything = ByTree([5, 5, 5, 5, 5, -1], "ones", keep_bias=False).groups(TABLE)
    assert as_sets(everything)[5] == set(range(19))
    assert everything.name(5) == "node 5"


def test_block_groups_have_no_index_until_somebody_asks() -> None:
    groups = ByOrder(Chain(("word", "step"))).groups(TABLE)
    w = np.arange(19.0)
    groups.norms(w)
    groups.spread(groups.weight)
    groups.restrict(np.arange(5)).norms(w[:5])
    assert groups.families()
    assert not groups.in_order
    assert "index" not in vars(groups)
    assert groups.index is not None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ByTree([5, -1]), "node 0 of the tree has the parent 5"),
        (lambda: ByTree([1, 0]), "node 0 of the tree is its own ancestor"),
        (lambda: ByTree([-1, -1]).groups(TABLE), "the tree has 2 nodes, but there are 5 templates"),
        (
            lambda: ByOrder(Chain(("word", "tail"))).groups(TABLE),
            "names the template 'tail', which is not there",
        ),
    ],
)
def test_mistakes_are_explained(make: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        make()
