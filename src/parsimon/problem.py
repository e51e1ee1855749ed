"""A learning problem: Σ_i loss_i(w) + Ω(w), over batches of instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.base import Design
from parsimon.losses import Loss
from parsimon.penalties.base import Penalty
from parsimon.structures.base import Structure


@dataclass(frozen=True)
class Batch:
    """Some instances: Φ, their structure and their known output: labels, −1 where they are not known (or a `Table`)."""

    design: Design
    structure: Structure
    gold: Any

    def restrict(self, features: IntArray) -> Batch:
        """The same instances, scored by some features (ascending) only."""
        design = self.design.restrict(features)
        return replace(self, design=design, structure=design.adapt(self.structure))

    def part(self, first: int, last: int) -> Batch:
        """The instances from `first` to before `last`."""
        structure, where = self.structure.part(first, last)
        design = self.design.part(where)
        return Batch(design, design.adapt(structure), self.gold[where])

    def keeping(self) -> Batch:
        """The same instances; parts stay valid when those of other batches are made, and say what they came from."""
        design: Any = self.design
        structure: Any = self.structure
        return replace(self, design=design.keeping(), structure=structure.keeping())


@dataclass(frozen=True)
class Steep:
    """The features whose gradient is large, of all there are; and what else one pass over the data tells."""

    loss: float
    features: IntArray  # ascending
    gradient: Array  # theirs
    of_active: Array  # the gradient of the features that are not zero
    marginals: list[Array]  # of labels, batch by batch, for `diagonal`


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
        self, values: Array, features: IntArray, marginals: list[Array] | None = None
    ) -> tuple[float, Array]:
        """Σ loss and the gradient of *all* features where only the given (ascending) ones are not zero.

        A list given as `marginals` gets those of labels, batch by batch (see `diagonal`).
        """
        gradient = np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            scores = batch.design.scores_of(values, features)
            if marginals is None:
                value, parts = self.loss(batch.structure, scores, batch.gold)
            else:
                value, parts, of_labels = self.loss.with_marginals(batch.structure, scores, batch.gold)
                marginals.append(of_labels)
            batch.design.pullback(parts, gradient)
            total += value
        return total, gradient

    @property
    def can_screen(self) -> bool:
        """Whether steep features can be found without the gradient of all of them."""
        return all(hasattr(batch.design, "screen") for batch in self.batches)

    def steep(
        self, values: Array, features: IntArray, threshold: float, narrow: Problem | None = None
    ) -> Steep:
        """The features, of all, whose gradient is above a threshold, where only the given ones are not zero.

        Memory goes with the data and with what is found, not with the number of features. `narrow` is the problem
        restricted to these features, if somebody has it already.
        """
        of_active = np.zeros(len(features))
        total, marginals, looked = 0.0, [], []
        for k, batch in enumerate(self.batches):
            small = (batch.restrict(features) if narrow is None else narrow.batches[k]).keeping()
            scores = small.design.scores(values)
            value, parts, of_labels = self.loss.with_marginals(small.structure, scores, batch.gold)
            small.design.pullback(parts, of_active)
            marginals.append(of_labels)
            looked.append((batch.design, small.structure, parts))
            total += value
        design: Any = self.batches[0].design
        found, gradient = design.screen(looked, threshold)
        return Steep(total, found, gradient, of_active, marginals)

    def diagonal(self, marginals: list[Array]) -> Array:
        """The diagonal of the loss's Hessian, or nearly, from the marginals of labels: (Φ∘Φ)ᵀ p(1 − p)."""
        out = np.zeros(self.n_features)
        for batch, of_labels in zip(self.batches, marginals, strict=True):
            batch.design.pullback_squared(self.loss.variances(batch.structure, of_labels), out)
        return out

    def second_order(self, w: Array) -> tuple[float, Array, Array]:
        """Σ loss, its gradient, and the diagonal of its Hessian, or nearly. For smooth losses only."""
        gradient, diagonal = np.zeros(self.n_features), np.zeros(self.n_features)
        total = 0.0
        for batch in self.batches:
            value, parts, of_labels = self.loss.with_marginals(
                batch.structure, batch.design.scores(w), batch.gold
            )
            batch.design.pullback(parts, gradient)
            batch.design.pullback_squared(self.loss.variances(batch.structure, of_labels), diagonal)
            total += value
        return total, gradient, diagonal

    def curvature(self, w: Array) -> Array:
        """The diagonal alone."""
        return self.second_order(w)[2]

    def objective(self, w: Array) -> float:
        """Σ loss + Ω."""
        loss = sum(self.loss(b.structure, b.design.scores(w), b.gold)[0] for b in self.batches)
        return loss + self.penalty.value(w)

    def chunks(self, most: int) -> list[Batch]:
        """The same instances in batches of at most so many, for methods that learn from a few at a time."""
        out = []
        for batch in self.batches:
            n = batch.structure.n_instances
            cuts = np.linspace(0, n, -(-n // most) + 1).astype(int).tolist()
            out += [batch.part(first, last) for first, last in pairwise(cuts)]
        return out

    def restrict(self, features: IntArray) -> Problem:
        """The problem in which only these features (ascending) may be other than zero."""
        batches = tuple(batch.restrict(features) for batch in self.batches)
        return replace(
            self, batches=batches, penalty=self.penalty.restrict(features), n_features=len(features)
        )
