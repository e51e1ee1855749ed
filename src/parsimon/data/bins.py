"""Bins of numeric columns: where they are cut, what the bins are called, and in which bin a number is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from parsimon.arrays import Array

DIGITS = range(4, 18)  # of a name; 17 tell any two numbers apart


def is_measured(values: Collection[Any], n_bins: int) -> bool:
    """Whether distinct values should be cut into bins: numbers with fractions, or more than there would be bins.

    >>> is_measured({1.5, 2.5}, 4), is_measured(range(5), 4), is_measured(range(4), 4), is_measured({"a", 1.5}, 4)
    (True, True, False, False)
    """
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return False
    return len(values) > n_bins or not all(float(value).is_integer() for value in values)


def quantile_edges(values: Array, n_bins: int) -> tuple[float, ...]:
    """The upper ends of all bins but the last, so that about as many values are in each.

    An edge is one of the values and belongs to the bin below it. Values that are frequent may leave fewer bins, but
    none that is empty.

    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3)
    (2.0, 4.0)
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 0.0, 0.5, 9.0]), 3)
    (0.0,)
    """
    shares = np.arange(1, n_bins) / n_bins
    edges = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    return tuple(edges[edges < values.max()].tolist())


def bin_of(value: float, edges: Sequence[float]) -> int:
    """The number of the bin in which a value is.

    >>> [bin_of(x, (2.0, 4.0)) for x in (-9, 2, 2.1, 4, 1000)]
    [0, 0, 1, 1, 2]
    """
    return bisect_left(edges, value)


def bin_names(edges: Sequence[float]) -> tuple[str, ...]:
    """What the bins are called, with as few digits as tell the edges apart.

    >>> bin_names((2.0, 4.5))
    ('<= 2', '2 to 4.5', '> 4.5')
    >>> bin_names(())
    ('any number',)
    """
    if not edges:
        return ("any number",)
    told = next(
        told
        for digits in DIGITS
        if len(set(told := [f"{edge + 0.0:.{digits}g}" for edge in edges])) == len(edges)
    )
    between = [f"{low} to {high}" for low, high in pairwise(told)]
    return (f"<= {told[0]}", *between, f"> {told[-1]}")
