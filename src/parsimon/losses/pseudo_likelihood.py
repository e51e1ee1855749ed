"""The pseudo-likelihood of Markov random fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsimon.arrays import Array
from parsimon.losses.base import LabelFree
from parsimon.structures.base import AnswersConditionals, Gold, Oracle, Parts, Structure


@dataclass(frozen=True)
class PseudoLikelihood(LabelFree):
    """−Σ_v log p(y_v | all others) (Besag 1975): a convex stand-in for the log loss where log Z cannot be had.

    Nothing is summed over outputs, so value and gradient are exact on any graph; with enough data it finds the same
    weights.
    """

    name: ClassVar[str] = "pseudo-likelihood"
    oracle: ClassVar[Oracle] = Oracle.CONDITIONALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ −log p(y_v | others), and its derivatives by part scores."""
        values, parts, _ = self.each(structure, scores, gold)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts, Array]:
        """The same, and the mean and variance of conditional probabilities."""
        values, parts, moments = self.each(structure, scores, gold)
        return structure.weigh(values), parts, moments

    def each(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """The same, before it is summed."""
        assert isinstance(structure, AnswersConditionals)
        values, parts, moments = structure.conditionals(scores, gold)
        return values, parts, moments

    def variances(self, structure: Structure, marginals: Array) -> Parts:
        """The second derivatives by node scores; those by edge scores nearly."""
        assert isinstance(structure, AnswersConditionals)
        return structure.conditional_variances(marginals)
