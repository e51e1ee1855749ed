"""Loopy belief propagation: messages along edges, renewed until they no longer change. Exact on trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.inference import InferenceReport

# Which messages are renewed in what order, by their numbers in the core.
SCHEDULES = {"sequential": 0, "flooding": 1, "residual": 2}


@dataclass(frozen=True)
class BeliefPropagation:
    """How to pass messages.

    A sweep renews as many messages as there are, and sweeps go on until none changes by more than `tol`, in logarithms.

    - ``sequential``: variable after variable, towards the root of a breadth-first forest and back; one sweep for trees.
    - ``flooding``: all at once, from those of the sweep before; threads share one graph.
    - ``residual``: whichever would change most comes first (Elidan, McGraw & Koller 2006).

    With `damping` d a new message is (1 − d) · new + d · old. If `adaptive`, then whenever changes did not get smaller
    by a tenth within ten sweeps, damping goes halfway to one, up to 0.9. If `warm`, messages start from those of the
    last call, which for slightly other scores are nearly right.

    >>> from parsimon.structures import BeliefPropagation
    >>> BeliefPropagation(schedule="residual", damping=0.2).max_sweeps
    200
    """

    tol: float = 1e-6
    max_sweeps: int = 200
    damping: float = 0.0
    schedule: str = "sequential"
    adaptive: bool = True
    warm: bool = True
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ParsimonError(
                f"there is no schedule of messages called {self.schedule!r}; choose from {', '.join(SCHEDULES)}."
            )
        if not 0 <= self.damping < 1:
            raise ParsimonError(f"damping must be at least 0 and below 1, not {self.damping}.")
        if not (self.tol >= 0 and self.max_sweeps >= 1):
            raise ParsimonError(
                f"tol must be at least 0 and max_sweeps at least 1, not {self.tol} and {self.max_sweeps}."
            )

    def engine(self, graph: Graph, threads: int) -> MessagePassing:
        """Gets to work on a graph."""
        sizes = np.asarray(graph.arity[graph.edges].sum(axis=1, dtype=np.int64))
        at = np.concatenate([[0], np.cumsum(sizes)])
        return MessagePassing(self, graph, threads, at[:-1], int(at[-1]))


@dataclass
class MessagePassing:
    """Belief propagation on one graph; keeps messages for the next call.

    Graphs with fewer edges share them, so they are kept for the edges of the first one, and by what they are of: sums
    or maxima, with or without states that are ruled out.
    """

    settings: BeliefPropagation
    graph: Graph
    threads: int
    message_at: IntArray  # where the messages of every edge are kept
    size: int
    kept: dict[tuple[str, bool], Array] = field(default_factory=dict)
    report: InferenceReport | None = None

    def marginals(self, scores: MRFParts) -> tuple[Array, MRFParts]:
        """Bethe's log Z of every instance, and beliefs."""
        log_z, out = (
            np.empty(self.graph.n_instances),
            MRFParts(np.empty_like(scores.node), np.empty_like(scores.edge)),
        )
        self._tell(
            *self.graph.compiled.marginals(
                scores.node,
                scores.edge,
                self._how,
                self._messages("sum", scores),
                self.message_at,
                log_z,
                out.node,
                out.edge,
                self.threads,
            )
        )
        return log_z, out

    def argmax(self, scores: MRFParts) -> IntArray:
        """States that max-product finds best."""
        states = np.empty(self.graph.n_nodes, np.int32)
        messages = self._messages("max", scores)
        self._tell(
            *self.graph.compiled.argmax(
                scores.node, scores.edge, self._how, messages, self.message_at, states, self.threads
            )
        )
        return states

    def restrict(self, graph: Graph, edges: IntArray) -> MessagePassing:
        """The same on a graph with only these of the edges; it starts from the same messages, and leaves its own."""
        return MessagePassing(
            self.settings,
            graph,
            self.threads,
            np.ascontiguousarray(self.message_at[edges]),
            self.size,
            self.kept,
        )

    @property
    def _how(self) -> tuple[int, float, int, float, bool]:
        s = self.settings
        return SCHEDULES[s.schedule], s.tol, s.max_sweeps, s.damping, s.adaptive

    def _messages(self, of: str, scores: MRFParts) -> Array:
        if not self.settings.warm:
            return np.zeros(self.size)
        key = (of, bool(np.isneginf(scores.node).any()))
        return self.kept.setdefault(key, np.zeros(self.size))

    def _tell(self, sweeps: IntArray, residual: Array, damping: Array) -> None:
        self.report = InferenceReport(sweeps, residual, damping, residual <= self.settings.tol)
