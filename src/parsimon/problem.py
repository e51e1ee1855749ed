"""A learning problem: Σ_i loss_i(w) + Ω(w), over batches of instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

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

    def loss_and_full_gradient(
        self, values: Array, features: IntArray, variances: list[Any] | None = None
    ) -> tuple[float, Array]:
        """Σ loss and the gradient of *all* features where only the given (ascending) ones are not zero.

        A list given as `variances` gets the second derivatives by part scores, batch by batch (see `diagonal`).
        """
        gradient = np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            scores = batch.design.restrict(features).scores(values)
            if variances is None:
                value, parts = self.loss(batch.structure, scores, batch.gold)
            else:
                value, parts, second = self.loss.with_variances(batch.structure, scores, batch.gold)
                variances.append(second)
            batch.design.pullback(parts, gradient)
            total += value
        return total, gradient

    def diagonal(self, variances: list[Any]) -> Array:
        """The diagonal of the loss's Hessian, or nearly, from second derivatives by part scores: (Φ∘Φ)ᵀ p(1 − p)."""
        out = np.zeros(self.n_features)
        for batch, parts in zip(self.batches, variances, strict=True):
            batch.design.pullback_squared(parts, out)
        return out

    def second_order(self, w: Array) -> tuple[float, Array, Array]:
        """Σ loss, its gradient, and the diagonal of its Hessian, or nearly. For smooth losses only."""
        gradient, diagonal = np.zeros(self.n_features), np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            value, parts, second = self.loss.with_variances(
                batch.structure, batch.design.scores(w), batch.gold
            )
            batch.design.pullback(parts, gradient)
            batch.design.pullback_squared(second, diagonal)
            total += value
        return total, gradient, diagonal

    def curvature(self, w: Array) -> Array:
        """The diagonal alone."""
        return self.second_order(w)[2]

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
