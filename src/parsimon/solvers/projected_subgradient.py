"""Projected subgradient (Zhu, Xing & Zhang 2009, Algorithm 2): w ← Π(w − α_t g), Π the projection on the L1 ball.

What is called a projection is the proximal operator of the penalty: for an L1 ball (`L1Ball`) it is the projection,
found in linear time (Duchi et al. 2008), and for ρ‖w‖₁ the soft threshold α_t ρ. Both forms have the same solutions.

Gradients of a feature are as large as its values, and the weights that it needs as small. So where the penalty treats
every weight by itself, steps α_t of weight k are divided by the square of how large its feature is
(`solvers/feature_scales.py`): as if all features had values near one, with the weights that go with these.

Step sizes need no tuning. With all instances at once they are Polyak's, α = (F(w) − level)/‖g‖², as if the
minimum were known: the level is a guess, δ below the lowest objective so far. If half of δ is gained, the guess was
too modest, and δ grows; if that takes too long, it was too bold, and δ falls (Goffin & Kiwiel 1999; Nedić & Bertsekas
2001).

With a few instances at a time, objectives are not known. Then steps are the distance gone so far over the size of all
gradients met (Ivgi, Hinder & Carmon 2023, "distance over gradients"),

    α_t = max_{s ≤ t} ‖w_s − w_0‖ / √(Σ_{s ≤ t} ‖g_s‖²),

and what is learnt is an average of the points in which the later ones count for more: the t-th comes in with the share
9/(t + 8) (Shamir & Zhang 2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import CHUNKS, HINGE_LOSS, MARGIN_LOSS, MARGINS, PROX, Requires
from parsimon.solvers.certificate import lower_bound
from parsimon.solvers.feature_scales import feature_scales
from parsimon.weights import Weights

# Features within this factor of the median take steps alike: how often words occur in a sequence differs that much, and
# steps that are shorter for frequent words get nowhere on ordinary text. Years and prices among words are far outside.
ORDINARY = 30.0


@dataclass(frozen=True)
class ProjectedSubgradient:
    """Steps from all instances at once, or with `chunk` from so many of them at a time.

    The first kind ends when δ, what may still be gained, has fallen to `tol` of the objective; a guess has `patience`
    steps to come true. The second ends when `window` passes have not lowered the objective by `tol`, and takes the last
    points in place of their average if `average` is off. Either ends when a lower bound shows it to be near enough.
    """

    tol: float = 1e-4
    patience: int = 100
    chunk: int | None = None
    average: bool = True
    window: int = 30
    seed: int = 0
    name: ClassVar[str] = "projected-subgradient"

    @property
    def requires(self) -> Requires:
        """With `chunk`, a problem that can be cut."""
        few = () if self.chunk is None else (CHUNKS,)
        return (MARGIN_LOSS, PROX, *few)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the best weights so far after every pass over the data."""
        w = start.dense().copy()
        yield from self._all_at_once(problem, w) if self.chunk is None else self._few(problem, w, self.chunk)

    def _all_at_once(self, problem: Problem, w: Array) -> Iterator[Iterate]:
        best, lowest, floor = w, np.inf, 0.0
        steps, plane = _Level(self.patience, metric(problem)), _AveragePlane()
        passes = 1
        while True:
            loss, gradient = problem.loss_and_gradient(w)
            passes += 1
            objective = loss + problem.penalty.value(w)
            if objective < lowest:
                best, lowest = w, objective
            plane.add(loss, gradient, w)
            floor = max(floor, lower_bound(plane.offset, plane.gradient, problem.penalty))
            size = steps.size(problem, w, objective, gradient)
            close = lowest - floor <= self.tol * lowest
            done = size == 0 or steps.delta <= self.tol * lowest
            status = Status.CONVERGED if close else Status.STALLED if done else None
            yield _found(problem, best, lowest, passes, floor, status)
            if status is not None:
                return
            each = size * steps.metric
            w = problem.penalty.prox(w - each * gradient, each)

    def _few(self, problem: Problem, w: Array, chunk: int) -> Iterator[Iterate]:
        chunks, random = CHUNKS.of(problem).chunks(chunk), np.random.default_rng(self.seed)
        steps, mean, n_steps = _DistanceOverGradients(w, metric(problem)), w.copy(), 0
        best, lowest, reference, since, passes = w, np.inf, np.inf, 0, 0
        while True:
            for c in random.permutation(len(chunks)):
                loss, gradient = _as_if_all(chunks[c], w, len(chunks))
                size = steps.size(w, loss, gradient) * steps.metric
                w = problem.penalty.prox(w - size * gradient, size)
                n_steps += 1
                mean += share(n_steps) * (w - mean)
            passes += 1
            point = mean if self.average else w
            objective = problem.objective(point)
            if objective < lowest:
                best, lowest = point.copy(), objective
            if not np.isfinite(reference) or lowest < reference - self.tol * abs(reference):
                reference, since = lowest, 0
            else:
                since += 1
            status = Status.STALLED if since >= self.window else None
            yield _found(problem, best, lowest, 2 * passes, 0.0, status)
            if status is not None:
                return


