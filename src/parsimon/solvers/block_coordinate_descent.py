"""Block coordinate descent for CRFs with an elastic net (Sokolovska et al. 2010; Lavergne et al. 2010, §3.4).

A block is all features of one test on the observations: as many as there are labels and pairs of labels. Gradient g and
Hessian's diagonal h of a block come from the sequences on which its test fires, by forward and backward recursions that
go no further than they must, and

    w ← S(h w − g, ρ1) / (h + ρ2)

A sweep goes through all blocks; between two sweeps some more go through the active ones only, those with a weight that
is not zero. Memory is what is active, plus the data. Sweeps are compiled (core/learners/block_descent.hpp).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from parsimon._core import BlockDescent
from parsimon.errors import ParsimonError
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import (
    ALL_LABELS,
    BLOCKS,
    ELASTIC,
    ELASTIC_OR_GROUPS,
    FREE_TRANSITIONS,
    LOG_LOSS,
    PROX,
    SEPARABLE,
    UNIFORM,
    Requires,
)
from parsimon.solvers.convergence import goal_of
from parsimon.solvers.working_set import look_at_all
from parsimon.weights import Weights


@dataclass(frozen=True)
class BlockCoordinateDescent:
    """Sweeps over blocks of features.

    `caution` multiplies the Hessian's diagonal: features of a block are moved together, and their second derivatives
    by each other are not in it. After each sweep over all blocks there are `active_sweeps` over the active ones.
    Converges when the optimality conditions of all features and the duality gap do (`solvers/convergence.py`).
    """

    epochs: int | None = None  # sweeps over all blocks; None: until it has converged
    tol: float = 1e-4
    caution: float = 1.5
    active_sweeps: int = 2
    name: ClassVar[str] = "bcd"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = (
        SEPARABLE,
        ELASTIC_OR_GROUPS,
        BLOCKS,
        FREE_TRANSITIONS,
        LOG_LOSS,
        ALL_LABELS,
        PROX,
        ELASTIC,
        UNIFORM,
    )

    def __post_init__(self) -> None:
        if self.epochs is not None and self.epochs < 1:
            raise ParsimonError(f"epochs must be at least 1, not {self.epochs}.")
        if not self.caution >= 1:
            raise ParsimonError(f"caution multiplies second derivatives: at least 1, not {self.caution}.")

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the start and after every sweep, with a certificate before each sweep over all blocks."""
        instances, given = BLOCKS.of(problem), start.nonzero()
        descent = instances.descent()
        assert given.features is not None
        descent.start(given.features, given.values)
        goal = None
        evaluations = epoch = 0
        while True:
            features, values = descent.weights()
            weights = Weights(values, features, problem.n_features)
            view = look_at_all(problem, weights, 1.0)
            evaluations += 1
            if goal is None:
                goal, more = goal_of(problem, self.tol, given.values, view.largest)
                evaluations += more
            status = None
            if view.reached(goal):
                status = Status.CONVERGED
            elif epoch == self.epochs:
                status = Status.DONE
            yield replace(view.certificate(weights, evaluations), phase="all blocks", status=status)
            if status is not None:
                return
            evaluations = yield from self._sweeps(problem, descent, instances.threads, evaluations)
            epoch += 1

    def _sweeps(
        self, problem: Problem, descent: BlockDescent, threads: int, evaluations: int
    ) -> Generator[Iterate, None, int]:
        """One sweep over all blocks, then some over the active ones; returns the number of evaluations."""
        terms = ELASTIC.of(problem)
        descent.sweep(np.arange(descent.n_blocks), terms.l1, terms.l2, self.caution, threads)
        evaluations += 1
        for _ in range(self.active_sweeps):
            active = descent.active_blocks()
            descent.sweep(active, terms.l1, terms.l2, self.caution, threads)
            features, values = descent.weights()
            objective = problem.restrict(features).objective(values)
            evaluations += 2
            weights = Weights(values, features, problem.n_features)
            yield Iterate(weights, objective, evaluations, phase=f"{len(active):,} blocks")
        return evaluations
