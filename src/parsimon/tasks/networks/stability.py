"""Stability selection (Meinshausen & Bühlmann 2010): which edges are found again on random halves of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.solvers.base import Status

if TYPE_CHECKING:
    from parsimon.tasks.networks.training import NetworkTask, NetworkTraining


def edge_frequencies(training: NetworkTraining, task: NetworkTask, alpha: float) -> Array:
    """Of every candidate edge the share of halves on which it has a weight, at the strength `alpha` for all rows."""
    n, halves = len(task.table), training.stability
    assert halves is not None
    if n < 4:
        raise ParsimonError(f"there are only {n} rows, too few to take halves of; leave out stability.")
    # Not the seed of the folds, which are another use of chance.
    random = np.random.default_rng([training.seed, 1])
    found = np.zeros(len(task.edges))
    for _ in range(halves):
        part = task.part(np.sort(random.choice(n, n // 2, replace=False)))
        problem = training.problem(part, alpha * part.n_rows / task.n_rows)
        result = training.solve(problem, training.independent(problem, part))
        if result.status is Status.INTERRUPTED:  # few halves tell nothing
            raise KeyboardInterrupt
        found[part.edges_of(result.weights)] += 1
    return found / halves
