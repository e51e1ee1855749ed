"""What holds for every loss: definitions by enumeration, the subgradient inequality, weights of instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_toys import toys, weights_for
from parsimon.errors import ParsimonError
from parsimon.losses import LOSSES, Hinge, Log, Perceptron, get_loss
from parsimon.structures import Chain, ChainParts
from toy_problems import Toy

OF_LABELS = [name for name, loss in LOSSES.items() if loss.oracle in Chain.oracles]


@pytest.mark.parametrize("name", OF_LABELS)
@given(toys, st.integers(0, 100))
def test_value_is_the_definition(name: str, toy: Toy, seed: int) -> None:
    w = weights_for(toy, seed)
    value, _ = toy.problem(name).loss_and_gradient(w)
    assert value == pytest.approx(toy.loss(name, w), rel=1e-11, abs=1e-10)


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
