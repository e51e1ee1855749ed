"""Groups that overlap: shortcuts change no number, and limits are said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from group_cases import CROSSED, NESTED, random
from parsimon.errors import ParsimonWarning
from parsimon.penalties import OverlappingGroupLasso, TreeLasso, overlapping
from parsimon.penalties.groups import BlockGroups, Groups
from parsimon.penalties.overlapping import MOST_PASSES, dual_ascent, parts_of


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
    with pytest.warns(ParsimonWarning, match=r"still moves by .* after 2 passes"):
        dual_ascent(x, parts, 2, 1e-15, 2)
