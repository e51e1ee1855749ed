"""The problem: batches add up, restriction, threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.features.observations import Rows
from parsimon.losses import LOSSES
from parsimon.penalties import ElasticNet
from parsimon.structures import Chain
from toy_problems import Toy, make_toy

toys = st.builds(
    make_toy,
    st.integers(0, 10**6),
    real=st.booleans(),
    weighted=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
    trees=st.booleans(),
)


OF_LABELS = [name for name, loss in LOSSES.items() if loss.oracle in Chain.oracles]


@pytest.mark.parametrize("loss", OF_LABELS)
@given(toys, st.integers(1, 12), st.integers(0, 100))
def test_batches_add_up(loss: str, toy: Toy, batch: int, seed: int) -> None:
    whole, parts = toy.problem(loss, batch=1000), toy.problem(loss, batch=batch)
    assert len(whole.batches) == 1
    w = np.random.default_rng(seed).normal(size=whole.n_features)
    value, gradient = whole.loss_and_gradient(w)
    other_value, other_gradient = parts.loss_and_gradient(w)
    assert value == pytest.approx(other_value, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, other_gradient, atol=1e-11)


@given(toys)
def test_objective_is_loss_plus_penalty(toy: Toy) -> None:
    penalty = ElasticNet(l1=0.3, l2=0.7)
    problem = toy.problem("log", penalty)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    wanted = toy.loss("log", w) + 0.3 * np.abs(w).sum() + 0.35 * (w @ w)
    assert problem.objective(w) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("loss", OF_LABELS)
@given(toys, st.integers(0, 100))
def test_restriction_is_the_problem_on_a_subspace(loss: str, toy: Toy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = toy.index.n_features
    penalty = ElasticNet(l1=0.3, l2=0.7, weight=rng.uniform(0, 2, n))
    problem = toy.problem(loss, penalty)
    features = np.flatnonzero(rng.random(n) < 0.5)
    small = problem.restrict(features)
    w = np.zeros(n)
    w[features] = rng.normal(size=len(features))
    assert small.n_features == len(features)
    assert small.objective(w[features]) == pytest.approx(problem.objective(w), rel=1e-11)
    np.testing.assert_allclose(
        small.loss_and_gradient(w[features])[1], problem.loss_and_gradient(w)[1][features], atol=1e-11
    )


@pytest.mark.parametrize("loss", OF_LABELS)
def test_threads_give_identical_bits(loss: str) -> None:
    toy = make_toy(1, lengths=tuple(range(30)), n_labels=6, n_node=40, real=True, weighted=True)
    w = np.random.default_rng(0).normal(size=toy.index.n_features)
    value, gradient = toy.problem(loss, batch=50).loss_and_gradient(w)
    other_value, other_gradient = toy.problem(loss, batch=50, threads=2).loss_and_gradient(w)
    assert value == other_value
    assert gradient.tobytes() == other_gradient.tobytes()


def test_an_evaluation_leaves_the_weights_alone() -> None:
    problem = make_toy(0).problem()
    w = np.random.default_rng(0).normal(size=problem.n_features)
    before = w.copy()
    first = problem.loss_and_gradient(w)
    np.testing.assert_array_equal(w, before)
    assert problem.loss_and_gradient(w)[0] == first[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("real", [False, True])
def test_curvature_is_the_diagonal_of_the_hessian(weighted: bool, real: bool) -> None:
    """Exactly so for sequences of one token, with no attribute twice on it."""
    rng = np.random.default_rng(0)
    n = 8
    toy = make_toy(0, lengths=(1,) * n, n_pair=0, weighted=weighted)
    node = Rows(
        np.arange(n + 1), rng.integers(5, size=n).astype(np.int32), rng.normal(size=n) if real else None
    )
    toy = replace(toy, observations=replace(toy.observations, node=node))
    problem = toy.problem("log")
    w = rng.normal(size=problem.n_features)
    h = 1e-5
    for k, found in enumerate(problem.curvature(w)):
        e = h * (np.arange(len(w)) == k)
        above, below = problem.loss_and_gradient(w + e)[1], problem.loss_and_gradient(w - e)[1]
        assert found == pytest.approx((above[k] - below[k]) / (2 * h), rel=1e-6, abs=1e-8)
