"""Labels that are pairs of tags, against loops over all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.structures.label_pairs import LabelPairs, seen_pairs

K = 3
possible = arrays(bool, (K + 1, K))  # tags, and in the first row none, before tags


def labels_of(table: Any) -> list[tuple[int, int]]:
    """The labels: tags before (−1 for none) with tags, in their order."""
    return [(before, tag) for before in range(-1, K) for tag in range(K) if table[before + 1, tag]]


@given(possible)
def test_a_label_has_a_number_and_the_number_a_label(table: Any) -> None:
    pairs, labels = LabelPairs.of(table), labels_of(table)
    assert (pairs.n_tags, pairs.n_labels) == (K, len(labels))
    assert list(zip(pairs.before.tolist(), pairs.tag.tolist(), strict=True)) == labels
    every = [(before, tag) for before in range(-1, K) for tag in range(-1, K)]
    before, tag = np.array(every).T
    found = pairs.number(before, tag).tolist()
    assert found == [labels.index(each) if each in labels else -1 for each in every]


@given(possible)
def test_labels_that_may_follow_each_other_or_be_side_by_side(table: Any) -> None:
    pairs, labels = LabelPairs.of(table), labels_of(table)
    for i, (above, tag) in enumerate(labels):
        for j, (before, _) in enumerate(labels):
            assert pairs.follows[i, j] == (before == tag)
            assert pairs.beside[i, j] == (before == above != -1)


@given(possible, st.integers(0, 5), st.integers(0, 100))
def test_marginals_of_tags_are_sums_over_labels(table: Any, n: int, seed: int) -> None:
    pairs, labels = LabelPairs.of(table), labels_of(table)
    marginals = np.random.default_rng(seed).random((n, len(labels)))
    wanted = np.zeros((n, K))
    for label, (_, tag) in enumerate(labels):
        wanted[:, tag] += marginals[:, label]
    found = pairs.of_tags(marginals)
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    assert found.flags.c_contiguous


@given(possible)
def test_triples_are_pairs_that_follow_each_other(table: Any) -> None:
    pairs, labels = LabelPairs.of(table), labels_of(table)
    wanted = [
        (i, j) for i, (_, tag) in enumerate(labels) for j, (before, _) in enumerate(labels) if before == tag
    ]
    assert list(zip(*(each.tolist() for each in pairs.triples), strict=True)) == wanted
    assert pairs.n_first == sum(before < 0 for before, _ in labels)


@given(st.lists(st.tuples(st.integers(-2, K - 1), st.integers(-1, K - 1)), max_size=8))
def test_pairs_that_occur_with_every_completion_of_unknown_tags(steps: list[tuple[int, int]]) -> None:
    """A tag before is unknown if it is −2, a tag if it is −1; −1 before a tag means that there is none."""
    wanted = np.zeros((K + 1, K), bool)
    for before, tag in steps:
        for b in range(K) if before == -2 else [before]:
            for t in range(K) if tag == -1 else [tag]:
                wanted[b + 1, t] = True
    before, tag = np.array(steps, int).reshape(-1, 2).T
    np.testing.assert_array_equal(seen_pairs(before, tag, K), wanted)
