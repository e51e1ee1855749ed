"""Losses against their definitions; gradients against finite differences and the subgradient inequality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.losses import LOSSES, Hinge, Log, Perceptron, get_loss
from parsimon.structures import Chain, ChainParts
from toy_problems import Toy, make_toy

OF_LABELS = [name for name in LOSSES if name != "squared"]  # which is for numbers

toys = st.builds(
    make_toy,
    st.integers(0, 10**6),
    n_pair=st.integers(0, 3),
    real=st.booleans(),
    weighted=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
)


def weights_for(toy: Toy, seed: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(seed).normal(size=toy.index.n_features)


@pytest.mark.parametrize("name", OF_LABELS)
@given(toys, st.integers(0, 100))
def test_value_is_the_definition(name: str, toy: Toy, seed: int) -> None:
    w = weights_for(toy, seed)
    value, _ = toy.problem(name).loss_and_gradient(w)
    assert value == pytest.approx(toy.loss(name, w), rel=1e-11, abs=1e-10)


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
            wanted += weight * p * pair_map[here[1:], labels[:-1], labels[1:]].sum(axis=0)
    _, gradient = toy.problem("log").loss_and_gradient(w)
    np.testing.assert_allclose(gradient, wanted, atol=1e-10)


@pytest.mark.parametrize("name", ["hinge", "perceptron", "log"])
@given(toys, st.integers(0, 100), st.sampled_from([0.01, 1.0, 10.0]))
def test_subgradient_inequality(name: str, toy: Toy, seed: int, distance: float) -> None:
    """A convex function lies above each of its tangents: L(v) ≥ L(w) + g·(v − w)."""
    problem = toy.problem(name)
    w = weights_for(toy, seed)
    v = w + weights_for(toy, seed + 1, distance)
    here, gradient = problem.loss_and_gradient(w)
    there, _ = problem.loss_and_gradient(v)
    assert there >= here + gradient @ (v - w) - 1e-9 * (1 + abs(here) + abs(there))


@given(toys, st.integers(0, 100))
def test_losses_are_ordered(toy: Toy, seed: int) -> None:
    """The cost only adds to the maximum, and log Z is at least the maximum."""
    w = weights_for(toy, seed)
    perceptron = toy.problem("perceptron").loss_and_gradient(w)[0]
    assert perceptron >= -1e-10
    assert toy.problem("hinge").loss_and_gradient(w)[0] >= perceptron - 1e-10
    assert toy.problem("log").loss_and_gradient(w)[0] >= perceptron - 1e-10


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 3.0]))
def test_hinge_scales_its_cost(seed: int, cost: float) -> None:
    toy = make_toy(seed)
    w = weights_for(toy, seed)
    wanted = sum(
        weight * (outputs.with_cost(toy.gold[tokens], cost).best()[0] - outputs.score_of(toy.gold[tokens]))
        for tokens, weight, outputs in toy.enumerations(w)
    )
    assert toy.problem(Hinge(cost=cost)).loss_and_gradient(w)[0] == pytest.approx(wanted)


def test_hinge_at_zero_counts_tokens() -> None:
    toy = make_toy(0)
    value, _ = toy.problem("hinge").loss_and_gradient(np.zeros(toy.index.n_features))
    assert value == len(toy.gold)


def test_log_loss_at_zero_counts_labellings() -> None:
    toy = make_toy(0, n_labels=4)
    value, _ = toy.problem("log").loss_and_gradient(np.zeros(toy.index.n_features))
    assert value == pytest.approx(len(toy.gold) * np.log(4))


def test_weights_are_repetitions() -> None:
    chain, twice = Chain([2], 2, weights=np.array([2.0])), Chain([2, 2], 2)
    rng = np.random.default_rng(0)
    node, pair = rng.normal(size=(2, 2)), rng.normal(size=(1, 2, 2))
    gold = np.array([0, 1])
    for loss in (Log(), Hinge(), Perceptron()):
        one, parts = loss(chain, ChainParts(node.copy(), pair), gold)
        two, both = loss(twice, ChainParts(np.concatenate([node, node]), pair), np.concatenate([gold, gold]))
        assert one == pytest.approx(two)
        np.testing.assert_allclose(parts.pair, both.pair, atol=1e-12)
        np.testing.assert_allclose(parts.node, both.node[:2] + both.node[2:], atol=1e-12)


def test_losses_by_name() -> None:
    assert get_loss("log") == Log()
    assert get_loss(Hinge(2.0)) == Hinge(2.0)
    with pytest.raises(ParsimonError, match="no loss called 'cubed'; choose from log, hinge, perceptron"):
        get_loss("cubed")
