"""What holds for all penalties on groups: binding, mistakes, exact zeros and steps."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

from feature_tables import TABLE
from group_cases import CROSSED, NESTED, random
from parsimon.errors import ParsimonError
from parsimon.penalties import (
    GroupLasso,
    L1Ball,
    OverlappingGroupLasso,
    SparseGroupLasso,
    TreeLasso,
    never_dropped,
)
from parsimon.penalties.groupings import ByAttribute, ByTemplate
from parsimon.penalties.groups import Groups

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


# ---- the same by other ways -----------------------------------------------------------------------------------


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


# ---- thresholds of L1 balls ------------------------------------------------------------------------------------
