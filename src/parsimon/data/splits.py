"""Splitting sequences into folds with training, development and test parts."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError

__all__ = ["Fold", "folds"]


@dataclass(frozen=True)
class Fold:
    """The indices of the training, development and test sequences, each in ascending order."""

    train: IntArray
    dev: IntArray
    test: IntArray


def folds(n: int, k: int = 10, seed: int = 0) -> list[Fold]:
    """`k` ways to split `n` sequences into a test set (1/k), a development set (1/k) and a training set (the rest).

    Every sequence is in exactly one test set and in exactly one development set. With ten parts, eight are for
    training, as in Lavergne et al. (2010, section 5). Sequences are assigned at random, reproducibly for a given seed.

    >>> first = folds(20)[0]
    >>> len(folds(20)), len(first.train), len(first.dev), len(first.test)
    (10, 16, 2, 2)
    """
    if k < 3:
        raise ParsimonError(f"k is {k}; training, development and testing need at least 3 parts.")
    if n < k:
        raise ParsimonError(
            f"{n} sequences cannot be split into {k} parts; give at least as many sequences as parts."
        )
    order = list(range(n))
    random.Random(seed).shuffle(order)
    part = np.empty(n, np.int64)
    part[order] = np.arange(n) % k
    return [
        Fold(
            train=np.flatnonzero((part != i) & (part != (i + 1) % k)),
            dev=np.flatnonzero(part == (i + 1) % k),
            test=np.flatnonzero(part == i),
        )
        for i in range(k)
    ]
