"""The linear program of an L1-M3N over some of its outputs and some of its features, in HiGHS.

    min Σ_k l1_k (μ_k + ν_k) + Σ_i c_i ξ_i    s.t.  (μ − ν)·Δf_i(y) + ξ_i ≥ cost_i(y),  μ, ν, ξ ≥ 0

A feature whose pull Σ α Δf_k is above l1_k can only gain by a weight with the sign of that pull: μ_k and ν_k are
columns of their own. Rows and columns can be added, and rows deleted; HiGHS goes on from the basis it has.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.problem import Violated

SLICE = 100  # iterations of the simplex method between two looks at the clock; well under a second, mostly


@dataclass(frozen=True)
class Vertex:
    """Where the program is solved: for the outputs that it has, and for all features."""

    weights: Array
    slack: Array  # ξ
    offset: float  # Σ α cost
    pull: Array  # Σ α Δf, of all features
    n_support: int  # rows with α > 0


class MarginProgram:
    """Begins without rows, and with the slack variables as its columns."""

    def __init__(self, l1: Array, mass: Array) -> None:
        import highspy

        self._l1, self._n = l1, len(mass)
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._solved = highspy.HighsModelStatus.kOptimal
        self._unfinished = highspy.HighsModelStatus.kIterationLimit
        for name, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            self._highs.setOptionValue(name, value)
        self._highs.setOptionValue("simplex_iteration_limit", SLICE)
        self._add_columns(mass, *_empty(len(mass)))
        self._place = np.full((2, len(l1)), -1)  # of μ, and of ν, among the columns
        self._feature, self._sign = np.zeros(0, np.int64), np.zeros(0)  # of every such column
        self._start, self._index, self._value = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
        self._instance, self._cost, self._idle = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
        self._known: set[tuple[int, bytes, bytes]] = set()

    @property
    def n_rows(self) -> int:
        """How many outputs it has."""
        return len(self._cost)

    def add(self, found: Violated, wanted: BoolArray) -> int:
        """Adds the wanted outputs that are new; returns how many were."""
        rows, instances = [], found.instances
        for i in np.flatnonzero(wanted):
            index = np.concatenate(
                [offset + of[start[i] : start[i + 1]] for offset, start, of, _ in found.vectors]
            )
            value = np.concatenate([values[start[i] : start[i + 1]] for _, start, _, values in found.vectors])
            key = int(instances[i]), index.astype(np.int32).tobytes(), value.tobytes()
            if key not in self._known:
                self._known.add(key)
                rows.append((int(instances[i]), float(found.cost[i]), index, value))
        if not rows:
            return 0
        sizes = [len(index) for _, _, index, _ in rows]
        start = np.concatenate([[0], np.cumsum(sizes)])
        index, value = np.concatenate([r[2] for r in rows]), np.concatenate([r[3] for r in rows])
        instance, cost = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
        self._add_rows(start, index, value, instance, cost)
        self._start = np.concatenate([self._start, self._start[-1] + start[1:]])
        self._index = np.concatenate([self._index, index.astype(np.int32)])
        self._value = np.concatenate([self._value, value])
        self._instance, self._cost = (
            np.concatenate([self._instance, instance]),
            np.concatenate([self._cost, cost]),
        )
        self._idle = np.concatenate([self._idle, np.zeros(len(rows), np.int64)])
        return len(rows)

    def solve(self) -> Generator[None, None, Vertex]:
        """The optimum over the rows that are there; columns come in until no weight that is missing could help.

        It can take long, so it pauses now and then.
        """
        strategy = 1  # dual simplex: there are new rows
        while True:
            self._highs.setOptionValue("simplex_strategy", strategy)
            self._highs.run()
            while self._highs.getModelStatus() == self._unfinished:
                yield
                self._highs.run()  # goes on from the basis it has
            if self._highs.getModelStatus() != self._solved:
                status = self._highs.modelStatusToString(self._highs.getModelStatus())
                raise ParsimonError(
                    f"the linear program could not be solved ({status}); use another solver (em) or a larger l1."
                )
            solution = self._highs.getSolution()
            alpha = np.maximum(np.asarray(solution.row_dual), 0.0)
            pull = self._rows().T @ alpha
            excess = np.abs(pull) - self._l1
            known = np.where(pull > 0, self._place[0], self._place[1]) >= 0
            missing = np.flatnonzero(~known & (excess > 1e-9 * (1 + self._l1)))
            if not len(missing):
                break
            most = max(50, len(self._feature))
            some = np.sort(missing[np.argsort(-excess[missing])[:most]])
            self.add_weights(some, np.sign(pull[some]))
            strategy = 4  # primal simplex: there are new columns
        self._idle = np.where(alpha > 0, 0, self._idle + 1)
        columns = np.asarray(solution.col_value)
        w = np.zeros(len(self._l1))
        np.add.at(w, self._feature, self._sign * columns[self._n :])
        return Vertex(w, columns[: self._n], float(alpha @ self._cost), pull, int(np.count_nonzero(alpha)))

    def forget(self, idle: int) -> None:
        """Drops the rows whose multiplier has been zero in more than so many solutions."""
        old = np.flatnonzero(self._idle > idle)
        if not len(old):
            return
        self._highs.deleteRows(len(old), old.astype(np.int32))
        rows = self._rows()
        for r in old:
            part = slice(int(self._start[r]), int(self._start[r + 1]))
            self._known.discard(
                (int(self._instance[r]), self._index[part].tobytes(), self._value[part].tobytes())
            )
        kept = np.flatnonzero(self._idle <= idle)
        left = rows[kept]
        self._start, self._index, self._value = left.indptr.astype(np.int64), left.indices, left.data
        self._instance, self._cost, self._idle = self._instance[kept], self._cost[kept], self._idle[kept]

    def _rows(self) -> Any:
        from scipy import sparse

        shape = (self.n_rows, len(self._l1))
        return sparse.csr_matrix((self._value, self._index, self._start), shape=shape)

    def _add_rows(
        self, start: IntArray, index: IntArray, value: Array, instance: IntArray, cost: Array
    ) -> None:
        """ξ, and Δf of the features that have columns."""
        row = np.repeat(np.arange(len(cost)), np.diff(start))
        rows, columns, values = [np.arange(len(cost))], [instance], [np.ones(len(cost))]
        for place, sign in zip(self._place, (1.0, -1.0), strict=True):
            at = place[index]
            present = at >= 0
            rows.append(row[present])
            columns.append(at[present])
            values.append(sign * value[present])
        self._give_rows(cost, np.concatenate(rows), np.concatenate(columns), np.concatenate(values))

    def _give_rows(self, cost: Array, rows: IntArray, columns: IntArray, values: Array) -> None:
        order = np.lexsort((columns, rows))
        counts = np.bincount(rows, minlength=len(cost))
        self._highs.addRows(
            len(cost),
            cost,
            np.full(len(cost), np.inf),
            len(values),
            np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32),
            columns[order].astype(np.int32),
            values[order],
        )

    def add_weights(self, features: IntArray, signs: Array) -> None:
        """Columns for weights (of features that ascend) with these signs, which must be new."""
        part = self._rows()[:, features].tocsc()
        negative = (signs < 0).astype(int)
        self._place[negative, features] = self._n + len(self._feature) + np.arange(len(features))
        self._feature = np.concatenate([self._feature, features])
        self._sign = np.concatenate([self._sign, signs])
        value = part.data * np.repeat(signs, np.diff(part.indptr))
        self._add_columns(self._l1[features], part.indptr[:-1], part.indices, value)

    def _add_columns(self, cost: Array, start: IntArray, index: IntArray, value: Array) -> None:
        n = len(cost)
        self._highs.addCols(
            n,
            np.ascontiguousarray(cost, np.float64),
            np.zeros(n),
            np.full(n, np.inf),
            len(value),
            start.astype(np.int32),
            index.astype(np.int32),
            value,
        )


def _empty(n: int) -> tuple[IntArray, IntArray, Array]:
    return np.zeros(n, np.int64), np.zeros(0, np.int64), np.zeros(0)
