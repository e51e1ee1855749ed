"""The log loss: its gradient, missing labels, and its value at zero."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_toys import toys, weights_for
from toy_problems import Toy, make_toy


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.3, 0.7, 1.0]))
def test_value_with_missing_labels(seed: int, real: bool, weighted: bool, missing: float) -> None:
    toy = make_toy(seed, real=real, weighted=weighted, missing=missing)
    w = weights_for(toy, seed)
    value, gradient = toy.problem("log").loss_and_gradient(w)
    assert value == pytest.approx(toy.loss("log", w), rel=1e-11, abs=1e-10)
    if missing == 1.0:
        assert value == pytest.approx(0.0, abs=1e-10)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-10)


@given(toys, st.sampled_from([0.0, 0.4]), st.integers(0, 100))
def test_gradient_of_the_log_loss_by_finite_differences(toy: Toy, missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    toy.gold[rng.random(len(toy.gold)) < missing] = -1
    problem = toy.problem("log")
    w = 0.7 * rng.normal(size=problem.n_features)
    _, gradient = problem.loss_and_gradient(w)
    h = 1e-5
    for k in rng.choice(problem.n_features, size=min(12, problem.n_features), replace=False):
        e = np.zeros_like(w)
        e[k] = h
        # Richardson's extrapolation of central differences: an error of order h⁴.
        near = (problem.loss_and_gradient(w + e)[0] - problem.loss_and_gradient(w - e)[0]) / (2 * h)
        far = (problem.loss_and_gradient(w + 2 * e)[0] - problem.loss_and_gradient(w - 2 * e)[0]) / (4 * h)
        assert gradient[k] == pytest.approx((4 * near - far) / 3, rel=1e-6, abs=2e-8)


@given(toys, st.integers(0, 100))
def test_gradient_is_expected_minus_observed_features(toy: Toy, seed: int) -> None:
    from toy_problems import dense_map

    w = weights_for(toy, seed)
    node_map, pair_map = dense_map(toy.index, toy.observations)
    wanted = np.zeros_like(w)
    for tokens, weight, outputs in toy.enumerations(w):
        for labels, p in [
            *zip(outputs.labellings, outputs.probabilities, strict=True),
            (toy.gold[tokens], -1.0),
        ]:
            here = np.arange(tokens.start, tokens.stop)
            wanted += weight * p * node_map[here, labels].sum(axis=0)
            steps = np.flatnonzero(outputs.before >= 0)
            pairs = pair_map[here[steps], labels[outputs.before[steps]], labels[steps]]
            wanted += weight * p * pairs.sum(axis=0)
    _, gradient = toy.problem("log").loss_and_gradient(w)
    np.testing.assert_allclose(gradient, wanted, atol=1e-10)


def test_log_loss_at_zero_counts_labellings() -> None:
    toy = make_toy(0, n_labels=4)
    value, _ = toy.problem("log").loss_and_gradient(np.zeros(toy.index.n_features))
    assert value == pytest.approx(len(toy.gold) * np.log(4))
