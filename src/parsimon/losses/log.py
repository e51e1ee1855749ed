"""The log loss: conditional random fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from parsimon.arrays import Array
from parsimon.losses.base import LabelFree, some_missing, with_known_labels
from parsimon.structures.base import Gold, Oracle, Parts, Structure


@dataclass(frozen=True)
class Log(LabelFree):
    """Negative conditional log-likelihood: a conditional random field.

    Where labels are missing, what is maximised is the probability of *all* outputs that agree with those given:
    log Z(s) − log Z(s | given labels), with gradient μ − μ(given).
    """

    name: ClassVar[str] = "log"
    oracle: ClassVar[Oracle] = Oracle.MARGINALS
    smooth: ClassVar[bool] = True
    partial_labels: ClassVar[bool] = True
    trivial_at_zero: ClassVar[bool] = False

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ log Z − s(gold), and marginals − gold."""
        values, parts, _ = self._evaluated(structure, scores, gold, copy=False)
        return structure.weigh(values), parts

    def with_marginals(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts, Array]:
        """The same, and the marginals of labels."""
        values, parts, marginals = self._evaluated(structure, scores, gold, copy=True)
        return structure.weigh(values), parts, marginals

    def each(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """The same, before it is summed."""
        return self._evaluated(structure, scores, gold, copy=True)

    def variances(self, structure: Structure, marginals: Array) -> Parts:
        """p(1 − p)."""
        return structure.variances(marginals)

    def _evaluated(
        self, structure: Structure, scores: Parts, gold: Gold, *, copy: bool
    ) -> tuple[Array, Parts, Any]:
        if not some_missing(gold):
            return with_known_labels(structure, scores, gold, copy=copy)
        attained, parts_of_gold = structure.marginals(structure.constrain(scores, gold))
        log_z, parts = structure.marginals(scores)
        marginals = parts.node.copy() if copy else None
        parts.subtract(parts_of_gold)
        return log_z - attained, parts, marginals
