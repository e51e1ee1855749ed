"""How far weights, from any solver, are from the optimum of a problem over vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from parsimon.arrays import Array, BoolArray
from parsimon.penalties import ElasticNet
from parsimon.penalties.base import never_dropped
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.problem import Problem
from parsimon.solvers.capabilities import COORDINATES
from parsimon.solvers.certificate import balanced_mixture, lower_bound


def duality_gap(problem: Problem, w: Array) -> float | None:
    """An upper bound on objective minus optimum; None without one: a loss with corners, another penalty.

    By weak duality (certificate.py) the optimum is at least a(μ) − Ω*(−g), g = Φᵀ(μ − gold). Without an L2
    part Ω* is zero in the dual ball, and g is scaled into it. With one, Ω* is the squared distance to that ball over
    2·l2, which is the norm of what the proximal operator of the rest leaves of −g (Moreau).

    >>> import numpy as np
    >>> from parsimon.solvers.duality_gap import duality_gap
    >>> from parsimon.tasks.matrices.flat import flat_problem
    >>> from parsimon.penalties import L2
    >>> problem = flat_problem(np.eye(2), [1.0, 3.0], 1, L2(1.0), "squared", bias=False)
    >>> duality_gap(problem, np.array([0.5, 1.5])), duality_gap(problem, np.zeros(2))
    (0.0, 5.0)
    """
    penalty = problem.penalty
    known = isinstance(penalty, ElasticNet | GroupPenalty) and penalty.proximal
    if not problem.loss.smooth or not known:
        return None
    assert isinstance(penalty, ElasticNet | GroupPenalty)
    scores = COORDINATES.of(problem)
    point = scores.at(scores.margins(w))
    free = without_penalty(penalty, problem.n_features)
    a, gradient = balanced_mixture(scores, point, np.flatnonzero(free))
    if a is None:
        return float("inf")
    gradient = np.where(free, 0.0, gradient)  # zero but for rounding
    bound = lower_bound(a, gradient, replace(penalty, l2=0.0))
    if penalty.l2 > 0:
        bound = max(bound, a - penalty.conjugate(-gradient))
    return max(0.0, float(point.loss + penalty.value(w) - bound))


def without_penalty(penalty: ElasticNet | GroupPenalty, n_features: int) -> BoolArray:
    """The features that are in no term of the penalty."""
    free = np.zeros(n_features, bool)
    if isinstance(penalty, ElasticNet):
        weight = np.ones(n_features) if penalty.weight is None else penalty.weight
        return np.asarray(weight * (penalty.l1 + penalty.l2) == 0)
    if penalty.free is not None:
        free[penalty.free] = True
    if penalty.l1 == 0 and penalty.l2 == 0:
        free[never_dropped(penalty, n_features) if penalty.strength > 0 else slice(None)] = True
    return free
