"""Block coordinate descent for CRFs with an elastic net (Sokolovska et al. 2010; Lavergne et al. 2010, §3.4).

A block is all features of one test on the observations: as many as there are labels and pairs of labels. Gradient g and
Hessian's diagonal h of a block come from the sequences on which its test fires, by forward and backward recursions that
go no further than they must, and

    w ← S(h w − g, ρ1) / (h + ρ2)

A sweep goes through all blocks; between two sweeps some more go through the active ones only, those with a weight that
is not zero. Memory is what is active, plus the data. Sweeps are compiled (core/block_descent.hpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Requires, Status
from parsimon.solvers.working_set import look_at_all
from parsimon.weights import Weights


@dataclass(frozen=True)
class BlockCoordinateDescent:
    """Sweeps over blocks of features.

    `caution` multiplies the Hessian's diagonal: features of a block are moved together, and their second derivatives
    by each other are not in it. After each sweep over all blocks there are `active_sweeps` over the active ones.
    Converges when no feature violates its optimality condition by more than `tol` times the worst at w = 0.
    """

    epochs: int | None = None  # sweeps over all blocks; None: until it has converged
    tol: float = 1e-4
    caution: float = 1.5
    active_sweeps: int = 2
    name: ClassVar[str] = "bcd"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = Requires(
        log_loss=True, separable_penalty=True, uniform_penalty=True, all_labels=True, blocks=True
    )

    def __post_init__(self) -> None:
        if self.epochs is not None and self.epochs < 1:
            raise ParsimonError(f"epochs must be at least 1, not {self.epochs}.")
        if not self.caution >= 1:
            raise ParsimonError(f"caution multiplies second derivatives: at least 1, not {self.caution}.")

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the start and after every sweep; with a certificate before each that goes over all blocks."""
        penalty: Any = problem.penalty
        design: Any = problem.batches[0].design
        descent = design.new_descent()
        for batch in problem.batches:
            batch.design.teach_descent(descent, batch.structure, batch.gold)  # type: ignore[attr-defined]
        descent.make_blocks()
        given = start.nonzero()
        descent.start(given.features, given.values)
        threads = design.threads
        everything = np.arange(descent.n_blocks)
        scale = None
        if len(given.values):
            scale = look_at_all(problem, Weights.zeros(problem.n_features), 1.0).largest
        evaluations = epoch = 0
        while True:
            features, values = descent.weights()
            weights = Weights(values, features, problem.n_features)
            view = look_at_all(problem, weights, 1.0)
            evaluations += 1
            scale = view.largest if scale is None else scale
            status = None
            if view.largest <= self.tol * scale:
                status = Status.CONVERGED
            elif epoch == self.epochs:
                status = Status.DONE
            yield Iterate(
                weights,
                view.objective,
                evaluations,
                kkt=view.largest,
                gap=view.gap,
                phase="all blocks",
                status=status,
            )
            if status is not None:
                return
            descent.sweep(everything, penalty.l1, penalty.l2, self.caution, threads)
            epoch += 1
            evaluations += 1
            for _ in range(self.active_sweeps):
                active = descent.active_blocks()
                descent.sweep(active, penalty.l1, penalty.l2, self.caution, threads)
                evaluations += 1
                features, values = descent.weights()
                narrow = problem.restrict(features)
                evaluations += 1
                yield Iterate(
                    Weights(values, features, problem.n_features),
                    narrow.objective(values),
                    evaluations,
                    phase=f"{len(active):,} blocks",
                )
