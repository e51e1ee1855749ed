"""Tables of discrete columns: many outputs of one Markov random field, to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.structures.graph import Graph, MRFParts

ROWS = 4096  # taken at a time


class Table:
    """Rows of states, of which a structure takes the mean: one instance of weight `total` stands for all of them.

    Rows count by their weights, if there are any. How often two states occur together is counted once, for all pairs of
    variables; whichever edges a graph has, their shares are then only looked up.

    >>> import numpy as np
    >>> from parsimon.structures import Graph, Table
    >>> table = Table(np.array([[0, 1], [0, 1], [1, 2]]), arity=[2, 3])
    >>> table.total, table.means(Graph.complete([2, 3])).edge.round(2).tolist()
    (3.0, [0.0, 0.67, 0.0, 0.0, 0.0, 0.33])
    """

    some_missing = False

    def __init__(self, rows: Any, arity: IntArray | Sequence[int], weights: Any = None) -> None:
        rows = np.asarray(rows)
        self.arity = np.ascontiguousarray(arity, np.int32)
        if rows.ndim != 2 or rows.shape[1] != len(self.arity):
            raise ParsimonError(
                f"a table for {len(self.arity)} variables needs as many columns, not the shape {rows.shape}."
            )
        if not np.issubdtype(rows.dtype, np.integer) and rows.dtype != bool:
            raise ParsimonError(f"the states in a table must be whole numbers, not {rows.dtype}.")
        wrong = (
            np.argwhere((rows < 0) | (rows >= self.arity)) if rows.dtype != bool else np.zeros((0, 2), int)
        )
        if len(wrong):
            row, column = wrong[0].tolist()
            raise ParsimonError(
                f"row {row} of the table has the state {rows[row, column]} of variable {column}, which must be "
                f"between 0 and {self.arity[column] - 1}."
            )
        self.states = np.ascontiguousarray(rows.T, np.int32)  # (variables, rows)
        self.weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
        self.total = float(rows.shape[0]) if self.weights is None else float(np.sum(self.weights))
        fine = self.weights is None or (
            self.weights.shape == (rows.shape[0],)
            and bool(np.all(self.weights >= 0))
            and np.isfinite(self.total)
        )
        if not fine:
            raise ParsimonError(f"a table of {rows.shape[0]} rows needs as many weights, none below zero.")
        if not self.total > 0:
            raise ParsimonError(
                "a table needs at least one row, with a weight above zero if rows have weights."
            )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.states.shape[1])

    @property
    def rows(self) -> IntArray:
        """The rows as they were given, (rows, variables)."""
        return self.states.T

    @cached_property
    def shares(self) -> Array:
        """The share of every row; they sum to one."""
        if self.weights is None:
            return np.full(self.n_rows, 1 / self.n_rows)
        return self.weights / self.total

    @cached_property
    def counts(self) -> Array:
        """How often, by weight, every two states occur together: HᵀH with H the indicators of states, (Σ K, Σ K)."""
        at = np.concatenate([[0], np.cumsum(self.arity)])
        out = np.zeros((int(at[-1]), int(at[-1])))
        for first in range(0, self.n_rows, ROWS):
            states = self.states[:, first : first + ROWS]
            # Counts below 2²⁴ are exact in single precision, which is twice as quick.
            ones = np.zeros((states.shape[1], len(out)), np.float32 if self.weights is None else np.float64)
            ones[np.arange(states.shape[1]), states + at[:-1, None]] = 1
            times = ones if self.weights is None else ones * self.weights[first : first + ROWS, None]
            out += ones.T @ times
        return out

    def means(self, graph: Graph) -> MRFParts:
        """The share of rows that have each part of a graph of these variables."""
        if not np.array_equal(graph.arity, self.arity):
            raise ParsimonError(
                f"a table of variables with {_shown(self.arity)} states does not fit a graph whose variables have "
                f"{_shown(graph.arity)}."
            )
        node = np.diag(self.counts) / self.total
        return MRFParts(node, self.counts[graph.ends_of_parts] / self.total)

    def __getitem__(self, where: slice) -> Table:
        """All variables: a table is the output of one instance, so there are no parts of it."""
        if where.indices(len(self.arity)) != (0, len(self.arity), 1):
            raise ParsimonError("a table is the output of one instance, which cannot be parted.")
        return self


def _shown(arity: IntArray) -> str:
    return ", ".join(map(str, arity[:5].tolist())) + (", …" if len(arity) > 5 else "")
