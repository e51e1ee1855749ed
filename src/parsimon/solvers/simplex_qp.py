"""A small quadratic program: the lowest point of a piecewise linear model plus a parabola, in its dual."""

from __future__ import annotations

import numpy as np

from parsimon.arrays import Array


def minimize_on_simplex(gram: Array, offset: Array, start: Array) -> Array:
    """argmin ½ αᵀGα − b·α over α ≥ 0, Σα = 1, from a point of the simplex, by an active-set method.

    On the entries in use, the optimality conditions Gα − b = μ, Σα = 1 are linear. If their solution leaves the
    simplex, go as far as its boundary and drop what became zero; if it does not, take in the entry with the steepest
    descent. That ends after finitely many steps, as in Wolfe's algorithm for the point nearest to the origin (1976).
    """
    alpha = start.copy()
    used = alpha > 0
    scale = 1e-10 * (1 + float(np.max(np.abs(offset))))
    for _ in range(20 * len(alpha) + 100):
        at = np.flatnonzero(used)
        wanted = _stationary(gram[np.ix_(at, at)], offset[at])
        if np.all(wanted >= -1e-12):
            alpha[:] = 0.0
            alpha[at] = np.maximum(wanted, 0.0)
            alpha /= alpha.sum()
            slope = gram @ alpha - offset
            entering = int(np.argmin(slope))
            if slope[entering] >= float(slope @ alpha) - scale or used[entering]:
                break
            used = alpha > 0
            used[entering] = True
            continue
        towards = wanted - alpha[at]
        falling = towards < 0
        step = float(np.min(alpha[at][falling] / -towards[falling]))
        alpha[at] = np.maximum(alpha[at] + min(step, 1.0) * towards, 0.0)
        leaves = at[falling][np.argmin(alpha[at][falling] / -towards[falling])]
        alpha[leaves] = 0.0
        used[leaves] = False
    return alpha


def _stationary(gram: Array, offset: Array) -> Array:
    """The α with Gα − b the same everywhere and Σα = 1. G is lifted a little, in case it is singular."""
    n = len(offset)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = gram + np.eye(n) * (1e-11 * float(np.trace(gram)) / n + 1e-300)
    system[n, n] = 0.0
    try:
        solution = np.linalg.solve(system, np.append(offset, 1.0))
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(system, np.append(offset, 1.0), rcond=None)[0]
    return np.asarray(solution[:n])
