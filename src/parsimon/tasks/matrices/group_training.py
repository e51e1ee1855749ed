"""Training with a penalty on any groups of columns: at one strength, or at many, from the largest that matters down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNet, GroupLasso, OverlappingGroupLasso, never_dropped
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Problem
from parsimon.solvers import Result, Weights, choose_solver, drive
from parsimon.solvers.duality_gap import duality_gap
from parsimon.tasks.matrices.training import FlatTraining


@dataclass(frozen=True)
class GroupTraining:
    """Minimises Σ loss + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖² over groups that may overlap.

    >>> import numpy as np
    >>> from parsimon.tasks.matrices.column_groups import as_groups
    >>> from parsimon.tasks.matrices.training import FlatTraining
    >>> from parsimon.tasks.matrices.group_training import GroupTraining
    >>> training = GroupTraining(as_groups([[0, 1], [1, 2]], 3), FlatTraining("squared", tol=1e-9))
    >>> X, y = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([2.0, 1.0, 1.0])
    >>> problem = training.problem(X, y, 1, alpha=0.1)
    >>> round(training.max_alpha(problem), 4)
    0.4714
    >>> [float(np.round(np.linalg.norm(r.weights.dense()[:3]), 2)) for _, r in training.path(problem, [0.5, 0.1])]
    [0.0, 0.79]
    """

    groups: Groups
    flat: FlatTraining = field(default_factory=FlatTraining)
    l1: float = 0.0
    l2: float = 0.0
    bias: bool = True

    def problem(
        self, X: Any, gold: Any, n_labels: int, alpha: float, weights: Array | None = None
    ) -> Problem:
        """Σ loss + Ω; one label: real outputs."""
        return self.flat.problem(X, gold, n_labels, self.penalty(alpha), bias=self.bias, weights=weights)

    def penalty(self, alpha: float) -> ElasticNet | GroupPenalty:
        """The simplest that says it: solvers for single weights and for disjoint groups are the faster ones."""
        if alpha == 0:
            return ElasticNet(self.l1, self.l2)
        kind = GroupLasso if self.groups.disjoint else OverlappingGroupLasso
        return kind(alpha, self.groups, l1=self.l1, l2=self.l2)

    def solve(
        self,
        problem: Problem,
        start: Weights | None = None,
        callbacks: Sequence[Callable[[Any], Any]] = (),
    ) -> Result:
        """The best weights, and a duality gap that says how good they are."""
        flat = self.flat
        if flat.solver == "auto" and isinstance(problem.penalty, OverlappingGroupLasso):
            flat = replace(flat, solver="block-working-set")  # ADMM is for more groups than that
        result = flat.solve(problem, start, callbacks=callbacks)
        if result.gap is not None:
            return result
        return replace(result, gap=duality_gap(problem, result.weights.dense()))

    def max_alpha(self, problem: Problem) -> float:
        """The alpha from which on all groups are zero; `problem` may have any other than zero."""
        penalty: Any = problem.penalty
        apart = self.without_groups(problem)
        loose = apart.features
        assert loose is not None
        _, gradient = problem.loss_and_full_gradient(apart.values, loose)
        gradient[loose] = 0.0  # what is left of it at the optimum is not the groups' concern
        return float(penalty.dual_norm(gradient))

    def without_groups(self, problem: Problem) -> Weights:
        """The best weights of intercepts and columns in no group, all others being zero."""
        penalty: Any = problem.penalty
        loose = never_dropped(penalty, problem.n_features)
        values = np.zeros(len(loose))
        if len(loose):
            free = np.zeros(0, np.int64) if penalty.free is None else np.searchsorted(loose, penalty.free)
            net = ElasticNet(self.l1, self.l2).exempt(free, len(loose))
            alone = replace(problem.restrict(loose), penalty=net)
            start = Weights(values, None, len(loose))
            values = drive(choose_solver("auto", alone, 1e-10), alone, start).weights.dense()
        return Weights(values, loose, problem.n_features)

    def alphas(self, problem: Problem, n_alphas: int, eps: float) -> Array:
        """Evenly spaced in logarithms, from `max_alpha` down to `eps` times that."""
        if n_alphas < 1:
            raise ParsimonError(f"n_alphas is {n_alphas}; give at least 1.")
        if not 0 < eps < 1:
            raise ParsimonError(
                f"eps is {eps}; give the smallest alpha as a share of the largest, between 0 and 1."
            )
        top = self.max_alpha(problem)
        return np.geomspace(top, eps * top, n_alphas) if top > 0 else np.full(n_alphas, np.finfo(float).tiny)

    def path(self, problem: Problem, alphas: Sequence[float] | Array) -> Iterator[tuple[float, Result]]:
        """Solutions from the largest alpha to the smallest, each from where the one before it ended."""
        start = self.without_groups(problem)
        for alpha in sorted((float(each) for each in alphas), reverse=True):
            here = replace(problem, penalty=problem.penalty.scaled(alpha))
            result = self.solve(here, start)
            start = result.weights
            yield alpha, result
