"""Losses. They see part scores and a structure's oracles, never features.

| loss       | value at one instance                        | μ                           |
|------------|----------------------------------------------|-----------------------------|
| log        | log Z(s) − s(gold)                           | the marginals               |
| hinge      | max_y [s(y) + cost(y, gold)] − s(gold)       | the cost-augmented argmax   |
| perceptron | max_y s(y) − s(gold)                         | the argmax                  |
| squared    | ½ (s − gold)²                                | the mean, which is s itself |

The gradient with respect to part scores is μ − gold. Markov random fields also have the pseudo-likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol, Self, TypeAlias

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

    def bind(self, labels: Sequence[Any]) -> Loss:
        """The same loss, told the names of the labels: their numbers are their places among these."""
        ...


class _Nameless:
    """Losses to which labels are all alike."""

    def bind(self, labels: Sequence[Any]) -> Self:
        """Itself."""
        return self


@dataclass(frozen=True)
class Log(_Nameless):
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
    """Whether an output is not known: a label below zero. Numbers always are; what is no array says so itself."""
    if not isinstance(gold, np.ndarray):
        return bool(gold.some_missing)
    return bool(np.issubdtype(gold.dtype, np.integer) and np.any(gold < 0))


def _all_known(structure: Structure, scores: Any, gold: Any, *, copy: bool) -> tuple[Array, Any, Any]:
    """log Z(s) − s(gold) of every instance, marginals − gold, and a copy of the marginals."""
    attained = structure.score(scores, gold)
    log_z, parts = structure.marginals(scores)
    marginals = parts.node.copy() if copy else None
    structure.add_output(parts, gold, -1.0)
    return log_z - attained, parts, marginals


@dataclass(frozen=True)
class Squared(_Nameless):
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


@dataclass(frozen=True)
class PseudoLikelihood(_Nameless):
    """−Σ_v log p(y_v | all others) (Besag 1975): a convex stand-in for the log loss where log Z cannot be had.

    Nothing is summed over outputs, so value and gradient are exact on any graph; with enough data it finds the same
    weights.
    """

    name: ClassVar[str] = "pseudo-likelihood"
    oracle: ClassVar[Oracle] = Oracle.CONDITIONALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Any, scores: Any, gold: Any) -> tuple[float, Any]:
        """Σ −log p(y_v | others), and its derivatives by part scores."""
        values, parts, _ = self.each(structure, scores, gold)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Any, scores: Any, gold: Any) -> tuple[float, Any, Array]:
        """The same, and the mean and variance of conditional probabilities."""
        values, parts, moments = self.each(structure, scores, gold)
        return structure.weigh(values), parts, moments

    def each(self, structure: Any, scores: Any, gold: Any) -> tuple[Array, Any, Array]:
        """The same, before it is summed."""
        values, parts, moments = structure.conditionals(scores, gold)
        return values, parts, moments

    def variances(self, structure: Any, marginals: Array) -> Any:
        """The second derivatives by node scores; those by edge scores nearly."""
        return structure.conditional_variances(marginals)


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


Cost: TypeAlias = float | Array | Mapping[tuple[Any, Any], float] | Callable[[Any, Any], float]


class _Costly:
    """Losses with a cost: how bad it is to give a label where another is gold."""

    name: ClassVar[str]
    cost: Cost

    def __post_init__(self) -> None:
        cost = self.cost
        if not callable(cost) and not isinstance(cost, Mapping):
            object.__setattr__(self, "cost", _as_cost(cost))

    def bind(self, labels: Sequence[Any]) -> Any:
        """The same loss with a cost that is a number or an array, whatever it was: these are the labels' names."""
        return replace(self, cost=_for_labels(self.cost, labels))  # type: ignore[type-var]

    @property
    def _bound_cost(self) -> float | Array:
        cost = self.cost
        if callable(cost) or isinstance(cost, Mapping):
            raise ParsimonError(
                f"the cost of the {self.name} loss is told by names of labels, so bind(labels) must come first."
            )
        return cost

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and settings_of(self) == settings_of(other)

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
        told = [_number(cost(gold, given), gold, given) for gold in labels for given in labels]
        return _checked(np.array(told).reshape(n, n), labels)
    if isinstance(cost, Mapping):
        return _checked(_from_pairs(cost, labels), labels)
    if len(cost) != n:
        raise ParsimonError(
            f"the table of costs is for {len(cost)} labels, but there are {n}; give {n} rows and columns."
        )
    return cost


def _number(told: Any, gold: Any, given: Any) -> float:
    """What a pair of labels is said to cost."""
    try:
        return float(told)
    except (TypeError, ValueError):
        raise ParsimonError(
            f"the cost of giving label {given!r} where {gold!r} is gold must be a number, not {told!r}."
        ) from None


def _from_pairs(cost: Mapping[tuple[Any, Any], float], labels: Sequence[Any]) -> Array:
    """1 for every wrong label, but what the mapping says for the pairs in it."""
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


@dataclass(frozen=True, eq=False)
class Hinge(_Costly, _Piecewise):
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

    def __call__(self, structure: Structure, scores: Any, gold: IntArray) -> tuple[float, Any]:
        """Σ max_y [s(y) + cost(y)] − s(gold), and argmax − gold."""
        best, output = structure.cost_argmax(scores, gold, self._bound_cost)
        parts = structure.indicators(output)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(best - structure.score(scores, gold)), parts


@dataclass(frozen=True, eq=False)
class SmoothedHinge(_Costly):
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
        augmented = structure.augment(scores, gold, self._bound_cost)
        augmented.scale(1 / self.temperature)
        return attained, *structure.marginals(augmented)


@dataclass(frozen=True)
class Perceptron(_Nameless, _Piecewise):
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


LOSSES: dict[str, type[Log] | type[Hinge] | type[Perceptron] | type[Squared] | type[PseudoLikelihood]] = {
    loss.name: loss for loss in (Log, Hinge, Perceptron, Squared, PseudoLikelihood)
}


def get_loss(loss: str | Loss) -> Loss:
    """A loss by name (``log``, ``hinge``, ``perceptron``, ``squared``, ``pseudo-likelihood``), or the loss given."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ParsimonError(f"there is no loss called {loss!r}; choose from {', '.join(LOSSES)}.")
    return LOSSES[loss]()


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
