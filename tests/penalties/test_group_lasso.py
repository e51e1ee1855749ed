"""Groups that do not overlap: one factor a group, and shortcuts that change no number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from group_cases import random
from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNetGroups, GroupLasso, SparseGroupLasso
from parsimon.penalties.groupings import ByTemplate
from parsimon.penalties.groups import Groups
from penalty_kinds import N, apart


def test_constructors() -> None:
    w = random(8)
    groups = Groups.consecutive(np.array([0, 3, 8]), 8)
    plain = GroupLasso(1.0, groups).value(w)
    assert SparseGroupLasso(1.0, 0.5, groups).value(w) == pytest.approx(plain + 0.5 * np.abs(w).sum())
    assert ElasticNetGroups(1.0, 0.5, groups).value(w) == pytest.approx(plain + 0.25 * w @ w)
    assert SparseGroupLasso(1.0, 0.5).groups == ElasticNetGroups(1.0, 0.5).groups == ByTemplate()


def test_norms_have_one_spelling() -> None:
    assert {GroupLasso(1.0, norm=n).norm for n in (2, 2.0, "2")} == {2}
    assert {GroupLasso(1.0, norm=n).norm for n in ("inf", np.inf)} == {"inf"}


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


def test_groups_with_the_norm_inf_have_no_majorizer() -> None:
    with pytest.raises(ParsimonError, match="a majorizer needs groups with the norm 2"):
        GroupLasso(1.0, apart, norm="inf").majorizer(np.ones(N))


@pytest.mark.parametrize("norm", [2, "inf"])
@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_the_conjugate_is_the_highest_of_what_it_bounds(norm: float | str, l1: float) -> None:
    random = np.random.default_rng(0)
    groups = Groups.from_lists([[0, 1, 2], [3, 4]], n_features=6)
    penalty = GroupLasso(0.7, groups, norm=norm, l1=l1, l2=0.5)
    for _ in range(20):
        z = 2 * random.normal(size=6)
        best = replace(penalty, l2=0.0).prox(z, 1.0) / 0.5
        assert penalty.conjugate(z) == pytest.approx(z @ best - penalty.value(best))
        for w in best + 0.3 * random.normal(size=(20, 6)):
            assert z @ w - penalty.value(w) <= penalty.conjugate(z) + 1e-12
    small = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.0])
    rough = replace(penalty, l2=0.0)
    assert (rough.conjugate(small), rough.conjugate(10 * np.ones(6))) == (0.0, np.inf)
    exempt = penalty.exempt(np.array([5]), 6)
    assert (exempt.conjugate(small), exempt.conjugate(small + 0.1)) == (0.0, np.inf)


@pytest.mark.parametrize("norm", [2, "inf"])
@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("exempt", [False, True])
def test_the_conjugate_along_a_ray_is_the_conjugate(norm: float | str, l1: float, exempt: bool) -> None:
    groups = Groups.from_lists([[0, 1, 5], [2, 3], [], [6]], 8, weight=np.array([1.0, 0.5, 1.0, 0.0]))
    penalty = GroupLasso(0.7, groups, norm=norm, l1=l1, l2=0.4)  # 4 and 7 are in no group
    z = random(8)
    if exempt:
        penalty = penalty.exempt(np.array([1, 7]), 8)
        along = penalty.conjugate_along(z)
        assert along(0.5) == np.inf
        z[[1, 7]] = 0.0
    along = penalty.conjugate_along(z)
    for theta in (1e-6, 0.1, 0.5, 1.0, 3.0):
        assert along(theta) == pytest.approx(penalty.conjugate(theta * z), rel=1e-12, abs=1e-15)
    assert along(3.0) > 0
