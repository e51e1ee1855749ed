"""Φ against a plain matrix, its adjoint, its restriction, and the numbering of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import pairs_by_token
from parsimon._core import FeatureRows, LinearMap, distinct_rows
from parsimon.designs.chains import build_chain
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.pairs import PairDesign
from parsimon.features.observations import Observations, Rows
from parsimon.structures import Chain, ChainParts
from parsimon.structures.workspace import Workspace
from toy_problems import Toy, dense_map, make_toy

toys = st.builds(
    make_toy,
    st.integers(0, 10**6),
    n_labels=st.integers(1, 4),
    n_pair=st.integers(0, 3),
    real=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
    trees=st.booleans(),
)


def built(toy: Toy, threads: int = 1) -> tuple[PairDesign, Chain]:
    return build_chain(toy.observations, toy.index, threads=threads)


def by_token(parts: ChainParts, chain: Chain) -> tuple[Any, Any]:
    return parts.node, pairs_by_token(chain, parts)


@given(toys, st.integers(0, 100))
def test_scores_are_a_matrix_product(toy: Toy, seed: int) -> None:
    design, chain = built(toy)
    w = np.random.default_rng(seed).normal(size=design.n_features)
    node, pair = by_token(design.scores(w), chain)
    wanted_node, wanted_pair = (phi @ w for phi in dense_map(toy.index, toy.observations))
    np.testing.assert_allclose(node, wanted_node, atol=1e-12)
    np.testing.assert_allclose(pair, wanted_pair, atol=1e-12)


@given(toys, st.integers(0, 100))
def test_pullback_is_the_adjoint(toy: Toy, seed: int) -> None:
    """⟨Φw, μ⟩ = ⟨w, Φᵀμ⟩, and what was in `out` stays there."""
    design, _ = built(toy)
    rng = np.random.default_rng(seed)
    w, before = rng.normal(size=(2, design.n_features))
    scores = design.scores(w)
    mu = ChainParts(*(rng.normal(size=each.shape) for each in (scores.node, scores.pair, scores.single)))
    out = before.copy()
    design.pullback(mu, out)
    left = np.sum(scores.node * mu.node) + np.sum(scores.pair * mu.pair) + np.sum(scores.single * mu.single)
    assert left == pytest.approx(w @ (out - before), rel=1e-10, abs=1e-10)


@given(toys, st.integers(0, 100), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_restriction_is_the_map_with_the_other_weights_zero(toy: Toy, seed: int, share: float) -> None:
    design, chain = built(toy)
    rng = np.random.default_rng(seed)
    features = np.flatnonzero(rng.random(design.n_features) < share)
    small = design.restrict(features)
    narrow = small.adapt(chain)
    assert small.n_features == len(features)
    w = np.zeros(design.n_features)
    w[features] = rng.normal(size=len(features))
    few, all_of_them = small.scores(w[features]), design.scores(w)
    for found, wanted in zip(by_token(few, narrow), by_token(all_of_them, chain), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    for found, wanted in zip(
        by_token(design.scores_of(w[features], features), chain), by_token(all_of_them, chain), strict=True
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    # However pairs are laid out, the gradient is the same.
    few_out, out = np.zeros(len(features)), np.zeros(design.n_features)
    small.pullback(narrow.marginals(few)[1], few_out)
    design.pullback(chain.marginals(all_of_them)[1], out)
    np.testing.assert_allclose(few_out, out[features], atol=1e-11)


@given(toys, st.integers(0, 100), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.05, 0.4, 2.0]))
def test_screening_finds_all_steep_features(toy: Toy, seed: int, share: float, threshold: float) -> None:
    """Two batches, marginals minus an output: exactly the gradients above the threshold."""
    design, chain = built(toy, threads=2)
    rng = np.random.default_rng(seed)
    features = np.flatnonzero(rng.random(design.n_features) < share)
    values = rng.normal(size=len(features))
    w = np.zeros(design.n_features)
    w[features] = values
    gold = rng.integers(toy.n_labels, size=chain.n_tokens)
    small = design.restrict(features).with_own_memory()
    narrow = small.adapt(chain).with_own_memory()
    _, parts = narrow.marginals(small.scores(values))
    narrow.add_output(parts, gold, -1.0)
    _, wanted_parts = chain.marginals(design.scores(w))
    chain.add_output(wanted_parts, gold, -1.0)
    wanted = np.zeros(design.n_features)
    design.pullback(wanted_parts, wanted)
    found, gradient = design.screen([(design, narrow, parts), (design, narrow, parts)], 2 * threshold)
    near = np.abs(np.abs(2 * wanted) - 2 * threshold) < 1e-9
    np.testing.assert_array_equal(
        found[~near[found]], np.flatnonzero((np.abs(2 * wanted) > 2 * threshold) & ~near)
    )
    np.testing.assert_allclose(gradient, 2 * wanted[found], atol=1e-11)


@given(toys, st.integers(0, 100))
def test_restricting_twice(toy: Toy, seed: int) -> None:
    design, _ = built(toy)
    rng = np.random.default_rng(seed)
    first = np.flatnonzero(rng.random(design.n_features) < 0.6)
    second = np.flatnonzero(rng.random(len(first)) < 0.6)
    w = rng.normal(size=len(second))
    step_by_step = design.restrict(first).restrict(second).scores(w)
    at_once = design.restrict(first[second]).scores(w)
    np.testing.assert_array_equal(step_by_step.node, at_once.node)
    np.testing.assert_array_equal(step_by_step.pair, at_once.pair)
    np.testing.assert_array_equal(step_by_step.single, at_once.single)


def test_features_must_ascend() -> None:
    design, _ = built(make_toy(0))
    for wrong in ([3, 2], [1, 1], [design.n_features], [-1]):
        with pytest.raises(ValueError, match="ascending and within the map"):
            design.restrict(np.array(wrong))


@given(toys, st.integers(0, 100))
def test_threads_give_identical_bits(toy: Toy, seed: int) -> None:
    one, _ = built(toy, 1)
    two, _ = built(toy, 2)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=one.n_features)
    a, b = one.scores(w), two.scores(w)
    assert a.node.tobytes() == b.node.tobytes()
    assert a.pair.tobytes() == b.pair.tobytes()
    out, other = np.zeros((2, one.n_features))
    one.pullback(a, out)
    two.pullback(b, other)
    assert out.tobytes() == other.tobytes()


def test_a_workspace_changes_nothing_but_memory() -> None:
    toy = make_toy(3)
    w = np.random.default_rng(0).normal(size=toy.index.n_features)
    plain, _ = build_chain(toy.observations, toy.index)
    kept, _ = build_chain(toy.observations, toy.index, workspace=Workspace())
    first = kept.scores(w)
    np.testing.assert_array_equal(first.node, plain.scores(w).node)
    assert kept.scores(2 * w).node.base is first.node.base


# ---- the numbering of features -----------------------------------------------------------------------------


def test_all_labels_numbers_attribute_by_attribute() -> None:
    index = FeatureIndex.all_labels(2, 3, 1)
    assert index.n_features == 3 * 2 + 4
    attribute, column = index.node.describe(np.arange(6, dtype=np.int64))
    assert attribute.tolist() == [0, 0, 1, 1, 2, 2]
    assert column.tolist() == [0, 1, 0, 1, 0, 1]
    node, pair = index.split(np.array([1, 5, 6, 9]))
    assert (node.tolist(), pair.tolist()) == ([1, 5], [0, 3])


@given(toys)
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


# ---- distinct rows -----------------------------------------------------------------------------------------


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


# ---- what is checked at the border -------------------------------------------------------------------------


def test_values_must_be_finite_and_numbers_in_range() -> None:
    features = FeatureRows(2, 2)
    start = np.array([0, 1])
    with pytest.raises(ValueError, match="not finite"):
        LinearMap(start, np.array([0], np.int32), np.array([np.nan]), features)
    with pytest.raises(ValueError, match="out of range"):
        LinearMap(start, np.array([2], np.int32), None, features)
    with pytest.raises(ValueError, match="offsets"):
        LinearMap(np.array([0, 2]), np.array([0], np.int32), None, features)


def test_weights_must_fit() -> None:
    design, _ = built(make_toy(0))
    with pytest.raises(ValueError, match="one weight a feature"):
        design.scores(np.zeros(design.n_features + 1))
