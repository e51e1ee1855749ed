"""Which labels may be below which."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.features.columns import Labels
from parsimon.tasks.trees.seen_below import below_as_lists, below_from_lists, seen_below
from toy_trees import space, trees


def test_pairs_are_those_that_were_seen() -> None:
    X, y = trees()
    below = seen_below(space("also").learn(X, 1), y)
    names = list(y.names)
    seen = {(names[p], names[c]) for p, c in zip(*np.nonzero(below.pair), strict=True)}
    assert {("TOP", "GOOD"), ("TOP", "BAD"), ("GOOD", "YES"), ("BAD", "NO")} <= seen
    assert ("GOOD", "NO") not in seen
    assert ("TOP", "YES") not in seen
    assert [names[i] for i in np.flatnonzero(below.start)] == ["TOP"]
    assert below.end.all()
    assert below.pair.any(axis=1).all()  # every label may have children


def test_a_label_that_is_not_known_may_be_any() -> None:
    X, y = trees(3)
    unknown = Labels(np.full_like(y.ids, -1), y.lengths, y.names)
    below = seen_below(space("also").learn(X, 1), unknown)
    assert below.start.all()


def test_lists_and_back() -> None:
    X, y = trees()
    below = seen_below(space("also").learn(X, 1), y)
    lists = below_as_lists(below)
    assert len(lists) == len(y.names) + 1
    back = below_from_lists(lists, len(y.names))
    assert np.array_equal(back.start, below.start)
    assert np.array_equal(back.pair, below.pair)
    for wrong in (None, {}, [], lists[:-1], [*lists[:-1], None], [*lists[:-1], [99]], [*lists[:-1], [True]]):
        with pytest.raises(ValueError):
            below_from_lists(wrong, len(y.names))
