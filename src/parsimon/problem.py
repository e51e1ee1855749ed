"""A learning problem: Σ_i loss_i(w) + Ω(w), over batches of instances."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.design import Design
from parsimon.losses import Loss
from parsimon.penalties.base import Penalty
from parsimon.structures.base import Structure


@dataclass(frozen=True)
class Batch:
    """Some instances: Φ, their structure and their known output (−1 where it is not known)."""

    design: Design
    structure: Structure
    gold: IntArray


@dataclass(frozen=True)
class Problem:
    """What a solver gets: it never sees text or labels.

    Batches bound memory: part scores and marginals exist for one batch at a time.
    """

    batches: tuple[Batch, ...]
    loss: Loss
    penalty: Penalty
    n_features: int

    def loss_and_gradient(self, w: Array) -> tuple[float, Array]:
        """Σ loss and its gradient Φᵀ(μ − gold), without the penalty."""
        gradient = np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            value, parts = self.loss(batch.structure, batch.design.scores(w), batch.gold)
            batch.design.pullback(parts, gradient)
            total += value
        return total, gradient

    def loss_and_full_gradient(self, values: Array, features: IntArray) -> tuple[float, Array]:
        """Σ loss and the gradient of *all* features where only the given (ascending) ones are not zero."""
        gradient = np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            scores = batch.design.restrict(features).scores(values)
            value, parts = self.loss(batch.structure, scores, batch.gold)
            batch.design.pullback(parts, gradient)
            total += value
        return total, gradient

    def curvature(self, w: Array) -> Array:
        """The diagonal of the loss's Hessian, or nearly: (Φ∘Φ)ᵀ p(1 − p). For smooth losses only."""
        diagonal = np.zeros(self.n_features)
        for batch in self.batches:
            variances = self.loss.variances(batch.structure, batch.design.scores(w), batch.gold)
            batch.design.pullback_squared(variances, diagonal)
        return diagonal

    def objective(self, w: Array) -> float:
        """Σ loss + Ω."""
        loss, _ = self.loss_and_gradient(w)
        return loss + self.penalty.value(w)

    def restrict(self, features: IntArray) -> Problem:
        """The problem in which only these features (ascending) may be other than zero."""
        batches = tuple(replace(batch, design=batch.design.restrict(features)) for batch in self.batches)
        return replace(
            self, batches=batches, penalty=self.penalty.restrict(features), n_features=len(features)
        )
