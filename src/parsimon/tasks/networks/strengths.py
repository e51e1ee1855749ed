"""Selects the strength of a network's penalty along a path, by an information criterion or by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from parsimon import forms
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.solvers import Weights
from parsimon.tasks.networks.criterion import criterion, effective_parameters
from parsimon.tasks.networks.model import NetworkPath, PathEnd

if TYPE_CHECKING:
    from parsimon.problem import InMemoryProblem
    from parsimon.tasks.networks.training import NetworkTask, NetworkTraining
    from parsimon.tasks.training import Run

Choice: TypeAlias = Callable[["NetworkTraining", "NetworkTask", "Run"], tuple[NetworkPath, Weights]]


def by_criterion(
    training: NetworkTraining, task: NetworkTask, run: Run, *, extended: bool
) -> tuple[NetworkPath, Weights]:
    """Selects by minus the BIC or EBIC of the edges of each strength, with weights refitted almost without penalty.

    This follows Foygel & Drton (2010): the likelihood of a penalised fit would be too low, because the penalty shrinks
    the weights. Of several strengths with the same edges, the smallest is selected, which shrinks the weights least.
    The likelihood that belief propagation finds is unreliable on graphs with loops, so then the pseudo-likelihood is
    the criterion.
    """
    alphas = _alphas(training, task, run)
    judge = training if training.sound else replace(training, loss="pseudo-likelihood")
    gamma = training.gamma if extended else 0.0
    known: dict[bytes, float] = {}
    scores: list[float] = []
    graphs: list[bytes] = []
    n_edges, weights, best, end = [], [], 0, PathEnd.BROKEN
    for number, (alpha, _, result) in enumerate(training.along(task, alphas, run), 1):
        complete = not result.status.stopped_early
        edges = task.edges_of(result.weights)
        score = known.get(edges.tobytes())
        if complete and score is None:
            problem = judge.problem(task, alpha)
            score = _judged(judge, task, problem, edges, result.weights, gamma, run, number)
            complete = score is not None
        if not complete:
            end = PathEnd.TIME
            if scores:  # an unfinished fit is left out
                break
        if score is None:  # except the first, so that there is at least one
            score = _score(judge, task, judge.problem(task, alpha), edges, result.weights, gamma)
        known[edges.tobytes()] = score
        scores.append(score)
        graphs.append(edges.tobytes())
        n_edges.append(len(edges))
        weights.append(result.weights)
        best = _last_best(scores)
        if not complete:
            break
        if _since(graphs, best) >= training.patience:
            end = PathEnd.PATIENCE
            break
        if number == len(alphas):
            end = PathEnd.WEAKEST
    kind = "pseudo-" if judge.loss == "pseudo-likelihood" else ""
    name = f"-{kind}EBIC, gamma {gamma:g}" if extended else f"-{kind}BIC"
    path = NetworkPath(alphas[: len(scores)], np.array(scores), np.array(n_edges), name, best, end)
    return path, weights[best]


def _last_best(scores: list[float]) -> int:
    """The place of the best score, and the last of equals."""
    return len(scores) - 1 - int(np.argmax(scores[::-1]))


def _since(graphs: Sequence[Hashable], best: int) -> int:
    """How many other graphs have followed that of the best strength: a strength that leaves the same edges as another
    is no further attempt.

    >>> _since(["a", "b", "b", "b", "c", "b"], best=0)
    2
    """
    return len(set(graphs[best + 1 :]) - {graphs[best]})


def _judged(
    judge: NetworkTraining,
    task: NetworkTask,
    problem: InMemoryProblem,
    edges: IntArray,
    start: Weights,
    gamma: float,
    run: Run,
    number: int,
) -> float | None:
    """Minus the criterion of some edges, their weights learnt again; None if there was no time for that."""
    name = f"refit of strength {number}"
    refit = judge.refit(problem, task, edges, start, run, name, brief=True)
    if refit.status.stopped_early:
        return None
    return run.once(
        f"score of strength {number}",
        partial(_score, judge, task, problem, edges, refit.weights, gamma),
        lambda score: {"score": score},
        lambda kept: float(forms.number(kept["score"], "the score")),
    )


def _score(
    judge: NetworkTraining,
    task: NetworkTask,
    problem: InMemoryProblem,
    edges: IntArray,
    weights: Weights,
    gamma: float,
) -> float:
    """Minus the criterion of some edges with these weights."""
    model = judge.model(task, weights, edges)
    features = task.features_with(edges)
    loss = problem.loss_and_gradient(Weights(weights.at(features), features, problem.n_features))[0]
    d = float(np.count_nonzero(model.weights))
    counted = d
    if judge.loss == "pseudo-likelihood":
        counted = effective_parameters(model, task.table.codes, task.counts)
    excess = counted / d if d else 1.0
    return -criterion(loss, counted, len(edges), task.n_rows, len(task.table.names), gamma * excess)


def by_folds(training: NetworkTraining, task: NetworkTask, run: Run) -> tuple[NetworkPath, Weights]:
    """The mean log pseudo-likelihood of a row that was held out."""
    n = len(task.table)
    if n < training.cv:
        raise ParsimonError(f"cv is {training.cv}, but there are only {n} rows; give fewer folds.")
    alphas = _alphas(training, task, run)
    scores, end = _held_out(training, task, alphas, run)
    weights: list[Weights] = []
    for _, _, result in training.along(task, alphas[: len(scores)], run):
        if result.status.stopped_early:
            end = PathEnd.TIME
            if weights:
                break
        weights.append(result.weights)
    if end is not PathEnd.TIME and len(weights) < len(scores):
        scores, end = scores[: len(weights)], PathEnd.BROKEN
    best = int(np.argmax(scores))
    n_edges = np.full(len(scores), -1)
    n_edges[: len(weights)] = [len(task.edges_of(each)) for each in weights[: len(scores)]]
    name = "held-out log pseudo-likelihood a row"
    path = NetworkPath(alphas[: len(scores)], np.array(scores), n_edges, name, best, end)
    return path, weights[min(best, len(weights) - 1)]


def _held_out(
    training: NetworkTraining, task: NetworkTask, alphas: Array, run: Run
) -> tuple[list[float], PathEnd]:
    """The score of each strength until they get no better; and what has ended that."""
    fold = np.random.default_rng(training.seed).permutation(np.arange(len(task.table)) % training.cv)
    splits = [
        (task.part(np.flatnonzero(fold != k)), task.part(np.flatnonzero(fold == k)))
        for k in range(training.cv)
    ]
    # Losses are summed, so a strength for all rows is less for fewer.
    paths = [
        training.along(rows, alphas * (rows.n_rows / task.n_rows), run, k)
        for k, (rows, _) in enumerate(splits, 1)
    ]
    scores: list[float] = []
    graphs: list[tuple[bytes, ...]] = []  # of all folds
    for fits in zip(*paths, strict=False):  # one may end early
        complete = not any(result.status.stopped_early for _, _, result in fits)
        if not complete and scores:  # an unfinished fit is left out
            return scores, PathEnd.TIME
        total = 0.0
        of_folds = []
        for (rows, held), (_, _, result) in zip(splits, fits, strict=True):
            edges = rows.edges_of(result.weights)
            of_folds.append(edges.tobytes())
            model = training.model(rows, result.weights, edges)
            of_rows = model.log_likelihood(held.table.codes, "pseudo-likelihood", threads=training.n_threads)
            total += float(np.sum(of_rows if held.counts is None else of_rows * held.counts))
        scores.append(total / task.n_rows)
        graphs.append(tuple(of_folds))
        if not complete:
            return scores, PathEnd.TIME
        if _since(graphs, int(np.argmax(scores))) >= training.patience:
            return scores, PathEnd.PATIENCE
    return scores, PathEnd.WEAKEST if len(scores) == len(alphas) else PathEnd.BROKEN


def _alphas(training: NetworkTraining, task: NetworkTask, run: Run) -> Array:
    """The strengths to try; a checkpoint keeps them."""
    return run.once(
        "strengths",
        lambda: training.alphas(task, run),
        lambda alphas: {"alphas": alphas.tolist()},
        lambda kept: _falling(kept["alphas"], training.n_alphas),
    )


def _falling(alphas: Any, n: int) -> Array:
    """Strengths as a checkpoint has them: so many, above zero, none larger than the one before."""
    checked = np.array(forms.list_of(forms.number)(alphas, "the strengths"), np.float64)
    if len(checked) != n or not np.all(checked > 0) or np.any(np.diff(checked) > 0):
        raise ValueError("the strengths do not fall, or are too many or too few")
    return checked


CHOICES: dict[str, Choice] = {
    "bic": partial(by_criterion, extended=False),
    "ebic": partial(by_criterion, extended=True),
    "cv": by_folds,
}
