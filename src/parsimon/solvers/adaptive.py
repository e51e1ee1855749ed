"""Adaptive max-margin Markov networks: the EM-style learner of the L1-M3N (Zhu, Xing & Zhang 2009, Algorithm 3).

An L1 norm is the lowest of many parabolas, ρ|w_k| = min_τ ½ (w_k²/τ + ρ² τ), attained at τ_k = |w_k|/ρ. So in turn

1. with the variances τ fixed, min_w Σ loss + ½ Σ_k w_k²/τ_k is an ordinary M3N, for which any solver will do;
2. with w fixed, τ_k ← |w_k|/ρ.

Neither step can raise the objective. A variance that goes to zero takes its weight with it: the feature is discarded.

Every penalty that lies below such parabolas (`majorizer`) can be learnt like this. With `SquaredL1` the second step is
the paper's, τ_k = K|w_k|/Σ_j|w_j| under the constraint Σ_k τ_k = K; with `KLNorm` all variances stay above zero, and
this is the variational method for the Laplace M3N.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array
from parsimon.penalties.elastic_net import ElasticNet
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Solver, Status
from parsimon.solvers.capabilities import HINGE_LOSS, MAJORIZER, MARGINS, PENALISES_ALL, Requires
from parsimon.solvers.feature_scales import feature_scales
from parsimon.solvers.frank_wolfe import FrankWolfe, MarginDual
from parsimon.solvers.settings import with_settings
from parsimon.weights import Weights

ROUGHLY = 0.1  # accuracy of the first M3N; of later ones, the share of what the round before gained


@dataclass(frozen=True)
class Adaptive:
    """Alternates an M3N and new variances; stops when a round lowers the objective by less than `tol`, relatively.

    `inner` learns the M3Ns, to a tenth of what the round before gained, but at most to `tol`. Weights that change
    scores by less than `drop` of the largest change are zero (the paper: weights below 10⁻⁴, which costs up to some
    tenths of a percent of the objective where the penalty is weak); they do not come back.
    """

    tol: float = 1e-4
    drop: float = 1e-6
    inner: Solver = field(default_factory=FrankWolfe)
    name: ClassVar[str] = "em"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = (HINGE_LOSS, MAJORIZER, PENALISES_ALL, MARGINS)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every round, and in it after every step of `inner`.

        The first variances are those of the given weights; without them, those of weights that would change scores by
        one wherever their feature is largest.
        """
        yield from self.continued(problem, start, Rounds(problem, self.inner))

    def continued(self, problem: Problem, start: Weights, learn: Rounds) -> Iterator[Iterate]:
        """The same, with M3Ns that the caller provides and can inspect."""
        penalty = MAJORIZER.of(problem)
        w = start.dense()
        scale = feature_scales(problem)
        bend = penalty.majorizer(w if np.any(w) else 1 / scale)
        before, accuracy, passes = np.inf, ROUGHLY, 1
        exact = [False]  # whether the last two M3Ns were learnt to `tol`
        while True:
            step = yield from learn.m3n(bend, w, accuracy)
            passes += step.evaluations
            w = step.weights.dense().copy()
            reach = np.abs(w) * scale  # how much a weight changes scores
            w[reach < self.drop * np.max(reach, initial=0.0)] = 0.0
            objective = problem.objective(w)
            passes += 1
            gain = (before - objective) / max(abs(objective), 1e-300)
            exact = [*exact[-1:], accuracy <= self.tol]
            settled = gain <= self.tol and all(exact)
            yield Iterate(
                Weights(w, None, problem.n_features).nonzero(),
                objective,
                passes,
                phase=self.name,
                support=step.support,
                status=Status.STALLED if settled or not np.any(w) else None,
            )
            if settled or not np.any(w):
                return
            bend = penalty.majorizer(w if exact[-1] else kept_alive(w, scale, accuracy))
            accuracy = float(np.clip(ROUGHLY * gain, self.tol, accuracy))
            before = objective


def kept_alive(w: Array, scale: Array, share: float) -> Array:
    """The weights, but none that changes scores by less than a share of the largest change.

    What is zero in a rough solution need not be zero in the exact one, but a variance of zero would keep it so.
    """
    reach = np.abs(w) * scale
    return np.where(w < 0, -1.0, 1.0) * np.maximum(reach, share * np.max(reach, initial=0.0)) / scale


class Rounds:
    """A sequence of M3Ns; with Frank–Wolfe, each starts from the outputs of the one before."""

    def __init__(self, problem: Problem, inner: Solver) -> None:
        self.problem, self.inner = problem, inner
        self.dual: MarginDual | None = None

    def m3n(self, bend: Array, w: Array, tol: float) -> Generator[Iterate, None, Iterate]:
        """min Σ loss + ½ Σ_k bend_k w_k², where infinite bends mean that a weight is zero; yields within the step."""
        inner = with_settings(self.inner, tol=tol)
        if isinstance(inner, FrankWolfe):
            scale = np.divide(1.0, bend, out=np.zeros_like(bend), where=np.isfinite(bend))
            if self.dual is None:
                self.dual = inner.begin(self.problem, scale)
            else:
                self.dual.set_penalty(scale)
            finite = np.where(np.isfinite(bend), bend, 0.0)
            curved = self.problem.with_penalty(ElasticNet(l2=1.0, weight=finite))
            return (yield from last(inner.refine(curved, self.dual)))
        kept = np.flatnonzero(np.isfinite(bend))
        small = self.problem.restrict(kept).with_penalty(ElasticNet(l2=1.0, weight=bend[kept]))

        def lifted(weights: Weights) -> Weights:
            return Weights(weights.dense(), kept, self.problem.n_features)

        start = Weights(w[kept], None, len(kept))
        return (yield from last(inner.iterate(small, start), lifted))


def last(
    steps: Iterator[Iterate], lifted: Callable[[Weights], Weights] = lambda weights: weights
) -> Generator[Iterate, None, Iterate]:
    """Where a solver ends, its weights lifted to those of another problem; yields its steps as within one of that."""
    for step in steps:
        if step.status is not None:
            break
        yield step.within(lifted(step.weights))
    return replace(step, weights=lifted(step.weights))
