"""What every loss offers, and what several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from parsimon.arrays import Array, IntArray
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

    def bind(self, labels: Sequence[Any]) -> Loss:
        """The same loss, told the names of the labels: their numbers are their places among these."""
        ...


class LabelFree:
    """Losses to which labels are all alike."""

    def bind(self, labels: Sequence[Any]) -> Self:
        """Itself."""
        return self


class Piecewise:
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


def some_missing(gold: Any) -> bool:
    """Whether an output is not known: a label below zero. Numbers always are; what is no array says so itself."""
    if not isinstance(gold, np.ndarray):
        return bool(gold.some_missing)
    return bool(np.issubdtype(gold.dtype, np.integer) and np.any(gold < 0))


def with_known_labels(structure: Structure, scores: Any, gold: Any, *, copy: bool) -> tuple[Array, Any, Any]:
    """log Z(s) − s(gold) of every instance, marginals − gold, and a copy of the marginals."""
    attained = structure.score(scores, gold)
    log_z, parts = structure.marginals(scores)
    marginals = parts.node.copy() if copy else None
    structure.add_output(parts, gold, -1.0)
    return log_z - attained, parts, marginals


def settings_of(loss: Any) -> dict[str, Any]:
    """What a loss was told, by name; arrays as lists, so that they can be compared and written down.

    >>> from parsimon.losses import Hinge, settings_of
    >>> settings_of(Hinge(cost=2)), settings_of(Hinge(cost=[[0, 1], [3, 0]]))
    ({'cost': 2.0}, {'cost': [[0.0, 1.0], [3.0, 0.0]]})
    """
    if not is_dataclass(loss):
        return {}
    told = {each.name: getattr(loss, each.name) for each in fields(loss)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in told.items()}
