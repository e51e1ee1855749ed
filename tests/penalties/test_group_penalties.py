"""Group penalties: binding, mistakes, exact zeros and ties, and shortcuts that must not change any number."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from feature_tables import TABLE
from parsimon.errors import ParsimonError
from parsimon.penalties import (
    ElasticNetGroups,
    GroupLasso,
    L1Ball,
    OverlappingGroupLasso,
    SparseGroupLasso,
    TreeLasso,
    never_dropped,
    overlapping,
)
from parsimon.penalties.groupings import ByAttribute, ByTemplate
from parsimon.penalties.groups import BlockGroups, Groups
from parsimon.penalties.l1_ball import simplex_thresholds
from parsimon.penalties.overlapping import MOST_PASSES, dual_ascent, parts_of

CROSSED = Groups.from_lists([[0, 1, 2, 3], [2, 3, 4], [0, 4, 5, 6]], 8, ["a", "b", "c"], "ones")
NESTED = Groups.from_lists([[0, 1, 2, 3, 4], [0, 1], [3], [3, 4], [6, 7]], 8)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


# ---- binding ------------------------------------------------------------------------------------------------


def test_groupings_become_groups_when_they_are_bound() -> None:
    penalty = GroupLasso(2.0)
    assert penalty.groups == ByTemplate()
    bound = penalty.bind(TABLE)
    w = random(19)
    assert bound.value(w) == pytest.approx(
        2 * (2 * np.linalg.norm(w[:4]) + np.log2(3) * np.linalg.norm(w[7:10]))  # word and step
    )
    assert never_dropped(bound, 19).tolist() == [4, 5, 6, *range(10, 19)]  # bias and bigram
    assert bound.group_violation(w, w).shape == (5,)
    by_hand = GroupLasso(2.0, ByTemplate().groups(TABLE)).bind(TABLE)
    assert by_hand.value(w) == bound.value(w)


def test_unbound_penalties_say_so_and_can_be_copied() -> None:
    penalty = SparseGroupLasso(1.0, 0.5, ByAttribute())
    assert copy.deepcopy(penalty) == penalty
    assert penalty.scaled(3.0).strength == 3.0
    with pytest.raises(
        ParsimonError, match=r"the groups of GroupLasso are not known yet: bind\(features\) finds"
    ):
        penalty.value(np.zeros(3))
    with pytest.raises(ParsimonError, match="the groups are of 8 features, but there are 19"):
        OverlappingGroupLasso(1.0, CROSSED).bind(TABLE)


def test_exempt_before_and_after_binding() -> None:
    features = np.array([0, 9])
    before, after = (
        GroupLasso(1.0).exempt(features, 19).bind(TABLE),
        GroupLasso(1.0).bind(TABLE).exempt(features, 19),
    )
    w = random(19)
    assert before.value(w) == after.value(w) < GroupLasso(1.0).bind(TABLE).value(w)
    assert before.weight is not None
    assert np.flatnonzero(before.weight == 0).tolist() == [0, 9]
    assert GroupLasso(1.0).weight is None


def test_constructors() -> None:
    w = random(8)
    groups = Groups.consecutive(np.array([0, 3, 8]), 8)
    plain = GroupLasso(1.0, groups).value(w)
    assert SparseGroupLasso(1.0, 0.5, groups).value(w) == pytest.approx(plain + 0.5 * np.abs(w).sum())
    assert ElasticNetGroups(1.0, 0.5, groups).value(w) == pytest.approx(plain + 0.25 * w @ w)
    assert SparseGroupLasso(1.0, 0.5).groups == ElasticNetGroups(1.0, 0.5).groups == ByTemplate()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GroupLasso(1.0, CROSSED), "the groups 'a' and 'c' have features in common"),
        (lambda: TreeLasso(1.0, CROSSED), "without one containing the other, which TreeLasso does not allow"),
        (lambda: GroupLasso(1.0, norm=1), "the norm of groups must be 2 or 'inf', not 1"),
        (lambda: OverlappingGroupLasso(1.0, CROSSED, tol=0.0), "must be more than zero, not 0.0"),
    ],
)
def test_mistakes_are_explained(make: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        make()


def test_norms_have_one_spelling() -> None:
    assert {GroupLasso(1.0, norm=n).norm for n in (2, 2.0, "2")} == {2}
    assert {GroupLasso(1.0, norm=n).norm for n in ("inf", np.inf)} == {"inf"}


# ---- zeros and ties ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [2, "inf"])
@pytest.mark.parametrize("make", [OverlappingGroupLasso, TreeLasso, GroupLasso])
def test_groups_that_vanish_are_exactly_zero(make: Any, norm: Any) -> None:
    groups = {OverlappingGroupLasso: CROSSED, TreeLasso: NESTED}.get(
        make, Groups.from_lists([[0, 1, 2, 3], [4, 5, 6]], 8, weight="ones")
    )
    penalty = make(1.0, groups, norm=norm)
    dropped = 0
    for seed, size in itertools.product(range(10), (0.3, 0.6, 1.0, 2.0)):
        u = penalty.prox(size * random(8, seed=seed), 1.0)
        for m in range(groups.n_groups):
            inside = u[groups.members(m)]
            assert not inside.any() or np.abs(inside).max() > 1e-8  # nothing in between
            dropped += not inside.any()
    assert 10 < dropped < 40 * groups.n_groups - 10


def test_weights_clipped_by_an_infinity_norm_are_exactly_alike() -> None:
    groups = Groups.consecutive(np.array([0, 5, 8]), 8)
    u = GroupLasso(1.0, groups, norm="inf", l2=0.3).prox(
        np.array([3.0, -2.9, 2.8, 0.1, -2.7, 1.0, 0.2, -0.9]), 0.7
    )
    assert len({abs(x) for x in u[[0, 1, 2, 4]]}) == 1
    assert u[3] == 0.1 / (1 + 0.7 * 0.3)


def test_ungrouped_features_have_only_the_other_terms() -> None:
    penalty = GroupLasso(9.0, Groups.from_lists([[1]], 2, weight="ones"), l1=0.5, l2=1.0)
    assert penalty.prox(np.array([3.0, 3.0]), 1.0).tolist() == [1.25, 0.0]


# ---- the same by other ways -----------------------------------------------------------------------------------


def ascend(x: Any, groups: Groups, radius: Any, norm: Any) -> Any:
    """The coordinate version, group by group."""
    out = x.copy()
    each = [np.array([m]) for m in range(groups.n_groups)]
    dual_ascent(out, parts_of([groups.subset(m) for m in each], each, radius), norm, 1e-14, MOST_PASSES)
    return out


@pytest.mark.parametrize("norm", [2, "inf"])
@pytest.mark.parametrize("groups", [CROSSED, NESTED], ids=["crossed", "nested"])
def test_atoms_and_families_are_shortcuts_only(groups: Groups, norm: Any) -> None:
    penalty = OverlappingGroupLasso(0.7, groups, norm=norm, tol=1e-14)
    for seed in range(5):
        v = random(8, seed=seed)
        np.testing.assert_allclose(
            penalty.prox(v, 0.9), ascend(v, groups, 0.63 * groups.weight, norm), atol=1e-10
        )


@pytest.mark.parametrize("norm", [2, "inf"])
def test_one_pass_is_enough_for_a_tree(norm: Any) -> None:
    tree, any_ = (make(0.4, NESTED, norm=norm, l1=0.1) for make in (TreeLasso, OverlappingGroupLasso))
    for seed in range(10):
        v = random(8, seed=seed)
        np.testing.assert_allclose(tree.prox(v, 1.3), any_.prox(v, 1.3), atol=1e-12)


def test_blocks_are_a_shortcut_only() -> None:
    """A thousand features in six blocks, in groups that overlap: the same as with all members written down."""
    ptr = np.array([0, 10, 300, 300, 500, 990, 1000])
    of = Groups.from_lists([[0, 1, 4], [1, 2, 3], [3, 5], [0, 5]], 6, weight="ones")
    short = BlockGroups(Groups.consecutive(ptr, 1000), of)
    long = Groups(short.ptr, short.index, short.weight, 1000)
    v, g = random(1000), random(1000, seed=1)
    for norm in (2, "inf"):
        a, b = (OverlappingGroupLasso(8.0, groups, norm=norm) for groups in (short, long))
        np.testing.assert_allclose(a.prox(v, 1.0), b.prox(v, 1.0), atol=1e-9)
        u = a.prox(v, 1.0)
        np.testing.assert_allclose(a.violation(u, g), b.violation(u, g), atol=1e-8)
        assert a.dual_norm(g) == pytest.approx(b.dual_norm(g), rel=1e-8)


def test_many_empty_groups_change_nothing_but_their_number() -> None:
    """After a restriction, most groups may be empty; what remains is worked on alone."""
    n = 3000
    groups = Groups.consecutive(np.arange(0, n + 1, 3), n)
    features = np.array([0, 1, 2, 7, 1500, 1501, 2999])
    v, g = random(7), 3 * random(7, seed=1)
    for norm in (2, "inf"):
        small = GroupLasso(0.5, groups, norm=norm, l1=0.1, l2=0.2).restrict(features)
        tight = GroupLasso(0.5, Groups.consecutive(np.array([0, 3, 4, 6, 7]), 7), norm=norm, l1=0.1, l2=0.2)
        assert small.groups.n_groups == 1000
        assert small.value(v) == pytest.approx(tight.value(v))
        np.testing.assert_allclose(small.prox(v, 1.0), tight.prox(v, 1.0))
        np.testing.assert_allclose(small.violation(v, g), tight.violation(v, g))
        assert small.polar(g) == pytest.approx(tight.polar(g))
        assert small.dual_norm(g) == pytest.approx(tight.dual_norm(g))
        each = small.group_violation(v, g)
        assert each.shape == (1000,)
        np.testing.assert_allclose(each[[0, 2, 500, 999]], tight.group_violation(v, g))
        steps = np.linspace(0.1, 1.0, 7)
        np.testing.assert_array_equal(small.even_steps(steps), tight.even_steps(steps))


def test_even_steps_are_as_large_as_they_can_be() -> None:
    groups = Groups.from_lists([[0, 2], [1, 3], [4, 5]], 7, weight=[1.0, 0.0, 2.0])
    steps = np.array([5.0, 1.0, 3.0, 2.0, 0.5, 4.0, 6.0])
    assert GroupLasso(1.0, groups).even_steps(steps).tolist() == [3, 1, 3, 2, 0.5, 0.5, 6]
    assert GroupLasso(1.0, groups).exempt(np.array([4]), 7).even_steps(steps).tolist() == [
        3,
        1,
        3,
        2,
        0.5,
        4,
        6,
    ]
    assert GroupLasso(0.0, groups).even_steps(steps).tolist() == steps.tolist()
    assert TreeLasso(1.0, groups).even_steps(steps).tolist() == [0.5] * 7
    assert L1Ball(1.0).even_steps(steps).tolist() == [0.5] * 7


def test_a_sparse_system_is_a_shortcut_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows over many features: far too many atoms for a dense system, few in each group."""
    groups = Groups.from_lists([list(range(i, i + 4)) for i in range(0, 57, 2)], 60, weight="ones")
    v = random(60)
    for strength in (0.1, 0.5, 1.0):
        penalty = OverlappingGroupLasso(strength, groups)
        monkeypatch.setattr(overlapping, "DENSE", 500)
        dense = penalty.prox(v, 1.0)
        monkeypatch.setattr(overlapping, "DENSE", 10)
        np.testing.assert_allclose(penalty.prox(v, 1.0), dense, atol=1e-11)
        np.testing.assert_allclose(penalty.violation(dense, dense - v), 0.0, atol=1e-8)


