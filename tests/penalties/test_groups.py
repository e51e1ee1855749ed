"""Groups of features: what they compute, against loops."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from feature_tables import TABLE
from group_cases import as_sets
from parsimon.errors import ParsimonError
from parsimon.penalties.groups import BlockGroups, Groups

N = 8
numbers = arrays(np.float64, N, elements=st.floats(-5, 5))
feature_sets = st.sets(st.integers(0, N - 1))


@st.composite
def any_groups(draw: Any) -> Groups:
    """Groups by hand; consecutive ranges, with or without a gap at the end; or whole blocks."""
    kind = draw(st.sampled_from(["lists", "consecutive", "blocks"]))
    if kind == "lists":
        return Groups.from_lists(draw(st.lists(feature_sets.map(sorted), max_size=5)), N)
    ends = sorted(draw(st.lists(st.integers(0, N), max_size=4)))
    if kind == "consecutive":
        return Groups.consecutive(np.array([0, *ends]), N)
    blocks = Groups.consecutive(np.array([0, *ends, N]), N)
    sets = st.sets(st.integers(0, blocks.n_groups - 1)).map(sorted)
    return BlockGroups(blocks, Groups.from_lists(draw(st.lists(sets, max_size=5)), blocks.n_groups))


@given(any_groups(), numbers)
def test_norms_are_those_of_the_members(groups: Groups, w: Any) -> None:
    for order in (2, "inf", np.inf):
        norm = np.inf if order == "inf" else order
        expected = [np.linalg.norm(w[sorted(s)], norm) if s else 0.0 for s in as_sets(groups)]
        np.testing.assert_allclose(groups.norms(w, order), expected, rtol=1e-14)
    np.testing.assert_array_equal(
        groups.reduce(w, np.minimum, np.inf), [min(w[sorted(s)], default=np.inf) for s in as_sets(groups)]
    )
    assert groups.reduce(w > 0).tolist() == [sum(w[sorted(s)] > 0) for s in as_sets(groups)]


@given(any_groups())
def test_members_are_ascending_and_are_the_index(groups: Groups) -> None:
    members = [groups.members(m) for m in range(groups.n_groups)]
    assert all(np.all(np.diff(each) > 0) for each in members)
    assert groups.sizes.tolist() == [len(each) for each in members]
    together = np.concatenate([np.zeros(0, int), *members])
    index = np.arange(groups.ptr[-1]) if groups.index is None else groups.index
    np.testing.assert_array_equal(index, together)
    assert groups.in_order == (groups.index is None)


@given(any_groups())
def test_disjoint_nested_and_covering(groups: Groups) -> None:
    sets = as_sets(groups)
    pairs = list(itertools.combinations(sets, 2))
    disjoint = all(not a & b for a, b in pairs)
    nested = all(not a & b or a <= b or b <= a for a, b in pairs)
    if isinstance(
        groups, BlockGroups
    ):  # of which some may be empty: then more is known of features than of blocks
        assert groups.disjoint <= disjoint
        assert groups.nested <= nested
        assert groups.covers <= (set().union(*sets) == set(range(N)))
    else:
        assert groups.disjoint == disjoint
        assert groups.nested == nested
        assert groups.covers == (set().union(*sets) == set(range(N)))


@given(any_groups(), feature_sets)
def test_restriction_keeps_groups_their_names_and_weights(groups: Groups, kept: set[int]) -> None:
    features = np.array(sorted(kept), np.int64)
    small = groups.restrict(features)
    assert small.n_features == len(features)
    assert small.n_groups == groups.n_groups
    for m, members in enumerate(as_sets(groups)):
        assert set(features[small.members(m)].tolist()) == members & kept
        assert small.name(m) == groups.name(m)
    np.testing.assert_array_equal(small.weight, groups.weight)
    assert groups.disjoint <= small.disjoint
    assert groups.nested <= small.nested


@given(any_groups())
def test_families_are_disjoint_and_complete(groups: Groups) -> None:
    sets, families = as_sets(groups), groups.families()
    assert sorted(np.concatenate([np.zeros(0, int), *families]).tolist()) == list(range(groups.n_groups))
    for family in families:
        assert all(not sets[a] & sets[b] for a, b in itertools.combinations(family.tolist(), 2))
    for family, mine in zip(families, groups.family_groups, strict=True):
        assert as_sets(mine) == [sets[m] for m in family]
        assert [mine.name(i) for i in range(mine.n_groups)] == [groups.name(int(m)) for m in family]


@given(any_groups())
def test_families_of_nested_groups_go_from_the_leaves_to_the_root(groups: Groups) -> None:
    if groups.nested:
        family = {int(m): j for j, each in enumerate(groups.families()) for m in each}
        for a, b in itertools.permutations(range(groups.n_groups), 2):
            inner, outer = as_sets(groups)[a], as_sets(groups)[b]
            if inner and inner < outer:
                assert family[a] < family[b]


@given(any_groups())
def test_atoms_are_the_features_that_are_in_the_same_groups(groups: Groups) -> None:
    atoms, of = groups.atoms
    assert atoms.disjoint
    sets = as_sets(atoms)
    for m, members in enumerate(as_sets(groups)):
        assert set().union(*(sets[a] for a in of.members(m))) == members
    if not isinstance(groups, BlockGroups) and not groups.disjoint:
        signs = {frozenset(m for m, s in enumerate(as_sets(groups)) if f in s) for f in range(N)}
        assert atoms.n_groups == len(signs - {frozenset()})


@given(any_groups(), st.data())
def test_spread_and_scale(groups: Groups, data: Any) -> None:
    values = data.draw(arrays(np.float64, groups.n_groups, elements=st.floats(-3, 3)))
    expected = [sum(values[m] for m, s in enumerate(as_sets(groups)) if f in s) for f in range(N)]
    np.testing.assert_allclose(groups.spread(values), expected, atol=1e-12)
    if groups.disjoint:
        inside = np.isin(np.arange(N), sorted(set().union(*as_sets(groups))))
        w = np.arange(1.0, N + 1)
        groups.scale(values, w)
        np.testing.assert_allclose(w, np.arange(1.0, N + 1) * np.where(inside, expected, 1.0), atol=1e-12)


@given(any_groups(), st.data())
def test_some_of_the_groups(groups: Groups, data: Any) -> None:
    chosen = np.array(data.draw(st.lists(st.integers(0, 4), unique=True)), np.int64)
    chosen = chosen[chosen < groups.n_groups]
    some = groups.subset(chosen)
    assert as_sets(some) == [as_sets(groups)[m] for m in chosen]
    np.testing.assert_array_equal(some.weight, groups.weight[chosen])
    assert groups.features_of(chosen).tolist() == sorted(set().union(*as_sets(some)))
    filled = [s for s in as_sets(groups) if s]
    assert [s for s in as_sets(groups.compact) if s] == filled
    assert groups.compact.n_groups <= max(2 * len(filled), 0)


def test_large_groups_are_gone_through_one_by_one() -> None:
    """The same numbers, by the way that makes no temporary arrays."""
    n = 40_000
    groups = Groups.consecutive(np.array([0, 10_000, 10_000, 39_000]), n)
    w = np.random.default_rng(0).normal(size=n)
    by_index = Groups(groups.ptr, np.arange(39_000), groups.weight, n)
    np.testing.assert_allclose(groups.norms(w), by_index.norms(w), rtol=1e-13)
    mine, theirs = w.copy(), w.copy()
    groups.scale(np.array([2.0, 3.0, 0.5]), mine)
    by_index.scale(np.array([2.0, 3.0, 0.5]), theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_weights_by_rule() -> None:
    groups = Groups.consecutive(np.array([0, 1, 1, 9]), 9)
    assert groups.weight.tolist() == [1, 1, 1]
    assert groups.reweighted("sqrt").weight.tolist() == pytest.approx([1, 0, np.sqrt(8)])
    assert groups.reweighted("log2").weight.tolist() == [1, 1, 3]
    assert groups.reweighted([0.0, 2.0, 1.5]).weight.tolist() == [0, 2, 1.5]
    whole = BlockGroups(groups, Groups.from_lists([[0, 2], [1]], 3))
    assert whole.reweighted("sqrt").weight.tolist() == [3, 0]


def test_names() -> None:
    lists = [[0], [1]]
    assert Groups.from_lists(lists, 2).name(1) == "group 1"
    assert Groups.from_lists(lists, 2, ["a", "b"]).name(1) == "b"
    assert Groups.from_lists(lists, 2, lambda m: f"number {m}").name(1) == "number 1"


def test_groups_tell_themselves_apart_in_print() -> None:
    a, b = Groups.from_lists([[0], [1, 2]], 4), Groups.from_lists([[0], [1, 3]], 4)
    assert repr(a).startswith("Groups(2 groups of 4 features, ")
    assert repr(a) == repr(Groups.from_lists([[0], [1, 2]], 4))
    assert len({repr(a), repr(b), repr(a.reweighted("ones"))}) == 3
    blocks = Groups.consecutive(np.array([0, 1, 4]), 4)
    assert repr(BlockGroups(blocks, a.restrict(np.arange(2)))) != repr(
        BlockGroups(blocks, a.subset(np.array([0])))
    )
    assert repr(pickle.loads(pickle.dumps(a))) == repr(a)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Groups.from_lists([[0, 3]], 3), "members of groups must be features from 0 to 2, not 3"),
        (lambda: Groups.from_lists([[-1]], 3), "not -1"),
        (lambda: Groups.from_lists([[1, 1]], 3), "group 0 has a feature twice"),
        (lambda: Groups.from_lists([[1]], 3, ["a", "b"]), "there are 1 groups but 2 names"),
        (lambda: Groups.from_lists([[1]], 3, weight=[1.0, 2.0]), "there are 1 groups but 2 group weights"),
        (lambda: Groups.from_lists([[1]], 3, weight=[-1.0]), "weights of groups must be zero or more"),
        (lambda: Groups.from_lists([[1]], 3, weight=[np.nan]), "weights of groups must be zero or more"),
        (
            lambda: Groups.from_lists([[1]], 3, weight="size"),
            "choose from log2, log2\\^1.5, sqrt-log2, sqrt, ones",
        ),
        (lambda: Groups.consecutive(np.array([0, 4]), 3), "end with 4"),
        (lambda: Groups.consecutive(np.array([0, 2, 1]), 3), "never fall"),
        (lambda: Groups.from_lists([[1]], 3).groups(TABLE), "the groups are of 3 features, but there are 19"),
    ],
)
def test_mistakes_are_explained(make: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        make()


# ---- groupings ----------------------------------------------------------------------------------------------
