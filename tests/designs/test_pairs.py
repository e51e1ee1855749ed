"""Φ against a plain matrix, its adjoint, its restriction, and the numbering of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import pairs_by_token
from drawn_toys import toys_of_any_labels
from max_margin_toys import every_toy
from parsimon._core import FeatureRows, LinearMap
from parsimon.designs.chains import build_chain
from parsimon.designs.pairs import PairDesign
from parsimon.penalties import L2
from parsimon.structures import Chain, ChainParts
from parsimon.structures.workspace import Workspace
from toy_problems import Toy, dense_map, make_toy


def built(toy: Toy, threads: int = 1) -> tuple[PairDesign, Chain]:
    return build_chain(toy.observations, toy.index, threads=threads)


def by_token(parts: ChainParts, chain: Chain) -> tuple[Any, Any]:
    return parts.node, pairs_by_token(chain, parts)


@given(toys_of_any_labels, st.integers(0, 100))
def test_scores_are_a_matrix_product(toy: Toy, seed: int) -> None:
    design, chain = built(toy)
    w = np.random.default_rng(seed).normal(size=design.n_features)
    node, pair = by_token(design.scores(w), chain)
    wanted_node, wanted_pair = (phi @ w for phi in dense_map(toy.index, toy.observations))
    np.testing.assert_allclose(node, wanted_node, atol=1e-12)
    np.testing.assert_allclose(pair, wanted_pair, atol=1e-12)


@given(toys_of_any_labels, st.integers(0, 100))
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


@given(toys_of_any_labels, st.integers(0, 100), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
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


@given(
    toys_of_any_labels,
    st.integers(0, 100),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.05, 0.4, 2.0]),
)
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


@given(toys_of_any_labels, st.integers(0, 100))
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


@given(toys_of_any_labels, st.integers(0, 100))
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


@every_toy
def test_differences_of_features(toy: Toy) -> None:
    node_map, pair_map = dense_map(toy.index, toy.observations)
    problem = toy.problem("hinge", L2(1.0))
    random = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(toy.observations.lengths)])
    first = 0
    for batch in problem.batches:
        output = random.integers(toy.n_labels, size=len(batch.gold)).astype(np.int32)
        found = np.zeros((batch.structure.n_instances, problem.n_features))
        for start_feature, start, index, value in batch.design.differences(
            batch.structure, batch.gold, output
        ):
            for i in range(len(found)):
                found[i, start_feature + index[start[i] : start[i + 1]]] += value[start[i] : start[i + 1]]
        at = 0
        for i in range(len(found)):
            tokens = np.arange(offsets[first + i], offsets[first + i + 1])
            wanted = np.zeros(problem.n_features)
            for labels, sign in ((toy.gold[tokens], 1.0), (output[at : at + len(tokens)], -1.0)):
                if len(tokens):
                    wanted += sign * node_map[tokens, labels].sum(axis=0)
                    before = toy.observations.before[tokens] - offsets[first + i]
                    steps = np.flatnonzero(before >= 0)
                    wanted += sign * pair_map[tokens[steps], labels[before[steps]], labels[steps]].sum(axis=0)
            assert found[i] == pytest.approx(wanted)
            at += len(tokens)
        first += len(found)
