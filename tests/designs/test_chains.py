"""From observations to a design and a structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon._core import distinct_rows
from parsimon.designs.chains import build_chain
from parsimon.designs.feature_index import FeatureIndex
from parsimon.features.observations import Observations, Rows


@given(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=60), st.booleans())
def test_distinct_rows(rows: list[list[int]], real: bool) -> None:
    start = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    index = np.array([a for r in rows for a in r], np.int32)
    value = (index + np.arange(len(index)) % 2).astype(float) if real else None
    new_start, new_index, new_value, which = distinct_rows(start, index, value)

    def row(s: Any, i: Any, v: Any, r: int) -> tuple[Any, ...]:
        part = slice(int(s[r]), int(s[r + 1]))
        return tuple(i[part].tolist()), None if v is None or not len(v) else tuple(v[part].tolist())

    old = [row(start, index, value, r) for r in range(len(rows))]
    new = [row(new_start, new_index, new_value, r) for r in range(len(new_start) - 1)]
    assert [new[k][0] for k in which.tolist()] == [r[0] for r in old]
    assert len(new) == len(set(old))
    if real and len(index):
        assert [new[k][1] for k in which.tolist()] == [r[1] for r in old]


def test_steps_of_one_kind_share_their_scores() -> None:
    pair = Rows(np.array([0, 1, 2, 3, 4]), np.array([0, 1, 0, 1], np.int32))
    observations = Observations(Rows.identical(4, 1), pair, np.array([4]))
    design, chain = build_chain(observations, FeatureIndex.all_labels(2, 1, 2))
    assert chain.n_kinds == 2
    assert chain.pair_kind.tolist() == [0, 1, 0, 1]
    assert design.pair.n_rows == 2


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_sequences_without_tokens(lengths: list[int]) -> None:
    observations = Observations(Rows.identical(0, 1), Rows.identical(0, 1), np.array(lengths, np.int32))
    design, chain = build_chain(observations, FeatureIndex.all_labels(2, 1, 1))
    best, labels = chain.argmax(design.scores(np.ones(design.n_features)))
    assert best.tolist() == [0.0] * len(lengths)
    assert len(labels) == 0
