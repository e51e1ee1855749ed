"""One output an instance: a label (`Flat`), or a number (`Real`). Classification and regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.base import Oracle


@dataclass
class FlatParts:
    """A number for every label of every instance: ``node[i, y]``."""

    node: Array  # (n, Y); for real outputs (n, 1)

    def subtract(self, other: FlatParts) -> None:
        """``self -= other``."""
        self.node -= other.node

    def scale(self, factor: float) -> None:
        """``self *= factor``."""
        self.node *= factor


class Weighted:
    """Instances that count once, or as often as their weights say."""

    def __init__(self, n_instances: int, weights: Array | None) -> None:
        if weights is not None and (len(weights) != n_instances or not np.all(np.isfinite(weights))):
            raise ParsimonError(
                f"there are {n_instances} instances; give as many weights, all of them finite."
            )
        self.n_instances = n_instances
        self.weights = weights

    def weigh(self, values: Array) -> float:
        """Σ weight · value over instances."""
        return float(np.sum(values)) if self.weights is None else float(dot(self.weights, values))

    def counted(self, values: Array) -> Array:
        """Every instance's numbers times its weight."""
        if self.weights is None:
            return values
        return values * (self.weights if values.ndim == 1 else self.weights[:, None])


class Flat(Weighted):
    """A batch of instances with one label each.

    >>> import numpy as np
    >>> from parsimon.structures import Flat, FlatParts
    >>> flat = Flat(n_instances=2, n_labels=3)
    >>> best, labels = flat.argmax(FlatParts(np.array([[1.0, 0.0, 3.0], [0.5, 2.0, 1.0]])))
    >>> labels.tolist(), best.tolist()
    ([2, 1], [3.0, 2.0])
    """

    oracles: ClassVar[frozenset[Oracle]] = frozenset({Oracle.ARGMAX, Oracle.COST_ARGMAX, Oracle.MARGINALS})
    exact: ClassVar[bool] = True

    def __init__(self, n_instances: int, n_labels: int, weights: Array | None = None) -> None:
        super().__init__(n_instances, weights)
        self.n_labels = n_labels
        self._rows = np.arange(n_instances)

    def argmax(self, scores: FlatParts) -> tuple[Array, IntArray]:
        """The best label of every instance, and its score; the first of equals."""
        labels = np.argmax(scores.node, axis=1)
        return scores.node[self._rows, labels], labels

    def cost_argmax(self, scores: FlatParts, gold: IntArray, cost: float | Array) -> tuple[Array, IntArray]:
        """The label with the largest score + cost, and that value."""
        return self.argmax(self.augment(scores, gold, cost))

    def augment(self, scores: FlatParts, gold: IntArray, cost: float | Array) -> FlatParts:
        """New scores, with the cost of wrong labels added."""
        if isinstance(cost, np.ndarray):
            return FlatParts(scores.node + cost[gold])
        node = scores.node + cost
        node[self._rows, gold] -= cost
        return FlatParts(node)

    def marginals(self, scores: FlatParts) -> tuple[Array, FlatParts]:
        """log Σ_y exp(s_y), and the probability of every label."""
        high = scores.node.max(axis=1)
        p = np.exp(scores.node - high[:, None])
        total = p.sum(axis=1)
        p /= total[:, None]
        return high + np.log(total), FlatParts(self.counted(p))

    def variances(self, marginals: Array) -> FlatParts:
        """p(1 − p)."""
        if self.weights is None:
            return FlatParts(marginals * (1 - marginals))
        weights = self.weights[:, None]
        share = np.divide(marginals, weights, out=np.zeros_like(marginals), where=weights > 0)
        return FlatParts(marginals * (1 - share))

    def score(self, scores: FlatParts, output: IntArray) -> Array:
        """The score of the given labels."""
        return scores.node[self._rows, output]

    def indicators(self, output: IntArray) -> FlatParts:
        """One for the given label."""
        parts = FlatParts(np.zeros((self.n_instances, self.n_labels)))
        self.add_output(parts, output, 1.0)
        return parts

    def add_output(self, parts: FlatParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        parts.node[self._rows, output] += times if self.weights is None else times * self.weights

    def expected_cost(self, parts: FlatParts, gold: IntArray, cost: float | Array) -> float:
        """Σ of Σ_y μ(y)·cost(gold, y), where `parts` is μ − gold."""
        if isinstance(cost, np.ndarray):
            return float(np.sum(parts.node * cost[gold]))
        return -cost * float(np.sum(parts.node[self._rows, gold]))

    def log_outputs(self) -> Array:
        """An instance has as many outputs as there are labels."""
        return np.full(self.n_instances, np.log(self.n_labels))

    def constrain(self, scores: FlatParts, output: IntArray) -> FlatParts:
        """Scores under which only the given labels are possible; −1 leaves an instance free."""
        node, known = scores.node.copy(), np.flatnonzero(output >= 0)
        node[known] = -np.inf
        node[known, output[known]] = scores.node[known, output[known]]
        return FlatParts(node)

    def cost(self, gold: IntArray, output: IntArray, cost: float | Array) -> Array:
        """cost · [wrong label], or cost[gold, label]."""
        return cost[gold, output] if isinstance(cost, np.ndarray) else cost * (gold != output).astype(float)

    def part(self, first: int, last: int) -> tuple[Flat, slice]:
        """The instances from `first` to before `last`, and where they are."""
        weights = None if self.weights is None else self.weights[first:last]
        return Flat(last - first, self.n_labels, weights), slice(first, last)


class Real(Weighted):
    """A batch of instances with a number each, which has a normal distribution around its score: least squares.

    Its log-partition function is s²/2, its mean s; and with the score s·y − y²/2 of an output y, log Z − score is
    ½(s − y)².
    """

    oracles: ClassVar[frozenset[Oracle]] = frozenset({Oracle.MEAN})
    exact: ClassVar[bool] = True

    def marginals(self, scores: FlatParts) -> tuple[Array, FlatParts]:
        """s²/2, and the mean s."""
        s = scores.node[:, 0]
        return 0.5 * s * s, FlatParts(self.counted(scores.node.copy()))

    def variances(self, marginals: Array) -> FlatParts:
        """One."""
        return FlatParts(self.counted(np.ones_like(marginals)))

    def score(self, scores: FlatParts, output: Array) -> Array:
        """s·y − y²/2."""
        return np.asarray(output * (scores.node[:, 0] - 0.5 * output))

    def add_output(self, parts: FlatParts, output: Array, times: float) -> None:
        """parts += times · y."""
        parts.node[:, 0] += times * self.counted(np.asarray(output, np.float64))
