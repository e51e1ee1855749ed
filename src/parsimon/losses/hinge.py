"""The hinge loss, as it is and smoothed: max-margin Markov networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from parsimon.arrays import Array
from parsimon.losses.costs import Cost, CostSensitive
from parsimon.structures.base import Gold, Oracle, Parts, Structure


@dataclass(frozen=True, eq=False)
class Hinge(CostSensitive):
    """The structured hinge loss with margin rescaling: a max-margin Markov network.

    `cost` is how much a wrong label costs: a number, the same for all; an array with a row for each gold label and a
    column for each label given in its place; a mapping from some pairs (gold, given), all others costing 1; or a
    function of both. The last two take the labels' names, which `bind` needs to know.

    >>> from parsimon.losses import Hinge
    >>> Hinge(cost={("O", "NAME"): 0.5, ("NAME", "O"): 3}).bind(["NAME", "O", "PLACE"]).cost
    array([[0. , 3. , 1. ],
           [0.5, 0. , 1. ],
           [1. , 1. , 0. ]])
    """

    cost: Cost = 1.0
    name: ClassVar[str] = "hinge"
    oracle: ClassVar[Oracle] = Oracle.COST_ARGMAX
    smooth: ClassVar[bool] = False
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ max_y [s(y) + cost(y)] − s(gold), and argmax − gold."""
        best, output = structure.cost_argmax(scores, gold, self.bound_cost())
        parts = structure.indicators(output)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(best - structure.score(scores, gold)), parts


@dataclass(frozen=True, eq=False)
class SmoothedHinge(CostSensitive):
    """The hinge loss with its maximum replaced by a soft one, T log Σ exp(·/T): smooth, and at most T log |Y| above it.

    At T = 1 this is the softmax margin (Gimpel & Smith 2010); for T → 0 the hinge loss itself (Nesterov 2005). |Y| is
    the number of outputs of an instance, and `cost` that of `Hinge`.
    """

    temperature: float
    cost: Cost = 1.0
    name: ClassVar[str] = "smoothed-hinge"
    oracle: ClassVar[Oracle] = Oracle.MARGINALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ T log Z((s + cost)/T) − s(gold), and marginals − gold."""
        attained, log_z, parts = self._marginals(structure, scores, gold)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(self.temperature * log_z - attained), parts

    def with_marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts, Array]:
        """The same, and the marginals of labels."""
        values, parts, marginals = self.each(structure, scores, gold)
        return structure.weigh(values), parts, marginals

    def each(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """The same, before it is summed."""
        attained, log_z, parts = self._marginals(structure, scores, gold)
        marginals = parts.node.copy()
        structure.add_output(parts, gold, -1.0)
        return self.temperature * log_z - attained, parts, marginals

    def variances(self, structure: Structure, marginals: Array) -> Parts:
        """p(1 − p)/T."""
        variances = structure.variances(marginals)
        variances.scale(1 / self.temperature)
        return variances

    def _marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Any, Any, Any]:
        attained = structure.score(scores, gold)
        augmented = structure.augment(scores, gold, self.bound_cost())
        augmented.scale(1 / self.temperature)
        return attained, *structure.marginals(augmented)
