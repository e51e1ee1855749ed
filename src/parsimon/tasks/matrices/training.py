"""Training on vectors: from a matrix and outputs to weights. What estimators for documents and matrices share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.flat import FlatDesign
from parsimon.errors import ParsimonError
from parsimon.losses import Loss, get_loss
from parsimon.penalties.base import Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Batch, Problem
from parsimon.solvers import Monitor, Result, Solver, Validation, Weights, choose_solver, drive
from parsimon.structures.flat import Flat, Real


@dataclass(frozen=True)
class FlatTraining:
    """How to train: with which loss, by which solver, until when.

    >>> import numpy as np
    >>> from parsimon.tasks.matrices.training import FlatTraining
    >>> from parsimon.penalties import L1
    >>> training = FlatTraining()
    >>> X, gold = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 0, 0])
    >>> result = training.solve(training.problem(X, gold, 2, L1(0.1)))
    >>> np.round(result.weights.dense(), 2).tolist()
    [5.89, 0.0, -2.94]
    """

    loss: str | Loss = "log"
    solver: str | Solver = "auto"
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    threads: int = 1

    def problem(
        self,
        X: Any,
        gold: Any,
        n_labels: int,
        penalty: Penalty,
        *,
        bias: bool = True,
        weights: Array | None = None,
    ) -> Problem:
        """Σ loss + Ω: `penalty` is of the columns of X, and the bias is not penalised. One label: real outputs."""
        design = FlatDesign.build(X, n_labels, bias=bias, threads=self.threads)
        return self.problem_of(design, gold, penalty, bias=bias, weights=weights)

    def problem_of(
        self,
        design: FlatDesign,
        gold: Any,
        penalty: Penalty,
        *,
        bias: bool = True,
        weights: Array | None = None,
    ) -> Problem:
        """The same for a design that is there already."""
        n_labels, n = design.n_labels, design.map.n_rows
        loss = get_loss(self.loss).bind(range(n_labels))
        if (n_labels == 1) != (loss.name == "squared"):
            wanted = "squared" if n_labels == 1 else "log or hinge"
            raise ParsimonError(f"the loss is {loss.name}, but these outputs need {wanted}.")
        structure: Any = Real(n, weights) if n_labels == 1 else Flat(n, n_labels, weights)
        outputs: Any = np.asarray(gold, np.float64 if n_labels == 1 else np.int64)
        n_columns = design.n_features // design.width - bias
        of_features = over_columns(penalty, n_columns, design.width, bias=bias)
        return Problem((Batch(design, structure, outputs),), loss, of_features, design.n_features)

    def choose(self, problem: Problem) -> Solver:
        """The solver by its name; those that can use several threads are told how many."""
        solver = choose_solver(self.solver, problem, self.tol)
        return replace(solver, threads=self.threads) if hasattr(solver, "threads") else solver  # type: ignore[type-var]

    def solve(
        self,
        problem: Problem,
        start: Weights | None = None,
        *,
        validation: Validation | None = None,
        callbacks: Sequence[Callable[[Any], Any]] = (),
    ) -> Result:
        """The best weights; with `validation` those that are best on other data."""
        monitor = Monitor(
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            validation=validation,
            callbacks=callbacks,
        )
        begin = Weights.zeros(problem.n_features) if start is None else start
        return drive(self.choose(problem), problem, begin, monitor)


def over_columns(penalty: Penalty, n_columns: int, width: int, *, bias: bool) -> Any:
    """A penalty on the columns of a matrix as one on features, `width` for each column; the bias is exempt."""
    total = (n_columns + bias) * width
    groups = penalty.groups
    if isinstance(groups, Groups):
        if groups.n_features != n_columns:
            raise ParsimonError(
                f"the groups are of {groups.n_features} columns, but the matrix has {n_columns}; "
                "make them for this matrix."
            )
        penalty = replace(penalty, groups=wide_groups(groups, width, total))  # type: ignore[type-var]
    elif groups is not None:
        raise ParsimonError(f"the groups {groups} are not known for a matrix; give lists of columns.")
    return penalty.exempt(np.arange(n_columns * width, total), total) if bias else penalty


def wide_groups(groups: Groups, width: int, n_features: int) -> Groups:
    """Groups of columns as groups of their features, of which each column has `width`."""
    if width == 1:
        return Groups(groups.ptr, _members(groups), groups.weight, n_features, groups.names)
    index = (_members(groups)[:, None] * width + np.arange(width)).reshape(-1)
    return Groups(groups.ptr * width, index, groups.weight, n_features, groups.names)


def _members(groups: Groups) -> IntArray:
    return np.arange(groups.ptr[-1]) if groups.index is None else groups.index


def columns_of(weights: Array, n_columns: int, width: int, *, bias: bool) -> tuple[Array, Array]:
    """Weights as (columns, width), and the biases."""
    coefficients = weights[: n_columns * width].reshape(n_columns, width)
    return coefficients, weights[n_columns * width :] if bias else np.zeros(width)
