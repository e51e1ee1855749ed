"""What every loss offers, what some offer besides, and what several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from parsimon.arrays import Array
from parsimon.structures.base import Gold, Oracle, Parts, Structure


class Loss(Protocol):
    """A loss: Σ over instances, and its gradient with respect to part scores."""

    name: ClassVar[str]
    oracle: ClassVar[Oracle]
    smooth: ClassVar[bool]
    partial_labels: ClassVar[bool]
    trivial_at_zero: ClassVar[bool]  # smallest at w = 0, so that only the direction of w means anything

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ weight · loss, and the parts μ − gold (may overwrite `scores`)."""
        ...

    def bind(self, labels: Sequence[Any]) -> Loss:
        """The same loss for labels with these names: the number of a label is its place among them."""
        ...


@runtime_checkable
class SmoothLoss(Loss, Protocol):
    """A loss with a second derivative."""

    def with_marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts, Array]:
        """Loss and gradient, and the marginals of labels, for `variances`."""
        ...

    def variances(self, structure: Structure, marginals: Array) -> Parts:
        """The second derivative by the score of each part, or nearly."""
        ...

    def each(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """The same as `with_marginals`, but the loss of every instance, without its weight, in place of the sum."""
        ...


@runtime_checkable
class CostLoss(Loss, Protocol):
    """A loss that knows what a wrong label costs."""

    def bound_cost(self) -> float | Array:
        """The cost of any wrong label, or a table of (gold, given); refused before `bind` if it needs names."""
        ...


class LabelFree:
    """Losses that treat all labels alike."""

    def bind(self, labels: Sequence[Any]) -> Self:
        """Itself."""
        return self


def some_missing(gold: Gold) -> bool:
    """Whether a label is missing (below zero). Numbers never are; a `Table` has the answer itself."""
    if not isinstance(gold, np.ndarray):
        return bool(gold.some_missing)
    return bool(np.issubdtype(gold.dtype, np.integer) and np.any(gold < 0))


def with_known_labels(
    structure: Structure, scores: Parts, gold: Gold, *, copy: bool
) -> tuple[Array, Parts, Any]:
    """log Z(s) − s(gold) of every instance, marginals − gold, and a copy of the marginals."""
    attained = structure.score(scores, gold)
    log_z, parts = structure.marginals(scores)
    marginals = parts.node.copy() if copy else None
    structure.add_output(parts, gold, -1.0)
    return log_z - attained, parts, marginals


def loss_settings(loss: Any) -> dict[str, Any]:
    """A loss's settings by name; arrays as lists, so that they can be compared and stored.

    >>> from parsimon.losses import Hinge, loss_settings
    >>> loss_settings(Hinge(cost=2)), loss_settings(Hinge(cost=[[0, 1], [3, 0]]))
    ({'cost': 2.0}, {'cost': [[0.0, 1.0], [3.0, 0.0]]})
    """
    if not is_dataclass(loss):
        return {}
    settings = {each.name: getattr(loss, each.name) for each in fields(loss)}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in settings.items()
    }
