"""The perceptron's loss: by enumeration, and what only it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_chain
from drawn_toys import toys, weights_for
from parsimon.losses import Perceptron
from parsimon.structures import Chain, ChainParts
from toy_problems import Toy


@given(st.integers(0, 10**6), st.floats(0.0, 3.0))
def test_the_best_output_less_gold_by_enumeration(seed: int, weight: float) -> None:
    random, Y = np.random.default_rng(seed), 3
    node, pair = random.normal(size=(4, Y)), random.normal(size=(1, Y, Y))
    gold = random.integers(Y, size=4)
    outputs = enumerate_chain(node, np.repeat(pair, 4, axis=0))
    high, best = outputs.best()
    chain = Chain([4], Y, weights=np.array([weight]))
    value, parts = Perceptron()(chain, ChainParts(node.copy(), pair.copy()), gold)
    assert value == pytest.approx(weight * (high - outputs.score_of(gold)), abs=1e-12)
    wanted: Any = ChainParts(np.zeros((4, Y)), np.zeros((1, Y, Y)))
    for labels, sign in ((best, weight), (gold, -weight)):
        np.add.at(wanted.node, (np.arange(4), labels), sign)
        np.add.at(wanted.pair[0], (labels[:-1], labels[1:]), sign)
    np.testing.assert_allclose(parts.node, wanted.node, atol=1e-12)
    np.testing.assert_allclose(parts.pair, wanted.pair, atol=1e-12)


def test_nothing_is_lost_where_gold_is_best() -> None:
    gold = np.array([1, 0, 2])
    node = 5.0 * np.eye(3)[gold]
    value, parts = Perceptron()(Chain([3], 3), ChainParts(node, np.zeros((1, 3, 3))), gold)
    assert value == 0.0
    assert not parts.node.any()
    assert not parts.pair.any()


@given(toys, st.integers(0, 100), st.sampled_from([0.0, 0.25, 8.0]))
def test_only_the_direction_of_the_weights_means_anything(toy: Toy, seed: int, factor: float) -> None:
    """L(cw) = c L(w), so w = 0 is a minimum that is of no use."""
    problem, w = toy.problem("perceptron"), weights_for(toy, seed)
    value, gradient = problem.loss_and_gradient(w)
    assert problem.loss_and_gradient(factor * w)[0] == pytest.approx(factor * value, rel=1e-12, abs=1e-12)
    assert gradient @ w == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert Perceptron.trivial_at_zero
