"""Synthetic sequences: their features are correlated as they should be, and their labels come from the CRF."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brute_force import enumerate_chain
from parsimon.arrays import Array
from parsimon.data import SyntheticSequences, make_sequences
from parsimon.data.synthetic_sequences import draw_labels
from parsimon.errors import ParsimonError
from parsimon.structures import Chain, ChainParts


@pytest.mark.parametrize("kind", ["iid", "correlated"])
def test_the_numbers_of_the_paper(kind: Any) -> None:
    made = make_sequences(kind)
    assert len(made.X) == len(made.y) == 1000
    assert all(x.shape == (8, 100) and x.dtype == np.float64 for x in made.X)
    assert all(len(labels) == 8 for labels in made.y)
    assert {label for labels in made.y for label in labels} == {"0", "1"}
    assert made.relevant.sum() == 30
    assert made.state.shape == (100, 2)
    assert made.transition.shape == (2, 2)
    assert (made.state[made.relevant] != 0).all()
    assert (made.state[~made.relevant] == 0).all()


def test_other_numbers() -> None:
    made = make_sequences(
        n_sequences=20, length=3, n_labels=4, n_features=10, n_relevant=6, group_size=2, random_state=1
    )
    assert len(made.X) == 20
    assert made.X[0].shape == (3, 10)
    assert {label for labels in made.y for label in labels} == {"0", "1", "2", "3"}
    assert made.state.shape == (10, 4)
    assert made.transition.shape == (4, 4)
    assert made.relevant.tolist() == [True] * 6 + [False] * 4
    alone = make_sequences(n_sequences=1, length=1, n_relevant=0)
    assert (len(alone.y[0]), alone.relevant.any()) == (1, False)


@pytest.mark.parametrize("kind", ["iid", "correlated"])
def test_how_features_are_correlated(kind: Any) -> None:
    made = make_sequences(kind)
    tokens = np.concatenate(made.X)
    np.testing.assert_allclose(tokens.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(tokens.std(axis=0), 1.0, atol=0.04)
    group = np.where(made.relevant & (kind == "correlated"), np.arange(100) // 3, np.arange(100) + 1000)
    together = group[:, None] == group
    correlation = np.corrcoef(tokens.T)
    wanted = 1 / (1 + 0.05**2)  # of two draws that share one of variance 1
    np.testing.assert_allclose(correlation[together & ~np.eye(100, dtype=bool)], wanted, atol=3e-4)
    np.testing.assert_allclose(correlation[~together], 0.0, atol=0.06)
    if kind == "correlated":
        assert np.std(tokens[:, 0] - tokens[:, 1]) == pytest.approx(0.05 * np.sqrt(2), rel=0.03)


def test_seeds() -> None:
    first, again, other = (make_sequences(n_sequences=30, random_state=seed) for seed in (3, 3, 4))
    assert first.y == again.y
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.state, again.state)
    np.testing.assert_array_equal(first.transition, again.transition)
    assert first.y != other.y
    assert not np.allclose(first.X, other.X)
    assert not np.allclose(first.transition, other.transition)


def test_one_seed_is_one_crf() -> None:
    made = make_sequences(n_sequences=5)
    for more in (make_sequences(n_sequences=9), make_sequences("iid", n_sequences=5, length=3)):
        np.testing.assert_array_equal(made.state, more.state)
        np.testing.assert_array_equal(made.transition, more.transition)


def test_the_scale_of_weights() -> None:
    weak, strong = (make_sequences(n_sequences=1, scale=scale) for scale in (0.5, 1.0))
    np.testing.assert_allclose(2 * weak.state, strong.state)
    np.testing.assert_allclose(2 * weak.transition, strong.transition)
    assert np.std(strong.state[strong.relevant]) == pytest.approx(1.0, abs=0.3)


# ---- the sampler -------------------------------------------------------------------------------------------


def largest_deviation(node: Array, transition: Array, sweeps: int, n: int = 40000) -> float:
    """Of the frequencies of all labellings from their probabilities, in standard deviations."""
    length, n_labels = node.shape
    outputs = enumerate_chain(node, np.broadcast_to(transition, (length, n_labels, n_labels)))
    drawn = draw_labels(
        np.broadcast_to(node, (n, length, n_labels)), transition, sweeps, np.random.default_rng(0)
    )
    number = np.ravel_multi_index(
        tuple(drawn.T), (n_labels,) * length
    )  # labellings are enumerated in this order
    frequency = np.bincount(number, minlength=n_labels**length) / n
    p = outputs.probabilities
    return float(np.abs((frequency - p) / np.sqrt(p * (1 - p) / n)).max())


@pytest.mark.parametrize(("length", "n_labels"), [(1, 2), (2, 2), (4, 2), (3, 3), (2, 4)])
def test_labels_have_the_probabilities_that_enumeration_gives(length: int, n_labels: int) -> None:
    random = np.random.default_rng(10 * length + n_labels)
    node, transition = random.normal(size=(length, n_labels)), random.normal(size=(n_labels, n_labels))
    assert largest_deviation(node, transition, sweeps=30) < 4.5


def test_sweeps_count() -> None:
    node, transition = np.zeros((4, 2)), np.array([[2.0, -1.0], [0.0, 1.0]])
    assert largest_deviation(node, transition, sweeps=1) > 10
    assert largest_deviation(node, transition, sweeps=50) < 4.5


def test_scores_of_any_size() -> None:
    node = np.zeros((1, 5, 3))
    node[0, :, 2] = 1e4
    labels = draw_labels(node, np.full((3, 3), -1e4), 2, np.random.default_rng(0))
    assert labels.tolist() == [[2] * 5]


def mean_scores(made: SyntheticSequences) -> Array:
    """∂ log P(y | x) / ∂ state at the generating weights, its mean over sequences in standard errors."""
    n, length, n_labels = len(made.X), len(made.X[0]), len(made.transition)
    inputs = np.stack(made.X)
    _, parts = Chain([length] * n, n_labels).marginals(
        ChainParts((inputs @ made.state).reshape(-1, n_labels), made.transition[None])
    )
    drawn = np.eye(n_labels)[np.array(made.y, int)]
    each = np.einsum("ntd,nty->ndy", inputs, drawn - parts.node.reshape(n, length, n_labels))
    return np.asarray(each.mean(axis=0) / (each.std(axis=0) / np.sqrt(n)))


@pytest.mark.parametrize("kind", ["iid", "correlated"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_generating_weights_fit_the_labels(kind: Any, n_labels: int) -> None:
    """The likelihood's gradient at the weights that labels were drawn with is zero but for chance."""
    made = make_sequences(kind, n_labels=n_labels, scale=0.3, random_state=2)
    scores = mean_scores(made)
    assert np.abs(scores).max() < 4.5
    assert np.std(scores) == pytest.approx(1.0, abs=0.3)


# ---- mistakes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "independent"}, "kind is 'independent'; give iid or correlated"),
        ({"n_sequences": 0}, "n_sequences is 0; give a whole number that is 1 or more"),
        ({"length": 0}, "length is 0"),
        ({"length": 2.5}, "length is 2.5; give a whole number"),
        ({"n_labels": 1}, "n_labels is 1; give a whole number that is 2 or more"),
        ({"n_features": 0}, "n_features is 0"),
        ({"n_relevant": -1}, "n_relevant is -1"),
        ({"n_relevant": 101}, "n_relevant is 101, but there are only 100 features"),
        ({"n_relevant": 31}, "n_relevant is 31, which is not a multiple of group_size, 3; give a multiple"),
        ({"group_size": 0}, "group_size is 0"),
        ({"noise": -0.1}, "noise is -0.1; give a standard deviation"),
        ({"scale": float("nan")}, "scale is nan; give a standard deviation"),
        ({"sweeps": 0}, "sweeps is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": None}, "random_state is None; give a whole number"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        make_sequences(**arguments)


def test_groups_do_not_matter_without_correlation() -> None:
    assert make_sequences("iid", n_sequences=1, n_relevant=31).relevant.sum() == 31
