"""The smallest training there is: logistic regression in one room, for tests of the frame around all trainings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.penalties import ElasticNet
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Result, Weights
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.options import DevelopmentOptions, PenaltyOptions, PruningOptions, changed
from parsimon.tasks.training import Run, Trained, Training


@dataclass(frozen=True)
class Examples:
    X: Array
    y: IntArray


def examples(n: int = 60, seed: int = 0) -> Examples:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    return Examples(X, (X[:, 0] - X[:, 1] + random.normal(size=n) > 0).astype(np.int64))


@dataclass(frozen=True)
class TinyModel:
    weights: Array
    info: dict[str, Any]


@dataclass(frozen=True)
class TinyTask:
    problem: InMemoryProblem

    @property
    def features(self) -> None:
        return None

    def development_score(self, dev: Examples) -> Callable[[Weights], float]:
        return lambda weights: float(np.mean((dev.X @ weights.dense()[:6] > 0) == dev.y))

    def facts(self) -> dict[str, Any]:
        return {"examples": self.problem.n_instances}

    def model(self, result: Result, info: dict[str, Any]) -> TinyModel:
        return TinyModel(result.weights.dense(), info)


@dataclass(kw_only=True)
class TinyTraining(PenaltyOptions, PruningOptions, DevelopmentOptions, Training[Examples, TinyModel]):
    kind: ClassVar[str] = "tiny"

    l1: float = changed(PenaltyOptions, "l1", 0.5)

    def content(self, data: Examples) -> Sequence[Any]:
        return [data.X, data.y]

    def task(self, data: Examples) -> TinyTask:
        return TinyTask(flat_problem(data.X, data.y, 2, ElasticNet(self.l1, self.l2)))

    def train(self, data: Examples, run: Run, *, dev: Any = None, start: Any = None) -> Trained[TinyModel]:
        task = self.task(data)
        run.phase("training")
        result = self.solve(task, start, run, dev=dev)
        return Trained(task.model(result, self.describe(task, result)), result)
