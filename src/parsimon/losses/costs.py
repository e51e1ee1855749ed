"""What a wrong label costs, and the losses that know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.losses.base import loss_settings

Cost: TypeAlias = float | Array | Mapping[tuple[Any, Any], float] | Callable[[Any, Any], float]


class CostSensitive:
    """Losses with a cost: how bad it is to give a label where another is gold."""

    name: ClassVar[str]
    cost: Cost

    def __post_init__(self) -> None:
        cost = self.cost
        if not callable(cost) and not isinstance(cost, Mapping):
            object.__setattr__(self, "cost", _as_cost(cost))

    def bind(self, labels: Sequence[Any]) -> Any:
        """The same loss with its cost as a number or an array, for labels with these names."""
        return replace(self, cost=_for_labels(self.cost, labels))  # type: ignore[type-var]

    def bound_cost(self) -> float | Array:
        """The cost as a number or an array."""
        cost = self.cost
        if callable(cost) or isinstance(cost, Mapping):
            raise ParsimonError(
                f"the cost of the {self.name} loss is given by names of labels, so bind(labels) must come first."
            )
        return cost

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and loss_settings(self) == loss_settings(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _as_cost(cost: Any) -> float | Array:
    """A number or an array that is fit to be a cost."""
    try:
        table = np.array(cost, np.float64)
    except (TypeError, ValueError):
        raise ParsimonError(
            "a cost must be a number, an array with a row for each gold label, a mapping from (gold, given) or a "
            f"function of both, not {cost!r}."
        ) from None
    if table.ndim == 0:
        if not (np.isfinite(table) and table >= 0):
            raise ParsimonError(f"the cost of a wrong label must be zero or more, not {cost}.")
        return float(table)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ParsimonError(
            f"a table of costs must have a row and a column for each label, not the shape {table.shape}."
        )
    return _checked(table, range(len(table)))


def _checked(table: Array, labels: Sequence[Any]) -> Array:
    """Costs are finite and not negative, and right labels cost nothing."""
    wrong = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if len(wrong):
        gold, given = wrong[0].tolist()
        raise ParsimonError(
            f"the cost of giving label {labels[given]!r} where {labels[gold]!r} is gold must be zero or more, not "
            f"{table[gold, given]}."
        )
    right = np.flatnonzero(np.diag(table))
    if len(right):
        label = int(right[0])
        raise ParsimonError(
            f"label {labels[label]!r} is right where it is gold, so it must cost 0 there, not {table[label, label]}."
        )
    return table


def _for_labels(cost: Cost, labels: Sequence[Any]) -> float | Array:
    """The cost of giving one label for another, with names found among the labels."""
    if isinstance(cost, float | int):
        return cost
    n = len(labels)
    if callable(cost):
        costs = [_number(cost(gold, given), gold, given) for gold in labels for given in labels]
        return _checked(np.array(costs).reshape(n, n), labels)
    if isinstance(cost, Mapping):
        return _checked(_from_pairs(cost, labels), labels)
    if len(cost) != n:
        raise ParsimonError(
            f"the table of costs is for {len(cost)} labels, but there are {n}; give {n} rows and columns."
        )
    return cost


def _number(cost: Any, gold: Any, given: Any) -> float:
    """The cost of a pair of labels as a number."""
    try:
        return float(cost)
    except (TypeError, ValueError):
        raise ParsimonError(
            f"the cost of giving label {given!r} where {gold!r} is gold must be a number, not {cost!r}."
        ) from None


def _from_pairs(cost: Mapping[tuple[Any, Any], float], labels: Sequence[Any]) -> Array:
    """1 for every wrong label, except for the pairs in the mapping."""
    table, number = 1.0 - np.eye(len(labels)), {label: i for i, label in enumerate(labels)}
    for pair in cost:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ParsimonError(
                f"a mapping of costs goes from pairs (gold, given) of labels, not from {pair!r}."
            )
        for label in pair:
            if label not in number:
                known = ", ".join(str(each) for each in labels[:10]) + (", …" if len(labels) > 10 else "")
                raise ParsimonError(f"there is a cost for the label {label!r}, but the labels are {known}.")
        table[number[pair[0]], number[pair[1]]] = _number(cost[pair], *pair)
    return table
