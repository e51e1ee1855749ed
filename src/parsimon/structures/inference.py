"""What a pairwise Markov random field asks of inference, and a report of how well that went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.structures.graph import Graph, MRFParts


@dataclass(frozen=True)
class InferenceReport:
    """How far inference got, instance by instance."""

    sweeps: IntArray  # how often all messages were renewed
    residual: Array  # by how much one of them still changed in the end
    damping: Array  # what damping was in the end
    converged: BoolArray

    @classmethod
    def exact(cls, n_instances: int) -> InferenceReport:
        """The report of exact inference."""
        zeros = np.zeros(n_instances)
        return cls(np.ones(n_instances, np.int32), zeros, zeros, np.ones(n_instances, bool))

    @property
    def all_converged(self) -> bool:
        """Whether every instance did."""
        return bool(np.all(self.converged))


class Engine(Protocol):
    """Inference at work on one graph. It may keep what helps it to answer the next question sooner."""

    report: InferenceReport | None

    def marginals(self, scores: MRFParts) -> tuple[Array, MRFParts]:
        """log Z of every instance, and the marginals of all parts."""
        ...

    def argmax(self, scores: MRFParts) -> IntArray:
        """The best states."""
        ...

    def restrict(self, graph: Graph, edges: IntArray) -> Engine:
        """The same on a graph with only these of the edges."""
        ...


class Inference(Protocol):
    """A way to do inference, with its settings."""

    @property
    def exact(self) -> bool:
        """Whether its answers are right on all graphs."""
        ...

    def engine(self, graph: Graph, threads: int) -> Engine:
        """The inference of a graph."""
        ...
