"""Rows of attributes and observations: selections, splits, steps and batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.features.links import Links
from parsimon.features.observations import Observations, Rows

N = 6  # attributes
lists = st.lists(st.lists(st.integers(0, N - 1), max_size=4), max_size=8)


def rows(attributes: list[list[int]], weighted: bool = False) -> Rows:
    start = np.cumsum([0, *map(len, attributes)]).astype(np.int64)
    index = np.array([a for row in attributes for a in row], np.int32)
    return Rows(start, index, index + 0.5 if weighted else None)


def as_lists(found: Rows) -> list[list[int]]:
    return [found.index[a:b].tolist() for a, b in zip(found.start[:-1], found.start[1:], strict=True)]


@given(lists, st.booleans(), st.integers(0, 8), st.integers(0, 8))
def test_slices(attributes: list[list[int]], weighted: bool, begin: int, end: int) -> None:
    end = max(begin, end)
    part = rows(attributes, weighted)[begin:end]
    assert as_lists(part) == attributes[begin:end]
    assert part.start[0] == 0
    if weighted:
        assert part.value is not None
        assert part.value.tolist() == [a + 0.5 for a in part.index]


@given(lists, st.booleans(), st.lists(st.booleans(), min_size=N, max_size=N))
def test_keeping_attributes_renumbers_them(
    attributes: list[list[int]], weighted: bool, wanted: list[bool]
) -> None:
    number = {a: sum(wanted[:a]) for a in range(N) if wanted[a]}
    kept = rows(attributes, weighted).keep(np.array(wanted))
    assert as_lists(kept) == [[number[a] for a in row if wanted[a]] for row in attributes]
    if weighted:
        assert kept.value is not None
        assert kept.value.tolist() == [a + 0.5 for row in attributes for a in row if wanted[a]]


@given(lists, st.integers(0, N))
def test_every_row_is_split_in_two(attributes: list[list[int]], at: int) -> None:
    halves = as_lists(rows(attributes).split(at))
    assert halves[::2] == [[a for a in row if a < at] for row in attributes]
    assert halves[1::2] == [[a for a in row if a >= at] for row in attributes]


def test_tables_and_constant_rows() -> None:
    assert as_lists(Rows.from_table(np.array([[0, 1], [2, 3]], np.int32))) == [[0, 1], [2, 3]]
    assert as_lists(Rows.from_table(np.array([[-1, 1], [-1, -1]], np.int32))) == [[1], []]
    assert as_lists(Rows.from_table(np.zeros((2, 0), np.int32))) == [[], []]
    assert as_lists(Rows.identical(2, 3)) == [[0, 1, 2]] * 2
    assert rows([[1], [], [2, 3]]).owner.tolist() == [0, 2, 2]


def test_steps_come_from_the_token_before() -> None:
    sequences = Observations(rows([[0]] * 5), rows([[0]] * 5), np.array([2, 0, 3]))
    assert sequences.before.tolist() == [-1, 0, -1, 2, 3]
    assert sequences.steps_into_each == 1
    assert sequences.steps[1].tolist() == sequences.before.tolist()


def test_steps_in_trees_come_from_parents_and_from_siblings() -> None:
    pair = rows([[], [0, 2], [1, 3]])
    links = Links.from_parents([-1, 0, 0])
    trees = Observations(rows([[0]] * 3), pair, np.array([3]), links)
    assert trees.before.tolist() == [-1, 0, 0]
    both = Observations(rows([[0]] * 3), pair, np.array([3]), links, 2)
    attributes, sources = both.steps
    assert both.steps_into_each == 2
    assert as_lists(attributes) == [[], [], [0], [2], [1], [3]]
    assert sources.tolist() == [-1, -1, 0, -1, 0, 1]
    kept = both.keep(np.ones(N, bool), np.array([False, True, True, True]))
    assert as_lists(kept.steps[0]) == [[], [], [], [1], [0], [2]]


@pytest.mark.parametrize("tokens", [1, 3, 100])
def test_batches_are_all_sequences_in_order(tokens: int) -> None:
    lengths = np.array([2, 0, 3, 1, 4])
    every = Observations(rows([[t % N] for t in range(10)]), rows([[]] * 10), lengths)
    batches = list(every.batches(tokens))
    assert [i for chosen, _, _ in batches for i in range(chosen.start, chosen.stop)] == list(range(5))
    assert [t for _, part, _ in batches for t in range(part.start, part.stop)] == list(range(10))
    for chosen, part, batch in batches:
        assert batch.lengths.tolist() == lengths[chosen].tolist()
        assert as_lists(batch.node) == [[t % N] for t in range(part.start, part.stop)]
        assert batch.n_tokens <= tokens or len(batch.lengths) == 1
