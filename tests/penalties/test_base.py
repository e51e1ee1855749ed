"""What penalties inherit: a penalty that writes only the five methods it must write has all others right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from feature_tables import TABLE
from parsimon.errors import ParsimonError
from parsimon.penalties import L1, BasePenalty, GroupLasso, never_dropped
from parsimon.penalties.base import check_strengths, exempted
from parsimon.penalties.groupings import ByTemplate
from parsimon.penalties.groups import Groups
from penalty_kinds import N, on_l1_ball, vectors


@dataclass(frozen=True)
class Norm(BasePenalty):
    """strength · ‖w‖_p, with p = 1, 2 or ∞ and nothing but the methods that a penalty must write."""

    strength: float
    p: float
    groups: Any = None

    def value(self, w: Any) -> float:
        return self.strength * float(np.linalg.norm(w, self.p))

    def prox(self, v: Any, step: Any) -> Any:
        """v minus its projection on the ball of the dual norm."""
        radius = self.strength * float(np.min(step))
        if self.p == 1:
            return v - np.clip(v, -radius, radius)
        if self.p == 2:
            return v * max(0.0, 1 - radius / max(np.linalg.norm(v), 1e-300))
        return v - on_l1_ball(v, radius)

    def violation(self, w: Any, gradient: Any) -> Any:
        return np.abs(w + 2 * gradient)  # not right, but it tells its arguments apart

    def restrict(self, features: Any) -> Norm:
        return self

    def scaled(self, strength: float) -> Norm:
        return replace(self, strength=strength)


DUALS = {1: np.inf, 2: 2, np.inf: 1}


@pytest.mark.parametrize("p", DUALS)
@given(vectors)
def test_the_polar_is_the_dual_norm(p: float, g: Any) -> None:
    """Found from values and proximal steps alone; for norms it has a closed form."""
    wanted = float(np.linalg.norm(g, DUALS[p]))
    assert Norm(0.5, p).polar(g) == pytest.approx(wanted / 0.5, rel=1e-9)
    assert Norm(0.5, p).dual_norm(g) == pytest.approx(wanted, rel=1e-9)


def test_where_nothing_holds_a_weight_the_polar_is_infinite() -> None:
    @dataclass(frozen=True)
    class Nothing(Norm):
        def value(self, w: Any) -> float:
            return 0.0

        def prox(self, v: Any, step: Any) -> Any:
            return v

    assert Nothing(1.0, 1).polar(np.ones(N)) == np.inf
    assert Nothing(1.0, 1).polar(np.zeros(N)) == 0


def test_what_is_not_written_is_that_of_a_norm() -> None:
    penalty, w = Norm(0.5, 2), np.arange(N) - 2.5
    assert (penalty.smooth, penalty.separable, penalty.projection, penalty.proximal) == (
        False,
        False,
        False,
        True,
    )
    assert penalty.weight is None
    np.testing.assert_array_equal(penalty.smooth_gradient(w), 0.0)
    assert penalty.even_steps(np.array([3.0, 1.0, 2.0])).tolist() == [1.0] * 3
    assert penalty.even_steps(np.zeros(0)).tolist() == []


def test_violations_are_gathered_by_group() -> None:
    w, g = np.arange(N) - 2.5, np.linspace(0, 1, N)
    np.testing.assert_array_equal(Norm(0.5, 2).group_violation(w, g), np.abs(w + 2 * g))
    groups = Groups.from_lists([[0, 2, 3], [1]], N)
    each = Norm(0.5, 2, groups).group_violation(w, g)
    np.testing.assert_allclose(each, [np.linalg.norm((w + 2 * g)[[0, 2, 3]]), abs(w + 2 * g)[1]])


def test_groups_are_found_among_the_features() -> None:
    assert Norm(0.5, 2).bind(TABLE) == Norm(0.5, 2)
    bound = Norm(0.5, 2, ByTemplate()).bind(TABLE)
    assert isinstance(bound.groups, Groups)
    assert bound.groups.n_groups == len(TABLE.templates)


def test_leaving_features_out_is_refused_unless_there_are_none() -> None:
    penalty = Norm(0.5, 2)
    assert penalty.exempt(np.zeros(0, int), N) is penalty
    with pytest.raises(ParsimonError, match="the penalty Norm cannot leave features out; penalise them all"):
        penalty.exempt(np.array([1]), N)


def test_weights_of_terms_are_copied_when_features_are_left_out() -> None:
    weight = np.array([1.0, 2.0, 3.0])
    assert exempted(weight, np.array([1]), 3).tolist() == [1.0, 0.0, 3.0]
    assert weight.tolist() == [1.0, 2.0, 3.0]
    assert exempted(None, np.array([0, 2]), 3).tolist() == [0.0, 1.0, 0.0]


def test_features_that_no_strength_drops() -> None:
    assert never_dropped(L1(1.0), 4).tolist() == []
    assert never_dropped(L1(1.0).exempt(np.array([2]), 4), 4).tolist() == [2]
    groups = Groups.from_lists([[0, 1], [1, 2], [3]], 6, weight=[1.0, 0.0, 0.0])
    assert never_dropped(Norm(1.0, 2, groups), 6).tolist() == [2, 3, 4, 5]
    apart = Groups.from_lists([[0, 1], [2, 3]], 4, weight=[0.0, 1.0])
    assert never_dropped(GroupLasso(1.0, apart).exempt(np.array([3]), 4), 4).tolist() == [0, 1, 3]


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_strengths(wrong: float) -> None:
    check_strengths(strength=0.0, l1=1.0)
    with pytest.raises(
        ParsimonError, match=r"^the penalty strength l2 must be zero or more, not (-1\.0|nan|inf)\.$"
    ):
        check_strengths(l1=0.0, l2=wrong)
    with pytest.raises(ParsimonError, match=r"^the penalty strength must be zero or more"):
        check_strengths(strength=wrong)
