"""The perceptron's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsimon.losses.base import LabelFree
from parsimon.structures.base import Gold, Oracle, Parts, Structure


@dataclass(frozen=True)
class Perceptron(LabelFree):
    """The structured perceptron's loss: how much the best output scores above gold."""

    name: ClassVar[str] = "perceptron"
    oracle: ClassVar[Oracle] = Oracle.ARGMAX
    smooth: ClassVar[bool] = False
    partial_labels: ClassVar[bool] = False
    trivial_at_zero: ClassVar[bool] = True

    def __call__(self, structure: Structure, scores: Parts, gold: Gold) -> tuple[float, Parts]:
        """Σ max_y s(y) − s(gold), and argmax − gold."""
        best, output = structure.argmax(scores)
        parts = structure.indicators(output)
        structure.add_output(parts, gold, -1.0)
        return structure.weigh(best - structure.score(scores, gold)), parts
