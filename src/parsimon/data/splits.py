"""Parting sequences into folds, for experiments that train on most, choose on some and test on the rest."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError

__all__ = ["Fold", "folds"]


@dataclass(frozen=True)
class Fold:
    """The numbers of the sequences to train on, to choose settings on, and to test on, each in order."""

    train: IntArray
    dev: IntArray
    test: IntArray


def folds(n: int, k: int = 10, seed: int = 0) -> list[Fold]:
    """`k` ways to part `n` sequences: one part in `k` to test on, the next one for choices, the others to train on.

    Every sequence is tested once and is once in a development set. With ten parts, eight are for training, as in
    Lavergne et al. (2010, section 5). The sequences are dealt out at random, the same way for the same seed.

    >>> first = folds(20)[0]
    >>> len(folds(20)), len(first.train), len(first.dev), len(first.test)
    (10, 16, 2, 2)
    """
    if k < 3:
        raise ParsimonError(f"k is {k}; training, choosing and testing need at least 3 parts.")
    if n < k:
        raise ParsimonError(f"{n} sequences cannot make {k} parts; give at least as many sequences as parts.")
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
