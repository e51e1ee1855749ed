"""Which labels were seen below which."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.tasks.trees.seen_below import below_from_told, seen_below, told_below
from toy_trees import data, space


def test_what_was_seen_is_possible_and_nothing_else() -> None:
    X, y = data()
    below = seen_below(space("also").learn(X), y)
    number = {name: i for i, name in enumerate(y.names)}
    assert np.flatnonzero(below.start).tolist() == [number["X"]]
    assert {y.names[j] for j in np.flatnonzero(below.pair[number["X"]])} == {"NAME", "VALUE", "TEXT"}
    again = below_from_told(told_below(below), len(y.names))
    assert np.array_equal(again.pair, below.pair)
    assert np.array_equal(again.start, below.start)


@pytest.mark.parametrize("told", [[], [[0]], [[0], [5], []], "abc", [[0], ["x"], [1]]])
def test_what_cannot_be_is_refused(told: object) -> None:
    with pytest.raises(ValueError, match="label"):
        below_from_told(told, 2)
