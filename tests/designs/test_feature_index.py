"""Which features there are: all attributes with all labels, or those that occur."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawn_toys import toys_of_any_labels
from parsimon._core import FeatureRows
from parsimon.designs.feature_index import FeatureIndex
from toy_problems import Toy, make_toy


def test_all_labels_numbers_attribute_by_attribute() -> None:
    index = FeatureIndex.all_labels(2, 3, 1)
    assert index.n_features == 3 * 2 + 4
    attribute, column = index.node.describe(np.arange(6, dtype=np.int64))
    assert attribute.tolist() == [0, 0, 1, 1, 2, 2]
    assert column.tolist() == [0, 1, 0, 1, 0, 1]
    node, pair = index.split(np.array([1, 5, 6, 9]))
    assert (node.tolist(), pair.tolist()) == ([1, 5], [0, 3])


@given(toys_of_any_labels)
def test_find_is_the_inverse_of_describe(toy: Toy) -> None:
    for rows in (toy.index.node, toy.index.pair):
        every = np.arange(rows.n_features, dtype=np.int64)
        np.testing.assert_array_equal(rows.find(*rows.describe(every)), every)


def test_find_says_what_is_not_there() -> None:
    rows = FeatureRows(2, 3, np.array([0, 1, 3]), np.array([1, 0, 2], np.int32))
    asked = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (-1, 0), (0, 3)]
    found = rows.find(np.array([a for a, _ in asked]), np.array([c for _, c in asked], np.int32))
    assert found.tolist() == [-1, 0, 1, -1, 2, -1, -1, -1]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_seen_pairs_are_those_that_occur(seed: int, missing: float) -> None:
    toy = make_toy(seed, missing=missing, candidates="seen")
    node, pair = set(), set()
    obs, Y = toy.observations, toy.n_labels
    at = 0
    for length in obs.lengths.tolist():
        for t in range(at, at + length):
            y, x = int(toy.gold[t]), int(toy.gold[t - 1]) if t > at else -1
            for a in obs.node.index[obs.node.start[t] : obs.node.start[t + 1]].tolist():
                node |= {(a, y)} if y >= 0 else set()
            for a in obs.pair.index[obs.pair.start[t] : obs.pair.start[t + 1]].tolist():
                pair |= {(a, x * Y + y)} if y >= 0 and x >= 0 else set()
        at += length
    for rows, wanted in ((toy.index.node, node), (toy.index.pair, pair)):
        attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        assert list(zip(attribute.tolist(), column.tolist(), strict=True)) == sorted(wanted)
