"""Learning problems, Σ_i loss_i(w) + Ω(w): what a solver asks of one (`base`), and the one in memory."""

from __future__ import annotations

from parsimon.problem.base import (
    BaseProblem,
    BlockInstances,
    Coordinates,
    Evaluation,
    HasBlocks,
    HasChunks,
    HasCoordinates,
    HasCumulativeL1,
    HasExpectedCosts,
    HasHeldOut,
    HasMargins,
    HasOnline,
    LinearPoint,
    Marginals,
    MarginInstances,
    OnlineInstances,
    Problem,
    Screened,
    SummedInstances,
    Violated,
)
from parsimon.problem.in_memory import Batch, InMemoryProblem

__all__ = [
    "BaseProblem",
    "Batch",
    "BlockInstances",
    "Coordinates",
    "Evaluation",
    "HasBlocks",
    "HasChunks",
    "HasCoordinates",
    "HasCumulativeL1",
    "HasExpectedCosts",
    "HasHeldOut",
    "HasMargins",
    "HasOnline",
    "InMemoryProblem",
    "LinearPoint",
    "MarginInstances",
    "Marginals",
    "OnlineInstances",
    "Problem",
    "Screened",
    "SummedInstances",
    "Violated",
]
