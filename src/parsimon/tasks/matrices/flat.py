"""What training on documents and on matrices shares: problems whose instances are vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.flat import FlatDesign
from parsimon.errors import ParsimonError
from parsimon.losses import Loss, get_loss
from parsimon.magnitudes import checked_weights
from parsimon.penalties import ElasticNet
from parsimon.penalties.base import Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Batch, InMemoryProblem, Problem
from parsimon.solvers import Result, Weights
from parsimon.solvers.duality_gap import duality_gap
from parsimon.structures.flat import Flat, Real
from parsimon.tasks.matrices.linear import best_labels


def flat_problem(
    X: Any,
    gold: Any,
    n_labels: int,
    penalty: Penalty,
    loss: str | Loss = "log",
    *,
    bias: bool = True,
    weights: Array | None = None,
    threads: int = 1,
) -> InMemoryProblem:
    """Σ loss + Ω: `penalty` is of the columns of X, and the bias is not penalised. One label: real outputs.

    >>> import numpy as np
    >>> from parsimon.penalties import L1
    >>> from parsimon.solvers import Weights, choose_solver, drive
    >>> from parsimon.tasks.matrices.flat import flat_problem
    >>> X, gold = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 0, 0])
    >>> problem = flat_problem(X, gold, 2, L1(0.1))
    >>> result = drive(choose_solver("auto", problem), problem, Weights.zeros(problem.n_features))
    >>> np.round(result.weights.dense(), 1).tolist()
    [5.9, 0.0, -2.9]
    """
    design = FlatDesign.build(X, n_labels, bias=bias, threads=threads)
    return problem_of(design, gold, penalty, loss, bias=bias, weights=weights)


def problem_of(
    design: FlatDesign,
    gold: Any,
    penalty: Penalty,
    loss: str | Loss = "log",
    *,
    bias: bool = True,
    weights: Array | None = None,
) -> InMemoryProblem:
    """The same for a design that is there already."""
    n_labels, n = design.n_labels, design.map.n_rows
    weights = checked_weights(weights, n, "instance")
    bound = get_loss(loss).bind(range(n_labels))
    if (n_labels == 1) != (bound.name == "squared"):
        wanted = "squared" if n_labels == 1 else "log or hinge"
        raise ParsimonError(f"the loss is {bound.name}, but these outputs need {wanted}.")
    structure: Any = Real(n, weights) if n_labels == 1 else Flat(n, n_labels, weights)
    outputs: Any = np.asarray(gold, np.float64 if n_labels == 1 else np.int64)
    n_columns = design.n_features // design.width - bias
    of_features = over_columns(penalty, n_columns, design.width, bias=bias)
    return InMemoryProblem((Batch(design, structure, outputs),), bound, of_features, design.n_features)


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
    elif isinstance(penalty, ElasticNet) and penalty.bend is not None:  # of columns
        wide = np.repeat(penalty.bend, width)
        penalty = replace(penalty, bend=np.append(wide, np.ones(width)) if bias else wide)
    return penalty.exempt(np.arange(n_columns * width, total), total) if bias else penalty


def wide_groups(groups: Groups, width: int, n_features: int) -> Groups:
    """Groups of columns as groups of their features, of which each column has `width`."""
    if width == 1:
        return Groups(groups.ptr, _members(groups), groups.weight, n_features, groups.names)
    index = (_members(groups)[:, None] * width + np.arange(width)).reshape(-1)
    return Groups(groups.ptr * width, index, groups.weight, n_features, groups.names)


def _members(groups: Groups) -> IntArray:
    return np.arange(groups.ptr[-1]) if groups.index is None else groups.index


# --- Weights ----------------------------------------------------------------------------------------------------


def columns_of(weights: Array, n_columns: int, width: int, *, bias: bool) -> tuple[Array, Array]:
    """Weights as (columns, width), and the biases."""
    coefficients = weights[: n_columns * width].reshape(n_columns, width)
    return coefficients, weights[n_columns * width :] if bias else np.zeros(width)


def as_weights(coefficients: Array, biases: Array, *, bias: bool = True) -> Weights:
    """What a solver can start from: the inverse of `columns_of`."""
    values = np.ascontiguousarray(coefficients, np.float64).reshape(-1)
    if bias:
        values = np.concatenate([values, biases])
    return Weights(values, None, len(values))


def centred(biases: Array) -> Array:
    """Biases of which the sum is zero. A softmax does not change when all labels get the same."""
    return biases - biases.mean() if len(biases) > 1 else biases.copy()


def accuracy_on(X: Any, gold: IntArray, width: int, *, bias: bool = True) -> Callable[[Weights], float]:
    """The share of right labels, as a function of weights."""

    def score(weights: Weights) -> float:
        coefficients, biases = columns_of(weights.dense(), X.shape[1], width, bias=bias)
        return float(np.mean(best_labels(X @ coefficients + biases) == gold))

    return score


def closeness_on(X: Any, gold: Array, *, bias: bool = True) -> Callable[[Weights], float]:
    """The mean squared error with a minus, as a function of weights."""

    def score(weights: Weights) -> float:
        coefficients, biases = columns_of(weights.dense(), X.shape[1], 1, bias=bias)
        return -float(np.mean(((X @ coefficients + biases)[:, 0] - gold) ** 2))

    return score


def with_gap(problem: Problem, result: Result) -> Result:
    """The result with its duality gap, where there is one: how far above the optimum it is at most."""
    gap = duality_gap(problem, result.weights.dense()) if result.gap is None else result.gap
    return replace(result, gap=gap if gap is not None and np.isfinite(gap) else None)
