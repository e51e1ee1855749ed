"""Scores of ±500, 100,000 tokens, forbidden transitions, any number of threads: still exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon._core import dot, exponentials
from parsimon.structures import Chain, ChainParts


def log_sum(values: Any, axis: int) -> Any:
    return np.logaddexp.reduce(values, axis=axis)


def log_domain_reference(node: Any, pair: Any, kinds: Any) -> tuple[float, Any, Any]:
    """log Z and marginals by the textbook recursions, in logarithms and extended precision."""
    node, pair = node.astype(np.longdouble), pair.astype(np.longdouble)
    length = len(node)
    alpha, beta = np.empty_like(node), np.zeros_like(node)
    alpha[0] = node[0]
    for t in range(1, length):
        alpha[t] = node[t] + log_sum(alpha[t - 1][:, None] + pair[kinds[t]], axis=0)
    for t in range(length - 1, 0, -1):
        beta[t - 1] = log_sum(pair[kinds[t]] + (node[t] + beta[t])[None, :], axis=1)
    log_z = log_sum(alpha[-1], axis=0)
    pairs = np.zeros_like(pair)
    for t in range(1, length):
        pairs[kinds[t]] += np.exp(
            alpha[t - 1][:, None] + pair[kinds[t]] + (node[t] + beta[t])[None, :] - log_z
        )
    return float(log_z), np.exp(alpha + beta - log_z).astype(float), pairs.astype(float)


def check_against_reference(node: Any, pair: Any, kinds: Any | None = None) -> None:
    kinds = np.zeros(len(node), np.int32) if kinds is None else kinds
    wanted_z, wanted_node, wanted_pair = log_domain_reference(node, pair, kinds)
    chain = Chain([len(node)], node.shape[1], pair_kind=kinds, n_kinds=len(pair))
    log_z, parts = chain.marginals(ChainParts(node.copy(), pair.copy()))
    assert log_z[0] == pytest.approx(wanted_z, rel=1e-12, abs=1e-9)
    np.testing.assert_allclose(parts.node, wanted_node, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(parts.pair, wanted_pair, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 50.0, 500.0])
def test_a_sequence_of_100_000_tokens(scale: float) -> None:
    rng = np.random.default_rng(0)
    n = 100_000
    node, pair = rng.uniform(-scale, scale, (n, 3)), rng.uniform(-scale, scale, (1, 3, 3))
    chain = Chain([n], 3)
    log_z, parts = chain.marginals(ChainParts(node.copy(), pair))
    best, labels = chain.argmax(ChainParts(node, pair))
    np.testing.assert_allclose(parts.node.sum(axis=1), 1.0, rtol=1e-6)
    assert parts.pair.sum() == pytest.approx(n - 1, rel=1e-6)
    alpha = node[0].astype(np.longdouble)
    wide = pair[0].astype(np.longdouble)
    for row in node[1:]:
        alpha = row + np.logaddexp(np.logaddexp(alpha[0] + wide[0], alpha[1] + wide[1]), alpha[2] + wide[2])
    assert log_z[0] == pytest.approx(float(log_sum(alpha, axis=0)), rel=n * 2.0**-52)
    assert chain.score(ChainParts(node, pair), labels)[0] == pytest.approx(best[0], rel=1e-12)
    assert best[0] <= log_z[0] + 1e-9 * abs(log_z[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("node_scale", "pair_scale"), [(500, 500), (500, 0), (0, 500), (290, 10), (150, 150), (10, 290)]
)
def test_large_scores(node_scale: float, pair_scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    node = rng.uniform(-node_scale, node_scale, (30, 4))
    pair = rng.uniform(-pair_scale, pair_scale, (2, 4, 4))
    check_against_reference(node, pair, rng.integers(2, size=30).astype(np.int32))


@given(st.integers(0, 10**6), st.sampled_from([20.0, 95.0, 200.0, 500.0]), st.sampled_from([0.2, 0.5]))
def test_forbidden_transitions_with_large_scores(seed: int, scale: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    node = rng.uniform(-scale / 2, scale / 2, (25, 4))
    pair = np.where(rng.random((1, 4, 4)) < share, -np.inf, rng.uniform(-2, 2, (1, 4, 4)))
    pair[0, np.arange(4), np.arange(4)] = 0.0  # something is always possible
    check_against_reference(node, pair)


@pytest.mark.parametrize("advantage", [1.0, 40.0, 90.0])
def test_two_worlds_without_a_way_between_them(advantage: float) -> None:
    """The first half speaks for one label, the second half as loudly for the other; neither may be lost."""
    node = np.zeros((40, 2))
    node[:20, 0] = advantage
    node[20:, 1] = advantage
    node[-1, 1] += 0.5
    pair = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    check_against_reference(node, pair)


def test_small_shares_that_follow_one_another_do_not_underflow() -> None:
    """Each step leaves a small sum: 1e-95, 1e-95, then 1e-130, whose product is below the smallest double."""
    small = math.log(1e-95)
    node = np.array([[0.0, 0.0], [small, 0.0], [small, 0.0], [-299.0, 0.0], [0.3, 0.0]])
    pair = np.array([[[0.0, -300.0], [0.0, -300.0]]])
    check_against_reference(node, pair)


def test_a_rare_label_that_is_the_only_cheap_way_on() -> None:
    """At every token the second label has a share of e^-299, but is the better predecessor by e^300."""
    node = np.tile([0.0, -299.0], (8, 1))
    pair = np.array([[[-300.0, -300.0], [0.0, 0.0]]])
    check_against_reference(node, pair)


@given(st.integers(0, 10**6), st.sampled_from([100.0, 300.0, 500.0, 590.0]), st.sampled_from([0.0, 0.1]))
def test_scores_that_take_only_the_extreme_values(seed: int, spread: float, forbidden: float) -> None:
    """Spreads of node and pair scores that add up to just below 600, where scaled sums are at their limit."""
    rng = np.random.default_rng(seed)
    node = np.where(rng.random((12, 3)) < 0.5, 0.0, -(599.0 - spread)) + rng.uniform(0, 0.5, (12, 3))
    pair = np.where(rng.random((2, 3, 3)) < 0.5, 0.0, -spread)
    pair[rng.random(pair.shape) < forbidden] = -np.inf
    pair[:, np.arange(3), np.arange(3)] = -spread
    check_against_reference(node, pair, rng.integers(2, size=12).astype(np.int32))


def test_threads_give_identical_bits() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 40, 300).astype(np.int32)
    n, kinds = int(lengths.sum()), 5
    node, pair = 3 * rng.normal(size=(n, 9)), 3 * rng.normal(size=(kinds, 9, 9))
    node[rng.integers(n, size=20)] *= 400  # some sequences take the exact way
    which = rng.integers(kinds, size=n)
    results = []
    for threads in (1, 2, 3):
        chain = Chain(
            lengths, 9, pair_kind=which, n_kinds=kinds, weights=np.linspace(0, 2, 300), threads=threads
        )
        log_z, parts = chain.marginals(ChainParts(node.copy(), pair.copy()))
        best, labels = chain.argmax(ChainParts(node, pair))
        values, ways = chain.kbest(ChainParts(node, pair), 3)
        results.append([log_z, parts.node, parts.pair, best, labels, values, ways])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


def test_exponentials() -> None:
    x = np.concatenate(
        [np.linspace(-708, 709, 200_001), [-708.0, 709.0, 0.0, -0.0, 1e-300, -1e-17, 0.5 * np.log(2)]]
    )
    out = x.copy()
    exponentials(out)
    exact = np.exp(x.astype(np.longdouble))
    error = np.abs(out - exact) / exact
    assert float(error.max()) < 1.5 * 2.0**-52


def test_exponentials_of_what_vanishes() -> None:
    x = np.array([-np.inf, -1e308, -1000.0, np.nextafter(-708.0, -np.inf), np.nan, 0.0])
    exponentials(x)
    assert x[:4].tolist() == [0.0] * 4
    assert np.isnan(x[4])
    assert x[5] == 1.0


@given(st.lists(st.floats(-1e6, 1e6), max_size=70))
def test_inner_product(values: list[float]) -> None:
    a = np.array(values)
    exact = float(np.dot(a.astype(np.longdouble), a[::-1].astype(np.longdouble)))
    scale = float(np.dot(np.abs(a), np.abs(a[::-1])))
    assert dot(a, np.ascontiguousarray(a[::-1])) == pytest.approx(exact, abs=1e-14 * scale + 1e-300)
