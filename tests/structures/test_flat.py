"""Labels and numbers without structure: against definitions, and against chains of one token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flat_problems import flat_toy
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import ElasticNet
from parsimon.structures import Chain, ChainParts, Flat, FlatParts
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.weights import Weights

seeds = st.integers(0, 10**6)


def scores_for(seed: int, n: int = 7, n_labels: int = 4) -> Any:
    return np.random.default_rng(seed).normal(scale=3.0, size=(n, n_labels))


@given(seeds, st.booleans())
def test_a_chain_of_one_token_is_flat(seed: int, weighted: bool) -> None:
    node, rng = scores_for(seed), np.random.default_rng(seed)
    n, n_labels = node.shape
    weights = rng.random(n) if weighted else None
    gold = rng.integers(0, n_labels, n).astype(np.int32)
    flat, chain = Flat(n, n_labels, weights), Chain([1] * n, n_labels, weights=weights)
    for name in ("log", "hinge", "perceptron"):
        value, parts = get_loss(name)(flat, FlatParts(node.copy()), gold)
        pairs = np.zeros((1, n_labels, n_labels))
        expected, of_chain = get_loss(name)(chain, ChainParts(node.copy(), pairs), gold)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(parts.node, of_chain.node, atol=1e-12)
    _, marginals = flat.marginals(FlatParts(node.copy()))
    _, of_chain = chain.marginals(ChainParts(node.copy(), np.zeros((1, n_labels, n_labels))))
    expected_variances = chain.variances(of_chain.node).node
    np.testing.assert_allclose(flat.variances(marginals.node).node, expected_variances, atol=1e-12)


@given(seeds, st.booleans(), st.booleans())
def test_costs_are_those_of_a_chain_of_one_token(seed: int, weighted: bool, alike: bool) -> None:
    node, rng = scores_for(seed), np.random.default_rng(seed)
    n, n_labels = node.shape
    weights = rng.random(n) if weighted else None
    gold = rng.integers(0, n_labels, n).astype(np.int32)
    table = rng.uniform(0.0, 3.0, (n_labels, n_labels)) * (1 - np.eye(n_labels))
    cost: Any = 1.5 if alike else table
    flat, chain = Flat(n, n_labels, weights), Chain([1] * n, n_labels, weights=weights)
    pairs = np.zeros((1, n_labels, n_labels))
    best, labels = flat.cost_argmax(FlatParts(node.copy()), gold, cost)
    of_chain, labels_of_chain = chain.cost_argmax(ChainParts(node.copy(), pairs), gold, cost)
    np.testing.assert_allclose(best, of_chain, rtol=1e-12)
    np.testing.assert_array_equal(labels, labels_of_chain)
    each = table if not alike else 1.5 * (1 - np.eye(n_labels))
    np.testing.assert_allclose(best, (node + each[gold]).max(axis=1), rtol=1e-12)
    expected = []
    both: Any = ((flat, FlatParts(node.copy())), (chain, ChainParts(node.copy(), pairs)))
    for structure, scores in both:
        _, parts = structure.marginals(scores)
        structure.add_output(parts, gold, -1.0)
        expected.append(structure.expected_cost(parts, gold, cost))
    p = np.exp(node) / np.exp(node).sum(axis=1, keepdims=True)
    by_hand = np.sum((p * each[gold]).sum(axis=1) * (1.0 if weights is None else weights))
    assert expected == pytest.approx([by_hand, by_hand], rel=1e-9)
    np.testing.assert_allclose(flat.log_outputs(), chain.log_outputs())


@given(seeds)
def test_missing_labels_are_left_free(seed: int) -> None:
    node = scores_for(seed)
    flat, gold = Flat(len(node), 4), np.array([0, -1, 2, -1, 3, 1, 0])
    value, parts = get_loss("log")(flat, FlatParts(node.copy()), gold)
    known = gold >= 0
    sub, _ = get_loss("log")(Flat(int(known.sum()), 4), FlatParts(node[known]), gold[known])
    assert value == pytest.approx(sub, rel=1e-12)
    np.testing.assert_allclose(parts.node[~known], 0.0, atol=1e-12)


def test_large_scores_stay_finite() -> None:
    flat = Flat(2, 3)
    log_z, parts = flat.marginals(FlatParts(np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]])))
    np.testing.assert_allclose(log_z, [1e4, -1e4 + np.log(3)])
    np.testing.assert_allclose(parts.node.sum(axis=1), 1.0)


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_and_curvature_by_finite_differences(n_labels: int, weighted: bool) -> None:
    toy = flat_toy(3, n_labels=n_labels, weighted=weighted)
    problem = toy.problem(ElasticNet())
    w = np.random.default_rng(1).normal(size=problem.n_features)
    there = problem.evaluate(w, curvature=True)
    gradient, diagonal = there.gradient, there.curvature
    assert diagonal is not None
    for k in range(0, problem.n_features, 5):
        e = np.zeros_like(w)
        e[k] = 1e-5
        up, down = problem.loss_and_gradient(w + e), problem.loss_and_gradient(w - e)
        assert gradient[k] == pytest.approx((up[0] - down[0]) / 2e-5, rel=1e-5, abs=1e-6)
        assert diagonal[k] == pytest.approx((up[1][k] - down[1][k]) / 2e-5, rel=1e-5, abs=1e-6)


def test_restriction_scores_some_features() -> None:
    problem = flat_toy(2, n_labels=3).problem(ElasticNet())
    features = np.array([0, 4, 7, 20, problem.n_features - 1])
    values = np.arange(1.0, 6.0)
    w = np.zeros(problem.n_features)
    w[features] = values
    loss, gradient = problem.loss_and_gradient(w)
    small, of_some = problem.restrict(features).loss_and_gradient(values)
    assert small == pytest.approx(loss)
    np.testing.assert_allclose(of_some, gradient[features], atol=1e-10)
    there = problem.evaluate(Weights(values, features, problem.n_features))
    np.testing.assert_allclose(there.gradient, gradient, atol=1e-10)


def test_what_does_not_fit_is_refused() -> None:
    toy = flat_toy()
    with pytest.raises(ParsimonError, match="need log or hinge"):
        flat_problem(toy.X, toy.gold, 2, ElasticNet(), "squared")
    with pytest.raises(ParsimonError, match="give as many weights"):
        Flat(3, 2, np.ones(2))
