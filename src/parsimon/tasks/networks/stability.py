"""Stability selection (Meinshausen & Bühlmann 2010): which edges are found again on random halves of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.tasks.networks.model import Stability

if TYPE_CHECKING:
    from parsimon.tasks.networks.training import NetworkTask, NetworkTraining
    from parsimon.tasks.training import Run


def edge_stability(training: NetworkTraining, task: NetworkTask, alpha: float, run: Run) -> Stability | None:
    """Of every candidate edge the share of halves on which it has a weight, at the strength `alpha` for all rows.

    Halves for which there is no time (or that Ctrl-C cut short) are left out; None if there was time for none.
    """
    n, wanted = len(task.table), training.stability
    assert wanted is not None
    if n < 4:
        raise ParsimonError(f"there are only {n} rows, too few to take halves of; leave out stability.")
    # Not the seed of the folds, which are another use of chance.
    random = np.random.default_rng([training.seed, 1])
    found, halves = np.zeros(len(task.edges)), 0
    for number in range(1, wanted + 1):
        rows = np.sort(random.choice(n, n // 2, replace=False))
        name = f"half {number}"
        result = run.done(name)
        if result is None:
            if run.stopped:
                break
            run.phase(f"{name} of {wanted}")
            part = task.part(rows)
            problem = training.problem(part, alpha * part.n_rows / task.n_rows)
            start = training.independent(problem, part, run)
            result = training.minimise(problem, start, run, name, brief=True)
            if result.status.stopped_early:
                break
        found[task.edges_of(result.weights)] += 1
        halves = number
    if halves == 0:
        return None
    ever = np.flatnonzero(found)
    return Stability(task.edges[ever], found[ever] / halves, halves, wanted, training.stability_threshold)