def share(t: int) -> float:
    """With which weight the t-th point comes into an average: (η + 1)/(t + η) with η = 8 (Shamir & Zhang 2013)."""
    return 9 / (t + 8)


def _found(
    problem: Problem, w: Array, objective: float, passes: int, floor: float, status: Status | None
) -> Iterate:
    weights = Weights(w, None, problem.n_features).nonzero()
    gap = objective - floor if floor > 0 else None
    return Iterate(weights, objective, passes, gap=gap, phase=ProjectedSubgradient.name, status=status)


def metric(problem: Problem) -> Array | float:
    """What steps of each weight are multiplied by; one where they must be alike, or features are not known."""
    known = HINGE_LOSS.missing(problem) is None and MARGINS.missing(problem) is None
    if not (known and problem.penalty.separable):
        return 1.0
    scale = feature_scales(problem)
    scale /= np.median(scale)
    return (scale / np.clip(scale, 1 / ORDINARY, ORDINARY)) ** -2.0


def _as_if_all(chunk: Problem, w: Array, times: int) -> tuple[float, Array]:
    """A chunk's loss and gradient, as if all others were like it."""
    loss, gradient = chunk.loss_and_gradient(w)
    return times * loss, times * gradient


class _Level:
    """Polyak's steps towards a level that lies δ below the lowest objective met."""

    SHRINK, GROW = 0.8, 1.3  # of δ, when a guess was too bold or too modest
    GAINED = 0.5  # of δ: then the guess was too modest
    FIRST_GUESS, FIRST_STEP = 0.5, 1e-3  # δ as a share of the first objective; the step before the first

    def __init__(self, patience: int, metric: Array | float) -> None:
        self.patience, self.metric, self.since, self.delta = patience, metric, 0, 0.0
        self.lowest, self.base, self.last = np.inf, np.inf, self.FIRST_STEP

    def size(self, problem: Problem, w: Array, objective: float, gradient: Array) -> float:
        """How far to go; 0 if no step leads away from w."""
        if not np.isfinite(self.base):
            self.base, self.delta = objective, self.FIRST_GUESS * objective
        self.lowest = min(self.lowest, objective)
        self.since += 1
        if self.lowest <= self.base - self.GAINED * self.delta:
            self.base, self.since, self.delta = self.lowest, 0, self.GROW * self.delta
        elif self.since >= self.patience:
            self.base, self.since, self.delta = self.lowest, 0, self.SHRINK * self.delta
        whole = gradient
        if not problem.penalty.projection:  # the penalty's share, as a step of the size before would see it
            step = self.last * self.metric
            whole = (w - problem.penalty.prox(w - step * gradient, step)) / step
        square = float(whole @ (self.metric * whole))
        if square > 0:
            self.last = (objective - (self.base - self.delta)) / square
        return self.last if square > 0 else 0.0


class _DistanceOverGradients:
    """Steps that need no objective."""

    def __init__(self, w: Array, metric: Array | float) -> None:
        self.first, self.metric, self.distance, self.squares = w.copy(), metric, 0.0, 0.0

    def size(self, w: Array, loss: float, gradient: Array) -> float:
        """How far to go."""
        self.squares += float(gradient @ (self.metric * gradient))
        if self.squares == 0:
            return 0.0
        self.distance = max(self.distance, float(np.linalg.norm((w - self.first) / np.sqrt(self.metric))))
        if self.distance == 0:  # a first guess: a tenth of a step that would remove the loss
            return 0.1 * loss / self.squares
        return self.distance / float(np.sqrt(self.squares))


class _AveragePlane:
    """An average of the planes a + g·w that support the loss from below: one of the dual's points."""

    def __init__(self) -> None:
        self.offset, self.gradient, self.n = 0.0, np.zeros(0), 0

    def add(self, loss: float, gradient: Array, w: Array) -> None:
        """That of the point w."""
        self.n += 1
        part = share(self.n)
        if self.n == 1:
            self.gradient = np.zeros_like(gradient)
        self.gradient += part * (gradient - self.gradient)
        self.offset += part * (loss - float(gradient @ w) - self.offset)
