"""How large a number may be to be computed with, and the sentences that refuse other numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.arrays import Array

# Of data and options: squares and products of such numbers, and sums of those, do not overflow.
LARGEST = 1e50
# Of weights: a sum of weights times data does not overflow, nor does its exponential in log space.
LARGEST_WEIGHT = 1e100
# Of the scores of parts: sums of them do not overflow.
LARGEST_SCORE = 1e200


def why_not(value: float, largest: float = LARGEST) -> str:
    """What is wrong with a number that is too large or no number, for the end of a sentence.

    >>> from parsimon.magnitudes import why_not
    >>> why_not(float("nan")), why_not(1e300)
    ('NaN; values must be finite', '1e+300; values must lie between -1e+50 and 1e+50')
    """
    if math.isfinite(value):
        return f"{value:g}; values must lie between -{largest:g} and {largest:g}"
    return f"{'NaN' if math.isnan(value) else 'infinity'}; values must be finite"


def first_wrong(values: Any, largest: float = LARGEST) -> int | None:
    """The flat position of the first number that is too large or no number, if there is one."""
    import numpy as np  # options need the limits only, and must load quickly

    numbers = np.asarray(values).reshape(-1)
    if numbers.dtype.kind != "f" or not numbers.size:
        return None
    with np.errstate(invalid="ignore"):
        if -largest <= float(numbers.min()) and float(numbers.max()) <= largest:  # false if there is a NaN
            return None
    return int(np.flatnonzero(~(np.abs(numbers.astype(np.float64)) <= largest))[0])


def checked_weights(given: Any, n: int, instance: str) -> Array | None:
    """How much each of n instances (such as a ``sequence``) counts; None if each counts once."""
    import numpy as np

    if given is None:
        return None
    wrong = ParsimonError(
        f"{instance} weights must be finite and not negative, one for every {instance}, not all zero, and "
        f"{LARGEST:g} at most."
    )
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if weights.shape != (n,) or first_wrong(weights) is not None or np.any(weights < 0):
        raise wrong
    if n and not weights.any():
        raise wrong
    return weights


def check_scores(instance: str, *scores: Array) -> None:
    """Refuses scores of an `instance` (a sequence, a tree, …) of which none is the best: NaN, or far too large ones.

    −∞ is a score: that of what is not possible.
    """
    for values in scores:
        highest = float(values.max(initial=-math.inf))  # NaN, if there is one
        if math.isnan(highest):
            raise ParsimonError(f"the scores of some {instance} are not numbers (NaN).")
        if highest > LARGEST_SCORE:
            raise ParsimonError(
                f"the scores of some {instance} are too large to compute with: {highest:g}, which is above "
                f"{LARGEST_SCORE:g}."
            )
