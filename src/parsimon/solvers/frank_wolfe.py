"""Max-margin Markov networks by block-coordinate Frank–Wolfe (Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013).

The dual of Σ_i c_i max_y [cost(y) − w·Δf_i(y)] + ½ Σ_k b_k w_k² has a distribution over outputs for every instance;
w is a sum over all of them. A block is one instance: its cost-augmented argmax is where Frank–Wolfe goes, as far as
the dual grows, which has a closed form: there is no step size to choose. What is left of the gap is known,

    gap = Σ_i c_i max_y h_i(y) − Σ_y α_i(y) h_i(y),    h_i(y) = cost(y) − w·Δf_i(y),

and bounds how far the objective is above its minimum. Steps are pairwise, and outputs met before are kept to step
between them without asking the structure again (Osokin et al. 2016; see core/maps/planes.hpp).

Where all instances share a feature with large values, one block at a time can go almost nowhere. Steps of all
instances together can: one-slack cutting planes (one_slack.py), the first of which is the point of the dual. So when
epochs make slow progress, as many passes of that come in turn with them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import ClassVar

import numpy as np

from parsimon._core import Planes
from parsimon.arrays import Array
from parsimon.problem import MarginInstances, Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import HINGE_LOSS, MARGINS, PROX, SQUARES, Requires
from parsimon.solvers.one_slack import OneSlack
from parsimon.weights import Weights

CHUNKS = 50  # into which instances are cut by default: small chunks learn more from an epoch,
LARGEST_CHUNK = 256  # but this many instances keep all threads busy

PATIENCE = 32  # epochs from which on progress is slow if twice as many do not halve the gap
MOST_FEATURES = (
    100_000  # with which cutting planes of all instances take part; each has a number for every feature
)


@dataclass
class MarginDual:
    """A point of the dual: the instances in chunks, and the outputs met so far with their shares."""

    chunks: Sequence[MarginInstances]
    n_instances: int
    planes: Planes
    random: np.random.Generator
    scale: Array

    def set_penalty(self, scale: Array) -> None:
        """Another penalty ½ Σ_k w_k²/scale_k; where the scale is zero, so is the weight."""
        self.scale = scale
        self.planes.rescale(scale)

    def together(self, problem: Problem, solver: OneSlack) -> Iterator[Iterate]:
        """Cutting planes of all instances together, from this point, which is one: Σ_i Σ_y α_i(y) h_i(y)."""
        w = self.planes.weights().copy()
        slope = -np.divide(w, self.scale, out=np.zeros_like(w), where=self.scale > 0)
        offset = self.planes.dual() - 0.5 * float(slope @ w)
        return solver.refine(problem, self.scale, w, slope[None], np.array([offset]))


@dataclass(frozen=True)
class FrankWolfe:
    """Epochs over chunks of instances in random order; stops when the duality gap is `tol` of the objective.

    A chunk's outputs are found with the same weights, by all threads, and then stepped to one by one. Small chunks
    learn more from an epoch: by default there are fifty. After each epoch there are `cached` sweeps over the outputs
    that are known; those that have had no share for `idle` sweeps are forgotten.
    """

    tol: float = 1e-3
    chunk: int | None = None  # instances
    cached: int = 3
    steps: int = 50  # in an instance at a time, at most
    idle: int = 20
    seed: int = 0
    name: ClassVar[str] = "frank-wolfe"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = (HINGE_LOSS, PROX, SQUARES, MARGINS)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every epoch. The start is not used: weights do not say which outputs they are made of."""
        scale = 1 / np.broadcast_to(SQUARES.of(problem).l2_strength, problem.n_features)
        yield from self.refine(problem, self.begin(problem, scale))

    def begin(self, problem: Problem, scale: Array) -> MarginDual:
        """The point of the dual at which all weights are zero, for the penalty ½ Σ_k w_k²/scale_k."""
        instances = MARGINS.of(problem)
        mass = instances.instance_weights()
        chunks = instances.chunks(self.chunk or int(np.clip(len(mass) // CHUNKS, 1, LARGEST_CHUNK)))
        return MarginDual(chunks, len(mass), Planes(scale, mass), np.random.default_rng(self.seed), scale)

    def refine(self, problem: Problem, dual: MarginDual) -> Iterator[Iterate]:
        """Improves a point of the dual. `problem` has the penalty of `dual`."""
        best: Iterate | None = None
        together: Iterator[Iterate] | None = None
        floor, checked, gap_then, passes = -np.inf, 0, np.inf, 0
        for epoch in count(1):
            gap = yield from self._epoch(dual, best)
            known = np.inf if best is None else best.objective
            doubled = epoch >= 2 * checked
            if gap <= self.tol * known or doubled:  # worth a look at all instances
                dual.planes.refresh()
                w = dual.planes.weights().copy()
                objective, floor = problem.objective(w), max(floor, dual.planes.dual())
                if objective <= known:
                    best = Iterate(Weights(w, None, problem.n_features), objective, epoch + passes)
            assert best is not None
            left = best.objective - floor
            yield (step := self._step(best, floor, epoch + passes, dual.planes.n_support))
            if step.status is not None:
                return
            if not doubled:
                continue
            slow, checked, gap_then = epoch > PATIENCE and left > gap_then / 2, epoch, left
            if not slow or problem.n_features > MOST_FEATURES:
                continue
            together = together or dual.together(problem, OneSlack(tol=self.tol))
            for step in islice(together, epoch):
                assert step.gap is not None
                passes += 1
                floor = max(floor, step.objective - step.gap)
                if step.objective < best.objective:
                    best = step
                yield (step := self._step(best, floor, epoch + passes, step.support))
                if step.status is not None:
                    return

    def _step(self, best: Iterate, floor: float, evaluations: int, support: int | None) -> Iterate:
        """The best weights so far, with what is left of the gap."""
        left = best.objective - floor
        return Iterate(
            best.weights,
            best.objective,
            evaluations,
            gap=left,
            phase=self.name,
            support=support,
            status=Status.CONVERGED if left <= self.tol * abs(best.objective) else None,
        )

    def _epoch(self, dual: MarginDual, best: Iterate | None) -> Generator[Iterate, None, float]:
        """Every chunk once, then the outputs that are known; yields in between.

        Returns the sum of the gaps, each as of when its chunk was visited.
        """
        planes, gap = dual.planes, 0.0
        planes.mark()
        for c in dual.random.permutation(len(dual.chunks)):
            for found in dual.chunks[c].most_violated(planes.weights()):
                planes.add(found.instances, found.cost, found.vectors)
                gap += planes.sweep(found.instances, self.steps)
        yield within(dual, best)
        for _ in range(self.cached):
            planes.sweep(dual.random.permutation(dual.n_instances), self.steps)
            planes.advance()
            planes.mark()
            yield within(dual, best)
        planes.prune(self.idle)
        return gap


def within(dual: MarginDual, best: Iterate | None) -> Iterate:
    """The best iterate so far, within an epoch; before there is one, the weights of the dual."""
    if best is not None:
        return best.within()
    w = dual.planes.weights().copy()
    return Iterate(Weights(w, None, len(w)), np.inf, 0, phase=FrankWolfe.name, whole=False)
