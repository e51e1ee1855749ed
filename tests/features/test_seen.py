"""What templates see: parts of it, and attributes that are looked up late."""

from __future__ import annotations

import numpy as np

from parsimon.features.observations import Rows
from parsimon.features.seen import SeenRows
from toy_sequences import make_data, space


def test_attributes_are_those_that_were_learnt() -> None:
    X, _ = make_data()
    features = space()
    learnt = features.learn(X)
    seen = features.observe(X)
    for rows, expected in ((seen.node, learnt.node), (seen.pair, learnt.pair)):
        assert isinstance(rows, SeenRows)
        assert "_found" not in vars(rows)  # not yet
        assert len(rows) == len(expected) == X.n_tokens
        assert np.array_equal(rows.start, expected.start)
        assert np.array_equal(rows.index, expected.index)


def test_parts() -> None:
    X, _ = make_data()
    features = space()
    features.learn(X)
    whole = features.observe(X).node
    assert isinstance(whole, SeenRows)
    ends = np.cumsum(X.lengths).tolist()
    every = Rows(whole.start, whole.index)
    for cut, late in (
        (slice(0, ends[-1]), True),
        (slice(ends[0], ends[3]), True),
        (slice(ends[2], ends[2]), True),
        (slice(ends[0], ends[3] - 1), False),
        (slice(1, ends[2]), False),
    ):
        part, expected = whole[cut], every[cut]
        assert isinstance(part, SeenRows) == late
        assert len(part) == len(expected)
        assert np.array_equal(part.start, expected.start)
        assert np.array_equal(part.index, expected.index)
