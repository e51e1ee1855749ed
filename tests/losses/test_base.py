"""What losses share: which labels are missing, the value at known labels, settings that can be stored."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from parsimon.losses import LOSSES, Hinge, Log, Perceptron, SmoothedHinge, get_loss, loss_settings
from parsimon.losses.base import some_missing, with_known_labels
from parsimon.structures import Chain, ChainParts, Table


def test_labels_below_zero_are_missing_and_numbers_never_are() -> None:
    assert some_missing(np.array([0, -1, 2]))
    assert not some_missing(np.array([0, 1, 2]))
    assert not some_missing(np.zeros(0, int))
    assert not some_missing(np.array([0.5, -1.0]))


def test_other_outputs_know_what_they_miss() -> None:
    class Gold:
        def __init__(self, some_missing: bool) -> None:
            self.some_missing = some_missing

    assert some_missing(Gold(True))
    assert not some_missing(Gold(False))
    assert not some_missing(Table(np.array([[0, 1], [1, 0]]), [2, 2]))


def test_the_value_at_known_labels_is_that_of_the_log_loss() -> None:
    random = np.random.default_rng(0)
    chain, gold = Chain([3, 2], 3, weights=np.array([2.0, 0.5])), np.array([0, 2, 1, 1, 0])
    scores = ChainParts(random.normal(size=(5, 3)), random.normal(size=(1, 3, 3)))

    def fresh() -> ChainParts:
        return ChainParts(scores.node.copy(), scores.pair.copy())

    values, parts, marginals = with_known_labels(chain, fresh(), gold, copy=True)
    total, wanted = Log()(chain, fresh(), gold)
    assert 2 * values[0] + 0.5 * values[1] == pytest.approx(total)
    np.testing.assert_allclose(parts.node, wanted.node)
    np.testing.assert_allclose(marginals, chain.marginals(fresh())[1].node)
    assert np.abs(marginals - parts.node).max() > 0.1  # a copy, from which gold has not been taken
    assert with_known_labels(chain, fresh(), gold, copy=False)[2] is None


def test_most_losses_treat_all_labels_alike() -> None:
    for loss in (Log(), Perceptron(), get_loss("squared"), get_loss("pseudo-likelihood")):
        assert loss.bind(["a", "b"]) is loss


@pytest.mark.parametrize(
    "loss",
    [*(loss() for loss in LOSSES.values()), Hinge(2.5), Hinge([[0, 1], [3, 0]]), SmoothedHinge(0.5, 2.0)],
    ids=str,
)
def test_settings_can_be_stored_and_make_the_loss_again(loss: Any) -> None:
    settings = json.loads(json.dumps(loss_settings(loss)))
    assert type(loss)(**settings) == loss
    assert loss_settings("log") == {}
