"""How strong the penalty of a network should be: along a path of strengths, by a criterion or on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.solvers import Weights
    from parsimon.tasks.networks.training import NetworkTask, NetworkTraining

PATIENCE = 5  # strengths in a row that are no better than the best, after which a path ends


@dataclass(frozen=True, eq=False)
class NetworkPath:
    """Falling strengths, with a score of each (the larger, the better) and how many edges it leaves."""

    alphas: Array
    scores: Array
    n_edges: IntArray
    criterion: str  # what the scores are
    best: int

    @property
    def alpha(self) -> float:
        """The strength with the best score."""
        return float(self.alphas[self.best])

    def to_dict(self) -> dict[str, Any]:
        """For model files."""
        return {
            "alphas": self.alphas.tolist(),
            "scores": self.scores.tolist(),
            "n_edges": self.n_edges.tolist(),
            "criterion": self.criterion,
            "best": self.best,
        }

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> NetworkPath:
        """From a model file."""
        return cls(
            np.array(told["alphas"], np.float64),
            np.array(told["scores"], np.float64),
            np.array(told["n_edges"], np.int64),
            str(told["criterion"]),
            int(told["best"]),
        )


Choice: TypeAlias = Callable[["NetworkTraining", "NetworkTask"], "tuple[NetworkPath, Weights]"]


def by_criterion(
    training: NetworkTraining, task: NetworkTask, *, extended: bool
) -> tuple[NetworkPath, Weights]:
    """Minus BIC or EBIC of the edges that each strength leaves, their weights learnt again nearly without penalty.

    As Foygel & Drton (2010) do: a penalised fit would blame the edges for what the penalty has shrunk. Of strengths
    that leave the same edges the smallest is taken, which shrinks their weights least. What belief propagation takes
    for the likelihood is no judge of edges that make loops, so then it is the pseudo-likelihood that judges, too.
    """
    alphas = training.alphas(task)
    judge = training if training.sound else replace(training, loss="pseudo-likelihood")
    gamma = training.gamma if extended else 0.0
    known: dict[bytes, float] = {}
    scores, n_edges, weights = [], [], []
    for alpha, _, result in training.along(task, alphas):
        edges = task.edges_of(result.weights)
        key = edges.tobytes()
        if key not in known:
            known[key] = -_judged(judge, task, edges, alpha, result.weights, gamma)
        scores.append(known[key])
        n_edges.append(len(edges))
        weights.append(result.weights)
        best = _last_best(scores)
        if len(scores) > best + PATIENCE:
            break
    kind = "pseudo-" if judge.loss == "pseudo-likelihood" else ""
    name = f"-{kind}EBIC, gamma {gamma:g}" if extended else f"-{kind}BIC"
    return NetworkPath(alphas[: len(scores)], np.array(scores), np.array(n_edges), name, best), weights[best]


def _last_best(scores: list[float]) -> int:
    """The place of the best score, and the last of equals."""
    return len(scores) - 1 - int(np.argmax(scores[::-1]))


def _judged(
    judge: NetworkTraining, task: NetworkTask, edges: IntArray, alpha: float, start: Weights, gamma: float
) -> float:
    """The criterion of some edges, their weights learnt again."""
    from parsimon.tasks.networks.criterion import criterion, effective_parameters

    problem = judge.problem(task, alpha)
    weights = judge.refit(problem, task, edges, start).weights
    model = judge.model(task, weights, edges, {})
    features = task.features_with(edges)
    loss = problem.loss_and_full_gradient(weights.at(features), features)[0]
    d = float(np.count_nonzero(model.weights))
    counted = d
    if judge.loss == "pseudo-likelihood":
        counted = effective_parameters(model, task.table.codes, task.counts)
    excess = counted / d if d else 1.0
    return criterion(loss, counted, len(edges), task.n_rows, len(task.table.names), gamma * excess)


def by_folds(training: NetworkTraining, task: NetworkTask) -> tuple[NetworkPath, Weights]:
    """The mean log pseudo-likelihood of a row that was held out."""
    n = len(task.table)
    if n < training.cv:
        raise ParsimonError(f"cv is {training.cv}, but there are only {n} rows; give fewer folds.")
    alphas = training.alphas(task)
    fold = np.random.default_rng(training.seed).permutation(np.arange(n) % training.cv)
    splits = [
        (task.part(np.flatnonzero(fold != k)), task.part(np.flatnonzero(fold == k)))
        for k in range(training.cv)
    ]
    # Losses are summed, so a strength for all rows is less for fewer.
    paths = [training.along(rows, alphas * (rows.n_rows / task.n_rows)) for rows, _ in splits]
    scores: list[float] = []
    for fits in zip(*paths, strict=False):  # one may end early
        total = 0.0
        for (rows, held), (_, _, result) in zip(splits, fits, strict=True):
            model = training.model(rows, result.weights, rows.edges_of(result.weights), {})
            of_rows = model.log_likelihood(held.table.codes, "pseudo-likelihood", threads=training.threads)
            total += float(np.sum(of_rows if held.counts is None else of_rows * held.counts))
        scores.append(total / task.n_rows)
        if len(scores) > int(np.argmax(scores)) + PATIENCE:
            break
    weights = [result.weights for _, _, result in training.along(task, alphas[: len(scores)])]
    scores = scores[: len(weights)]
    n_edges = np.array([len(task.edges_of(each)) for each in weights])
    best = int(np.argmax(scores))
    name = "held-out log pseudo-likelihood a row"
    return NetworkPath(alphas[: len(scores)], np.array(scores), n_edges, name, best), weights[best]


CRITERIA: dict[str, Choice] = {
    "bic": partial(by_criterion, extended=False),
    "ebic": partial(by_criterion, extended=True),
    "cv": by_folds,
}
