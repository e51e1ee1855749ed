"""Weights as scikit-learn has them, and back: ``coef_`` is (1, columns) for two classes, else (classes, columns)."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.solvers import Weights
from parsimon.tasks.matrices.training import columns_of


def as_coefficients(
    weights: Weights, n_columns: int, width: int, *, bias: bool = True
) -> tuple[Array, Array]:
    """``coef_`` and ``intercept_``.

    A softmax does not change when all classes get the same, and intercepts are not penalised; theirs sum to zero.
    """
    coefficients, intercepts = columns_of(weights.dense(), n_columns, width, bias=bias)
    if width > 1:
        intercepts = intercepts - intercepts.mean()
    return np.ascontiguousarray(coefficients.T), intercepts.copy()


def as_weights(coef: Array, intercept: Any, *, bias: bool = True) -> Weights:
    """What a solver can start from."""
    values = np.atleast_2d(coef).T.reshape(-1)
    if bias:
        values = np.concatenate([values, np.atleast_1d(intercept)])
    return Weights(values, None, len(values))


def numbered(y: Any) -> tuple[Array, IntArray]:
    """The classes, sorted, and the number of each output's class."""
    classes, gold = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ParsimonError(f"y has only one class, {classes[0]!r}; a classifier needs two or more.")
    return classes, gold


def instance_weights(sample_weight: Any, class_weight: Any, X: Any, y: Any) -> Array | None:
    """How much each instance counts, or None if all count once."""
    from sklearn.utils.class_weight import compute_sample_weight
    from sklearn.utils.validation import _check_sample_weight

    if sample_weight is None and class_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if np.any(weights < 0):
        raise ParsimonError("sample_weight has numbers below zero; give zero or more for each sample.")
    return np.asarray(weights * compute_sample_weight(class_weight, y))
