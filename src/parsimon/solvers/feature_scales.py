"""How large features are, for solvers whose first steps or guesses depend on it.

Features are counts, years or prices as well as words, so their values differ by orders of magnitude, and so do the
weights that they need: a feature of 1,000 has weights a thousand times smaller than one that is there or not.
"""

from __future__ import annotations

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.capabilities import MARGINS


def feature_scales(problem: Problem) -> Array:
    """The largest |Δf_k| of the outputs that violate their margins most where all weights are zero.

    A feature that these do not have is taken to be as large as most. Takes a pass over the data.
    """
    largest = np.zeros(problem.n_features)
    for found in MARGINS.of(problem).most_violated(np.zeros(problem.n_features)):
        for offset, _, index, value in found.vectors:
            np.maximum.at(largest, offset + index, np.abs(value))
    met = largest > 0
    return np.where(met, largest, np.median(largest[met]) if met.any() else 1.0)
