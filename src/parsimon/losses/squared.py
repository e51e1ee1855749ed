"""The squared loss: least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsimon.arrays import Array
from parsimon.losses.base import LabelFree, with_known_labels
from parsimon.structures.base import Gold, Oracle, Parts, Structure


@dataclass(frozen=True)
class Squared(LabelFree):
    """½ (s − y)², for outputs that are numbers: the log loss of a normal distribution around the score."""

    name: ClassVar[str] = "squared"
    oracle: ClassVar[Oracle] = Oracle.MEAN
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ ½ (s − y)², and s − y."""
        values, parts, _ = with_known_labels(structure, scores, gold, copy=False)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts, Array]:
        """The same, and the means."""
        values, parts, means = self.each(structure, scores, gold)
        return structure.weigh(values), parts, means

    def each(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """The same, before it is summed."""
        return with_known_labels(structure, scores, gold, copy=True)

    def variances(self, structure: Structure, marginals: Array) -> Parts:
        """One."""
        return structure.variances(marginals)
