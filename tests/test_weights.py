"""Sparse weights: the same vector in dense and in sparse form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsimon.weights import Weights


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


vectors = st.lists(st.sampled_from([0.0, 1.0, -2.0, 0.5, 1e-3, 30.0]), min_size=1, max_size=12).map(np.array)


@given(vectors, st.sets(st.integers(0, 11)), st.randoms(use_true_random=False))
def test_sparse_weights_are_the_dense_vector(w: Any, asked: set[int], random: Any) -> None:
    n = len(w)
    listed = np.array([k for k in range(n) if w[k] or random.random() < 0.3], np.int64)  # with some zeros
    features = np.array(sorted(k for k in asked if k < n), np.int64)
    for weights in (Weights(w, None, n), Weights(w[listed], listed, n)):
        np.testing.assert_array_equal(weights.dense(), w)
        np.testing.assert_array_equal(weights.at(features), w[features])
        assert weights.n_active == np.count_nonzero(w)
        kept = weights.nonzero()
        assert kept.features is not None
        assert kept.features.dtype == np.int64
        np.testing.assert_array_equal(kept.features, np.flatnonzero(w))
        np.testing.assert_array_equal(kept.dense(), w)


@given(vectors, st.sampled_from([0.0, 0.1, 0.9, 2.0, 100.0]))
def test_small_weights_are_left_out(w: Any, share: float) -> None:
    """Small by the root mean square of those that are not zero."""
    left = Weights(w, None, len(w)).without_small(share)
    there = w[w != 0]
    least = share * np.sqrt(np.mean(there**2)) if len(there) else 0.0
    np.testing.assert_array_equal(left.dense(), np.where(np.abs(w) < least, 0.0, w))
    assert left.features is not None
    assert len(left.features) == left.n_active


def test_a_state_is_no_part_of_what_weights_are() -> None:
    def state() -> Any:
        raise AssertionError("nobody has asked for it")

    weights = Weights.zeros(3)
    assert "state" not in repr(replace(weights, state=state))
    assert replace(weights, state=state).nonzero().state is None
