"""Weights that are worse than none: the steps of a learner were too large, or it had too little time."""

from __future__ import annotations

import numpy as np

from parsimon.problem import Problem
from parsimon.solvers import Result, Status, Weights

DIGITS = 4  # of an objective in a message


def worse_than_none(problem: Problem, result: Result) -> str | None:
    """One sentence if the objective at weights that have not converged is above that at w = 0, or else None.

    Weights that a development score has chosen are not judged by the objective, and a perceptron has no loss at w = 0.

    Learners of epochs know their losses only as they were met, on the way to better weights. So where these are above
    the losses at w = 0 (which take no features to find), the weights themselves are looked at.
    """
    if result.status in (Status.CONVERGED, Status.DEVELOPMENT) or problem.loss.trivial_at_zero:
        return None
    nothing = objective(problem, Weights.zeros(problem.n_features))
    if result.objective <= nothing:
        return None
    reached = objective(problem, result.weights)
    if reached <= nothing:
        return None
    reason = (
        "its steps are too large for the values of the features: scale these to about 1, or choose another solver"
        if result.status is Status.DONE
        else "give it more time or iterations, or choose another solver"
    )
    return (
        f"the model is worse than one without any weights, with an objective of {reached:.{DIGITS}g} "
        f"and not {nothing:.{DIGITS}g}; {reason}."
    )


def objective(problem: Problem, weights: Weights) -> float:
    """Σ loss + Ω, at the cost of the features that have a weight."""
    kept = weights.nonzero()
    assert kept.features is not None
    return float(problem.restrict(kept.features).objective(np.asarray(kept.values)))
