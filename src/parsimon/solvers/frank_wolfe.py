"""Max-margin Markov networks by block-coordinate Frank–Wolfe (Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013).

The dual of Σ_i c_i max_y [cost(y) − w·Δf_i(y)] + ½ Σ_k b_k w_k² has a distribution over outputs for every instance;
w is a sum over all of them. A block is one instance: its cost-augmented argmax is where Frank–Wolfe goes, as far as
the dual grows, which has a closed form: there is no step size to choose. What is left of the gap is known,

    gap = Σ_i c_i max_y h_i(y) − Σ_y α_i(y) h_i(y),    h_i(y) = cost(y) − w·Δf_i(y),

and bounds how far the objective is above its minimum. Steps are pairwise, and outputs met before are kept to step
between them without asking the structure again (Osokin et al. 2016; see core/maps/planes.hpp).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from parsimon._core import Planes
from parsimon.arrays import Array
from parsimon.problem import MarginInstances, Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import HINGE_LOSS, MARGINS, PROX, SQUARES, Requires
from parsimon.weights import Weights

CHUNKS = 50  # into which instances are cut by default: small chunks learn more from an epoch,
LARGEST_CHUNK = 256  # but this many instances keep all threads busy


@dataclass
class MarginDual:
    """A point of the dual: the instances in chunks, and the outputs met so far with their shares."""

    chunks: Sequence[MarginInstances]
    n_instances: int
    planes: Planes
    random: np.random.Generator

    def set_penalty(self, scale: Array) -> None:
        """Another penalty ½ Σ_k w_k²/scale_k; where the scale is zero, so is the weight."""
        self.planes.rescale(scale)


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
        return MarginDual(chunks, len(mass), Planes(scale, mass), np.random.default_rng(self.seed))

    def refine(self, problem: Problem, dual: MarginDual) -> Iterator[Iterate]:
        """Improves a point of the dual. `problem` has the penalty of `dual`."""
        best: Iterate | None = None
        floor, checked = -np.inf, 0
        for epoch in count(1):
            gap = yield from self._epoch(dual, best)
            known = np.inf if best is None else best.objective
            if gap <= self.tol * known or epoch >= 2 * checked:  # worth a look at all instances
                checked = epoch
                dual.planes.refresh()
                w = dual.planes.weights().copy()
                objective, floor = problem.objective(w), max(floor, dual.planes.dual())
                if objective <= known:
                    best = Iterate(Weights(w, None, problem.n_features), objective, epoch)
            assert best is not None
            left = best.objective - floor
            status = Status.CONVERGED if left <= self.tol * abs(best.objective) else None
            yield Iterate(
                best.weights,
                best.objective,
                epoch,
                gap=left,
                phase=self.name,
                support=dual.planes.n_support,
                status=status,
            )
            if status is not None:
                return

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
