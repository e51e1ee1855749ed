"""Capabilities: what they find, what they say when it is missing, and the settings that solvers share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, BasePenalty, GroupLasso, KLNorm, L1Ball
from parsimon.penalties.groups import Groups
from parsimon.solvers import SOLVERS, Capability, Monitor, ProximalQuasiNewton, Weights, choose_solver, drive
from parsimon.solvers import capabilities as known
from parsimon.solvers.capabilities import GROUP_NORMS, PROX, SEPARABLE, SMOOTH_LOSS, first_missing
from toy_problems import make_toy

TOY = make_toy(3)
N = TOY.index.n_features
GROUPS = Groups.from_lists([list(range(first, first + 3)) for first in range(0, N - 2, 3)], n_features=N)


@dataclass(frozen=True)
class SquaredGroups(BasePenalty):
    """strength/2 Σ_m ‖w_m‖₁²: it has groups, but is no sum of their norms."""

    strength: float
    groups: Any = GROUPS

    def value(self, w: Any) -> float:
        return 0.5 * self.strength * float(np.sum(self.groups.reduce(np.abs(w)) ** 2))

    def prox(self, v: Any, step: Any) -> Any:
        return v / (1 + self.strength * np.min(step))  # not exact, but of the right kind

    def violation(self, w: Any, gradient: Any) -> Any:
        return np.abs(gradient)

    def restrict(self, features: Any) -> SquaredGroups:
        return replace(self, groups=self.groups.restrict(features))

    def scaled(self, strength: float) -> SquaredGroups:
        return replace(self, strength=strength)


def test_what_there_is_comes_with_its_type() -> None:
    problem = TOY.problem("log", L1(0.3))
    assert SEPARABLE.missing(problem) is None
    assert SEPARABLE.of(problem).l1_strength == 0.3
    assert SMOOTH_LOSS.of(problem) is problem.loss


def test_what_is_missing_is_said_in_the_order_of_the_solver() -> None:
    problem = TOY.problem("hinge", L1Ball(1.0))
    smooth, separable = (
        "a smooth loss, and hinge is not",
        "a penalty that treats every weight by itself",
    )
    assert first_missing((SMOOTH_LOSS, SEPARABLE, PROX), problem) == smooth
    assert first_missing((SEPARABLE, SMOOTH_LOSS), problem) == separable
    assert first_missing((PROX,), problem) is None
    with pytest.raises(ParsimonError, match=f"this needs {smooth}"):
        SMOOTH_LOSS.of(problem)


def test_every_capability_has_a_sentence_that_can_be_filled_in() -> None:
    found = [each for each in vars(known).values() if isinstance(each, Capability)]
    assert len(found) > 25
    for each in found:
        assert each.sentence.format(loss="log").strip() == each.sentence.format(loss="log")


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_is_refused_or_finds_all_that_it_declares(name: str) -> None:
    solver = SOLVERS[name]()
    for loss in ("log", "hinge"):
        for penalty in (
            L1(0.3),
            L2(0.3),
            KLNorm(10.0),
            L1Ball(1.0),
            GroupLasso(0.3, GROUPS),
            SquaredGroups(0.1),
        ):
            problem = TOY.problem(loss, penalty)
            if first_missing(solver.requires, problem) is None:
                drive(solver, problem, Weights.zeros(N), Monitor(max_iter=2))


def test_groups_that_are_no_norms_get_a_solver_that_can_deal_with_them() -> None:
    problem = TOY.problem("log", SquaredGroups(0.1))
    assert GROUP_NORMS.missing(problem) == "a penalty on the norms of groups"
    assert choose_solver("auto", problem).name == "fista"


def test_a_smooth_part_that_is_no_parabola_is_refused_by_proximal_quasi_newton() -> None:
    with pytest.raises(ParsimonError, match="needs an L1 or L2 penalty or both"):
        choose_solver(ProximalQuasiNewton(), TOY.problem("log", KLNorm(10.0)))
