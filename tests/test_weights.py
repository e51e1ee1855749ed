"""Sparse weights: the same vector in dense and in sparse form."""

from __future__ import annotations

import numpy as np

from parsimon.solvers import Weights


def test_weights_dense_and_sparse_are_one() -> None:
    sparse = Weights(np.array([1.0, 0.0, -2.0]), np.array([1, 3, 6]), 8)
    dense = Weights(sparse.dense(), None, 8)
    assert sparse.n_active == dense.n_active == 2
    for weights in (sparse, dense):
        kept = weights.nonzero()
        assert kept.features is not None
        assert kept.features.tolist() == [1, 6]
        assert kept.values.tolist() == [1.0, -2.0]
        asked = np.array([0, 1, 2, 6, 7])
        assert weights.at(asked).tolist() == [0.0, 1.0, 0.0, -2.0, 0.0]
    assert Weights.zeros(4).dense().tolist() == [0.0] * 4
    assert Weights.zeros(4).at(np.array([2])).tolist() == [0.0]
