"""The templates that enter first along a path of group lassos."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from parsimon.arrays import IntArray
from parsimon.penalties import L2, GroupLasso, never_dropped
from parsimon.penalties.groupings import ByTemplate, Grouping
from parsimon.problem import Problem
from parsimon.selection.base import (
    Candidates,
    Selected,
    always_kept,
    check_budget,
    completed,
    selected,
    template_norms,
)
from parsimon.solvers import choose_solver
from parsimon.solvers.base import Status
from parsimon.solvers.convergence import VIOLATIONS
from parsimon.solvers.driver import Monitor, drive
from parsimon.weights import Weights


@dataclass(frozen=True)
class GroupLassoPath:
    """A path of group lassos with the problem's own loss, down from the strength at which all templates are out.

    Every strength is solved to a certified optimum, with violations of at most `tol` times the strength; the path
    ends before more than `budget` templates are in. The score of a template is the largest strength at which it was in.
    """

    budget: int = 30
    groups: Grouping = field(default_factory=ByTemplate)
    l1: float = 0.0
    l2: float = 0.1  # what is never dropped might have no finite optimum without it
    ratio: float = 0.8
    most_steps: int = 40
    tol: float = 0.1
    name: ClassVar[str] = "group-lasso"
    weighs_features: ClassVar[bool] = True

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Goes down the path."""
        features = candidates.features
        check_budget(self.budget, features, self.groups)
        penalty = GroupLasso(1.0, groups=self.groups, l1=self.l1, l2=self.l2).bind(features)
        problem = candidates.problem.with_penalty(penalty)
        free = never_dropped(penalty, problem.n_features)
        weights, strength = _first_of_path(problem, free, self.l2, monitor)
        score = np.zeros(len(features.template_names()))
        kept, left = score > 0, weights
        for _ in range(self.most_steps):
            strength *= self.ratio
            problem = problem.with_penalty(penalty.scaled(strength))
            solver = choose_solver("auto", problem, self.tol / VIOLATIONS)
            result = completed(drive(solver, problem, weights, monitor))
            weights = result.weights
            norms = template_norms(features, weights)
            alive = (norms > 0) & ~always_kept(features)
            score = np.where(alive & (score == 0), strength, score)
            if alive.sum() > self.budget:
                break
            kept, left = alive, weights
            if result.status is Status.TIME:
                break
        return selected(features, kept, score, monitor.history, left)


def _first_of_path(problem: Problem, free: IntArray, l2: float, monitor: Monitor) -> tuple[Weights, float]:
    """The weights of features that are never dropped, fitted alone, and the strength that keeps all others out."""
    alone = problem.restrict(free).with_penalty(L2(l2))
    zero = Weights(np.zeros(len(free)), None, len(free))
    result = completed(drive(choose_solver("lbfgs", alone, 1e-3), alone, zero, monitor))
    weights = Weights(result.weights.dense(), free.astype(np.int64), problem.n_features)
    gradient = problem.evaluate(weights).gradient
    gradient[free] = 0.0  # as good as zero
    return weights, float(problem.penalty.dual_norm(gradient))
