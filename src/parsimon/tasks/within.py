"""A learning problem within some of its features: no others can get a weight.

The second stage of Martins et al. (2011) is of this kind: it learns with the features that the first stage has left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from parsimon.arrays import IntArray
from parsimon.problem import Problem
from parsimon.solvers import Result, Weights

if TYPE_CHECKING:
    from parsimon.tasks.training import Task


@runtime_checkable
class KeepsFeatures(Protocol):
    """A task of which only some features may get a weight, if any are named."""

    @property
    def kept(self) -> IntArray | None:
        """Ascending; None: all."""
        ...


@dataclass(frozen=True)
class Within:
    """A task whose problem has only some of the features; it is solved in their numbers.

    Its features have no descriptions, so solvers with groups of their own cannot bind them here.
    """

    task: Task[Any]
    chosen: IntArray  # ascending
    problem: Problem
    features: None = None

    @classmethod
    def of(cls, task: Task[Any], chosen: IntArray) -> Within:
        """Restricts the problem."""
        return cls(task, chosen, task.problem.restrict(chosen))

    def narrowed(self, weights: Weights) -> Weights:
        """Weights of all features in the numbers of those that are kept; others are left out."""
        given = weights.nonzero()
        assert given.features is not None
        place = np.searchsorted(self.chosen, given.features)
        inside = np.isin(given.features, self.chosen, assume_unique=True)
        return Weights(given.values[inside], place[inside].astype(np.int64), len(self.chosen))

    def widened(self, weights: Weights) -> Weights:
        """Weights of kept features as weights of all."""
        given = weights.nonzero()
        return Weights(given.values, self.chosen[given.features], self.task.problem.n_features)

    def result(self, found: Result) -> Result:
        """A result as one of all features."""
        return replace(found, weights=self.widened(found.weights))

    def development_score(self, dev: Any) -> Callable[[Weights], float]:
        """As the whole task scores weights."""
        score = self.task.development_score(dev)
        return lambda weights: score(self.widened(weights))

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        return self.task.facts()

    def model(self, result: Result, info: dict[str, Any]) -> Any:
        """The model with the weights of a result in the numbers of kept features."""
        return self.task.model(self.result(result), info)
