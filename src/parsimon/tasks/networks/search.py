"""How edges are found: by a penalty, whose strength is given or selected, or as greedy neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from parsimon.arrays import IntArray
from parsimon.selection.neighbourhoods import greedy_neighbourhoods, joined
from parsimon.solvers import Result, Status
from parsimon.tasks.networks.model import NetworkPath, Stability
from parsimon.tasks.networks.stability import edge_stability
from parsimon.tasks.networks.strengths import CHOICES

if TYPE_CHECKING:
    from parsimon.tasks.networks.training import NetworkTask, NetworkTraining
    from parsimon.tasks.training import Run

Search: TypeAlias = Callable[["NetworkTraining", "NetworkTask", "Run"], "Found"]
PROPER_END = (Status.ITERATIONS,)  # of a fit that others go on from
REFIT = 0.01  # of the strength: enough to keep weights finite where a state never meets another
RIDGE = (
    1.0  # the strength of L2 for the weights of edges that were found without a penalty; keeps them finite
)


@dataclass(frozen=True, eq=False)
class Found:
    """Edges, their weights, and how they were found."""

    edges: IntArray  # the numbers of candidate edges
    result: Result
    alpha: float
    complete: bool  # whether there was time for all of the search
    path: NetworkPath | None = None
    stability: Stability | None = None


def by_penalty(training: NetworkTraining, task: NetworkTask, run: Run) -> Found:
    """Selects the strength if necessary, then fits; then keeps stable edges only, if they are asked for."""
    alpha, path, first = training.strength, None, None
    if isinstance(alpha, str):
        path, first = CHOICES[alpha](training, task, run)
        alpha = path.alpha
    run.phase("fitting")
    problem = training.problem(task, alpha)
    first = training.independent(problem, task, run) if first is None else first
    # The choice of a path that ran out of time may change when it is resumed, so this fit has another name.
    name = "fit" if path is None or path.complete else f"fit so far, strength {path.best + 1}"
    ends = () if training.stability is None else PROPER_END
    result = training.minimise(problem, first, run, name, proper_end=ends)
    kept, stability = task.edges_of(result.weights), None
    if training.stability is not None and result.status is not Status.INTERRUPTED:
        stability = edge_stability(training, task, problem.penalty.strength, run)
    if stability is not None:
        kept = np.flatnonzero(stability.of_edges(task.edges) >= stability.threshold)
        run.phase("refitting")
        some = stability.halves < stability.wanted
        name = f"refit after {stability.halves} halves" if some else "refit"
        result = training.refit(problem, task, kept, result.weights, run, name)
    halves = 0 if stability is None else stability.halves
    complete = (path is None or path.complete) and training.stability in (None, halves)
    return Found(kept, result, problem.penalty.strength, complete, path, stability)


def greedily(training: NetworkTraining, task: NetworkTask, run: Run) -> Found:
    """The edges of greedy neighbourhoods, then their weights with very little L2 penalty.

    An edge is kept if one of its ends has the other as a neighbour. The search takes so little time that a resumed run
    repeats it.
    """
    run.phase("looking for neighbours")
    table = task.table
    gamma = training.gamma if training.strength == "ebic" else 0.0
    found = greedy_neighbourhoods(
        table.codes, table.arity, task.counts, gamma=gamma, stopped=lambda: run.stopped is not None
    )
    complete = len(found) == len(table.names)
    run.phase("fitting")
    name = "fit" if complete else f"fit to the neighbours of {len(found)} columns"
    edges = task.numbers_of(joined(found))
    return Found(edges, training.ridge(task, edges, RIDGE, run, name), RIDGE, complete)


SEARCHES: dict[str, Search] = {"penalty": by_penalty, "greedy": greedily}
