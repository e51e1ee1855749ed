"""What document models and matrix models share: linear scores."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray


class LinearModel:
    """A model whose scores are weighted sums of the values of words or columns."""

    kind: ClassVar[str] = "document or matrix"


def best_labels(margins: Array) -> IntArray:
    """The label with the largest score. With one column: the second label where the score is above zero."""
    if margins.shape[1] == 1:
        return np.asarray(margins[:, 0] > 0, np.int64)
    return np.asarray(np.argmax(margins, axis=1))


def log_softmax(scores: Array) -> Array:
    """log P(label) for each row. Large scores do not overflow."""
    with np.errstate(over="ignore"):  # −∞ is the right limit
        shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def with_first(margins: Array) -> Array:
    """The scores of all classes. Of two classes, the first always scores zero."""
    return np.concatenate([np.zeros_like(margins), margins], axis=1) if margins.shape[1] == 1 else margins
