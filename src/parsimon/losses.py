"""Losses. They see part scores and a structure's oracles, never features.

| loss       | value at one instance                        | μ                           |
|------------|----------------------------------------------|-----------------------------|
| log        | log Z(s) − s(gold)                           | the marginals               |
| hinge      | max_y [s(y) + cost(y, gold)] − s(gold)       | the cost-augmented argmax   |
| perceptron | max_y s(y) − s(gold)                         | the argmax                  |
| squared    | ½ (s − gold)²                                | the mean, which is s itself |

The gradient with respect to part scores is μ − gold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.base import Oracle, Structure


class Loss(Protocol):
    """A loss: Σ over instances, and its gradient with respect to part scores."""

    name: ClassVar[str]
    oracle: ClassVar[Oracle]
    smooth: ClassVar[bool]
    partial_labels: ClassVar[bool]
    trivial_at_zero: ClassVar[bool]  # smallest at w = 0, so that only the direction of w means anything

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ weight · loss, and the parts μ − gold (may overwrite `scores`)."""
        ...

    def with_marginals(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any, Array]:
        """The same, and the marginals of labels, for `variances`; only smooth losses have them."""
        ...

    def variances(self, structure: Structure, marginals: Array) -> Any:
        """The second derivative by the score of each part, or nearly."""
        ...

    def each(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[Array, Any, Array]:
        """The loss of every instance, not weighed, in place of the sum; for smooth losses."""
        ...


@dataclass(frozen=True)
class Log:
    """Negative conditional log-likelihood: a conditional random field.

    Where labels are missing, what is maximised is the probability of *all* outputs that agree with those given:
    log Z(s) − log Z(s | given labels), with gradient μ − μ(given).
    """

    name: ClassVar[str] = "log"
    oracle: ClassVar[Oracle] = Oracle.MARGINALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = True
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ log Z − s(gold), and marginals − gold."""
        values, parts, _ = self._evaluated(structure, scores, gold, copy=False)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any, Array]:
        """The same, and the marginals of labels."""
        values, parts, marginals = self._evaluated(structure, scores, gold, copy=True)
        return structure.weigh(values), parts, marginals

    def each(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[Array, Any, Array]:
        """The same, before it is summed."""
        return self._evaluated(structure, scores, gold, copy=True)

    def variances(self, structure: Structure, marginals: Array) -> Any:
        """p(1 − p)."""
        return structure.variances(marginals)

    def _evaluated(
        self, structure: Structure, scores: Any, gold: IntArray, *, copy: bool
    ) -> tuple[Array, Any, Any]:
        if not some_missing(gold):
            return _all_known(structure, scores, gold, copy=copy)
        attained, parts_of_gold = structure.marginals(structure.constrain(scores, gold))
        log_z, parts = structure.marginals(scores)
        marginals = parts.node.copy() if copy else None
        parts.subtract(parts_of_gold)
        return log_z - attained, parts, marginals


def some_missing(gold: Any) -> bool:
    """Whether an output is not known: a label below zero. Numbers always are."""
    return bool(np.issubdtype(gold.dtype, np.integer) and np.any(gold < 0))


def _all_known(structure: Structure, scores: Any, gold: Any, *, copy: bool) -> tuple[Array, Any, Any]:
    """log Z(s) − s(gold) of every instance, marginals − gold, and a copy of the marginals."""
    attained = structure.score(scores, gold)
    log_z, parts = structure.marginals(scores)
    marginals = parts.node.copy() if copy else None
    structure.add_output(parts, gold, -1.0)
    return log_z - attained, parts, marginals


@dataclass(frozen=True)
class Squared:
    """½ (s − y)², for outputs that are numbers: the log loss of a normal distribution around the score."""

    name: ClassVar[str] = "squared"
    oracle: ClassVar[Oracle] = Oracle.MEAN
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Any, gold: Any) -> tuple[float, Any]:
        """Σ ½ (s − y)², and s − y."""
        values, parts, _ = _all_known(structure, scores, gold, copy=False)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Structure, scores: Any, gold: Any) -> tuple[float, Any, Array]:
        """The same, and the means."""
        values, parts, means = self.each(structure, scores, gold)
        return structure.weigh(values), parts, means

    def each(self, structure: Structure, scores: Any, gold: Any) -> tuple[Array, Any, Array]:
        """The same, before it is summed."""
        return _all_known(structure, scores, gold, copy=True)

    def variances(self, structure: Structure, marginals: Array) -> Any:
        """One."""
        return structure.variances(marginals)


class _Piecewise:
    """Losses made of straight pieces."""

    def with_marginals(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any, Array]:
        """There are none."""
        raise TypeError("a loss of one best output has no marginals")

    def variances(self, structure: Structure, marginals: Array) -> Any:
        """There are none at the corners."""
        raise TypeError("a loss with corners has no second derivative")

    def each(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[Array, Any, Array]:
        """There are no marginals."""
        raise TypeError("a loss of one best output has no marginals")


@dataclass(frozen=True)
class Hinge(_Piecewise):
    """The structured hinge loss with margin rescaling: a max-margin Markov network."""

    cost: float = 1.0
    name: ClassVar[str] = "hinge"
    oracle: ClassVar[Oracle] = Oracle.COST_ARGMAX
    smooth: ClassVar[bool] = False
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ max_y [s(y) + cost(y)] − s(gold), and argmax − gold."""
        best, output = structure.cost_argmax(scores, gold, self.cost)
        parts = structure.indicators(output)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(best - structure.score(scores, gold)), parts


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge loss with its maximum replaced by a soft one, T log Σ exp(·/T): smooth, and at most T log |Y| above it.

    At T = 1 this is the softmax margin (Gimpel & Smith 2010); for T → 0 the hinge loss itself (Nesterov 2005).
    """

    temperature: float
    cost: float = 1.0
    name: ClassVar[str] = "smoothed-hinge"
    oracle: ClassVar[Oracle] = Oracle.MARGINALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ T log Z((s + cost)/T) − s(gold), and marginals − gold."""
        attained, log_z, parts = self._marginals(structure, scores, gold)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(self.temperature * log_z - attained), parts

    def with_marginals(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any, Array]:
        """The same, and the marginals of labels."""
        values, parts, marginals = self.each(structure, scores, gold)
        return structure.weigh(values), parts, marginals

    def each(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[Array, Any, Array]:
        """The same, before it is summed."""
        attained, log_z, parts = self._marginals(structure, scores, gold)
        marginals = parts.node.copy()
        structure.add_output(parts, gold, -1.0)
        return self.temperature * log_z - attained, parts, marginals

    def variances(self, structure: Structure, marginals: Array) -> Any:
        """p(1 − p)/T."""
        variances = structure.variances(marginals)
        variances.scale(1 / self.temperature)
        return variances

    def _marginals(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[Any, Any, Any]:
        attained = structure.score(scores, gold)
        augmented = structure.augment(scores, gold, self.cost)
        augmented.scale(1 / self.temperature)
        return attained, *structure.marginals(augmented)


@dataclass(frozen=True)
class Perceptron(_Piecewise):
    """The structured perceptron's loss: how much the best output scores above gold."""

    name: ClassVar[str] = "perceptron"
    oracle: ClassVar[Oracle] = Oracle.ARGMAX
    smooth: ClassVar[bool] = False
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = True

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ max_y s(y) − s(gold), and argmax − gold."""
        best, output = structure.argmax(scores)
        parts = structure.indicators(output)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(best - structure.score(scores, gold)), parts


LOSSES: dict[str, type[Log] | type[Hinge] | type[Perceptron] | type[Squared]] = {
    loss.name: loss for loss in (Log, Hinge, Perceptron, Squared)
}


def get_loss(loss: str | Loss) -> Loss:
    """A loss by name (``log``, ``hinge``, ``perceptron``, ``squared``), or the loss given."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ParsimonError(f"there is no loss called {loss!r}; choose from {', '.join(LOSSES)}.")
    return LOSSES[loss]()
