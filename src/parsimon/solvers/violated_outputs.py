"""The outputs that violate their margins most: what cutting planes and Frank–Wolfe ask of a structure.

The hinge loss of an instance is max_y h(y), with h(y) = cost(y) − w·Δf(y) and Δf(y) = f(gold) − f(y).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.arrays import Array
from parsimon.designs.base import SparseVectors
from parsimon.problem import Batch, Problem
from parsimon.structures.base import Structure


@dataclass(frozen=True)
class Violated:
    """One output of every instance of a batch, that with the largest h."""

    height: Array  # h
    cost: Array
    vectors: list[SparseVectors]  # Δf


def most_violated(batch: Batch, w: Array, cost: Any) -> Violated:
    """The cost-augmented argmax of every instance."""
    structure, scores = batch.structure, batch.design.scores(w)
    best, output = structure.cost_argmax(scores, batch.gold, cost)
    price = structure.cost(batch.gold, output, cost)
    return Violated(
        best - structure.score(scores, batch.gold),
        price,
        batch.design.differences(structure, batch.gold, output),
    )


def weights_of_instances(problem: Problem) -> Array:
    """How much each instance counts, over all batches."""
    return np.concatenate([_weights(batch.structure) for batch in problem.batches])


def _weights(structure: Structure) -> Array:
    return np.ones(structure.n_instances) if structure.weights is None else structure.weights
