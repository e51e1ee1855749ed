"""Φ for classification and regression: a matrix whose rows are instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsimon._core import FeatureRows, LinearMap, feature_differences
from parsimon.arrays import Array, IntArray
from parsimon.designs.base import SparseVectors
from parsimon.structures.flat import FlatParts


@dataclass(frozen=True)
class FlatDesign:
    """Scores of labels (or of numbers), linear in the values of attributes.

    Feature ``a · width + y`` is attribute a with column y. With two labels there is one column, the score of the
    second; the first scores zero. Otherwise there is a column for every label.
    """

    map: LinearMap
    n_labels: int
    threads: int = 1

    @classmethod
    def build(cls, X: Any, n_labels: int, *, bias: bool = True, threads: int = 1) -> FlatDesign:
        """From a sparse or dense matrix; `bias` adds an attribute that always fires, the last. One label: a number."""
        width = n_labels if n_labels > 2 else 1
        full = _is_full(X)
        if full and width == 1:
            return cls(LinearMap.dense(_columns(X, bias)), n_labels, threads)
        X = _rows(X, bias, full)
        value = None if np.all(X.data == 1.0) else X.data
        rows = FeatureRows(X.shape[1], width)
        return cls(
            LinearMap(X.indptr.astype(np.int64), X.indices.astype(np.int32), value, rows), n_labels, threads
        )

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.map.n_features

    @property
    def width(self) -> int:
        """How many columns of scores have weights."""
        return self.map.features.width

    def margins(self, w: Array) -> Array:
        """Xw, (instances, width)."""
        out = np.empty((self.map.n_rows, self.width))
        self.map.scores(w, out, self.threads)
        return out

    def parts(self, margins: Array) -> FlatParts:
        """Margins as the scores of all labels."""
        if self.width == self.n_labels:
            return FlatParts(margins.copy())
        node = np.zeros((len(margins), self.n_labels))
        node[:, 1] = margins[:, 0]
        return FlatParts(node)

    def columns(self, parts: FlatParts) -> Array:
        """Of parts, the columns that have weights."""
        return np.ascontiguousarray(parts.node[:, self.n_labels - self.width :])

    def scores(self, w: Array) -> FlatParts:
        """Φ w."""
        return self.parts(self.margins(w))

    def scores_of(self, values: Array, features: IntArray) -> FlatParts:
        """Φ w where only the given features (ascending) are not zero."""
        return self.restrict(features).scores(values)

    def pullback(self, parts: FlatParts, out: Array) -> None:
        """out += Φᵀ parts."""
        self.map.pullback(self.columns(parts), out, self.threads)

    def pullback_squared(self, parts: FlatParts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts."""
        self.map.pullback(self.columns(parts), out, self.threads, True)

    def restrict(self, features: IntArray) -> FlatDesign:
        """The map of some features only (ascending numbers)."""
        return replace(self, map=self.map.restrict(np.ascontiguousarray(features, np.int64), self.threads))

    def adapt(self, structure: Any) -> Any:
        """The structure as it is."""
        return structure

    def part(self, where: slice) -> FlatDesign:
        """The map of some instances."""
        return replace(self, map=self.map.take(np.arange(where.start, where.stop, dtype=np.int64)))

    def differences(self, structure: Any, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output) of every instance."""
        other, none = np.flatnonzero(gold != output), self.n_labels - self.width
        start = np.searchsorted(other, np.arange(len(gold) + 1))
        row, one, two = (
            np.ascontiguousarray(each, np.int32) for each in (other, gold[other] - none, output[other] - none)
        )
        return [(0, *feature_differences(self.map, start, row, one, two, self.threads))]


FULL = 0.8  # of a dense matrix must not be zero, or only what is not zero is kept


def _is_full(X: Any) -> bool:
    """Whether hardly anything is zero, so that zeros are kept, too."""
    from scipy import sparse

    if sparse.issparse(X) or not np.size(X):
        return False
    return bool(np.count_nonzero(X) >= FULL * np.size(X))


def _columns(X: Any, bias: bool) -> Array:
    """The columns of a matrix, one after the other, with a last one of ones for a bias."""
    X = np.asarray(X)
    n, d = X.shape
    columns = np.empty((d + bias, n))
    columns[:d] = X.T
    columns[d:] = 1.0
    return columns


def _rows(X: Any, bias: bool, full: bool) -> Any:
    """A matrix in compressed sparse rows, with a last column of ones for a bias."""
    from scipy import sparse

    if not full:
        X = sparse.csr_matrix(X, dtype=np.float64)
        if bias:
            X = sparse.csr_matrix(sparse.hstack([X, sparse.csr_matrix(np.ones((X.shape[0], 1)))]))
        X.sort_indices()
        return X
    X = np.asarray(X, np.float64)
    if bias:
        X = np.column_stack([X, np.ones(len(X))])
    n, d = X.shape
    index = np.tile(np.arange(d, dtype=np.int32), n)
    return sparse.csr_matrix((X.ravel(), index, np.arange(0, n * d + 1, d)), shape=(n, d))