def test_too_large_a_system_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    v = random(8)
    newton = OverlappingGroupLasso(0.4, CROSSED).prox(v, 1.0)
    monkeypatch.setattr(overlapping, "MOST_ENTRIES", 0)
    monkeypatch.setattr(overlapping, "newton_shrink", None)
    np.testing.assert_allclose(OverlappingGroupLasso(0.4, CROSSED).prox(v, 1.0), newton, atol=1e-10)


def test_a_limit_of_passes_is_said() -> None:
    x = random(8)
    parts = parts_of(CROSSED.family_groups, CROSSED.families(), np.full(3, 0.3))
    with pytest.warns(RuntimeWarning, match=r"still moves by .* after 2 passes"):
        dual_ascent(x, parts, 2, 1e-15, 2)


# ---- thresholds of L1 balls ------------------------------------------------------------------------------------


@given(
    st.lists(
        arrays(np.float64, st.integers(0, 6), elements=st.integers(-20, 20).map(lambda x: x / 4)), max_size=5
    ),
    st.sampled_from([0.25, 1.0, 7.0]),
)
def test_thresholds_leave_the_radius(parts: list[Any], radius: float) -> None:
    ptr = np.cumsum([0, *map(len, parts)])
    theta = simplex_thresholds(np.concatenate([np.zeros(0), *parts]), ptr, np.full(len(parts), radius))
    for part, threshold in zip(parts, theta, strict=True):
        if len(part):
            assert np.maximum(part - threshold, 0).sum() == pytest.approx(radius, rel=1e-12)


def test_thresholds_survive_radii_that_are_lost_in_rounding() -> None:
    x = np.full(7, 0.1) * 3
    theta = simplex_thresholds(np.concatenate([x, x]), np.array([0, 7, 14]), np.array([0.0, 1e-30]))
    np.testing.assert_allclose(theta, 0.3, rtol=1e-15)


def test_ball_of_no_radius_and_points_outside() -> None:
    v, g = np.array([1.0, -2.0, 0.0]), np.ones(3)
    assert L1Ball(0.0).prox(v, 1.0).tolist() == [0, 0, 0]
    assert L1Ball(0.0).violation(np.zeros(3), g).tolist() == [0, 0, 0]
    assert L1Ball(0.0).polar(g) == 0
    assert np.all(L1Ball(1.0).violation(v, g) == np.inf)
    assert L1Ball(3.0).value(v) == 0
    assert L1Ball(2.9).value(v) == np.inf
