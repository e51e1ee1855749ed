"""Searches for edges: greedy neighbourhoods beside the penalty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.arrays import Array
from parsimon.data.discrete_table import DiscreteTable
from parsimon.errors import ParsimonError
from parsimon.penalties import L1
from parsimon.solvers import Status
from parsimon.tasks.networks.options import SEARCHES as NAMES
from parsimon.tasks.networks.search import RIDGE, SEARCHES
from parsimon.tasks.networks.training import NetworkTraining
from toy_networks import chain, pairs, potts


def test_names_are_those_that_there_are() -> None:
    assert set(NAMES) == {"auto", *SEARCHES}


@pytest.mark.parametrize(
    ("settings", "search"),
    [
        ({}, "greedy"),
        ({"alpha": "bic", "inference": "exact"}, "greedy"),
        ({"alpha": "cv"}, "penalty"),
        ({"alpha": 3.0}, "penalty"),
        ({"stability": 5}, "penalty"),
        ({"penalty": "l1"}, "penalty"),
        ({"penalty": L1(2.0), "alpha": None}, "penalty"),
        ({"patience": 2}, "penalty"),
        ({"loss": "log"}, "penalty"),
        ({"search": "penalty"}, "penalty"),
    ],
    ids=str,
)
def test_a_penalty_is_used_where_an_option_is_about_one(settings: dict[str, Any], search: str) -> None:
    assert MarkovNetwork(**settings).chosen_search == search


def test_what_was_chosen_is_remembered() -> None:
    assert MarkovNetwork().fit(chain().X).model_.info["search"] == "greedy"


@pytest.mark.parametrize("alpha", ["bic", "ebic"])
def test_greedy_neighbourhoods_find_the_same_graphs(alpha: str) -> None:
    for made in (chain(), potts()):
        network = MarkovNetwork(alpha, search="greedy").fit(made.X)
        assert network.edges_ == pairs(made)
        assert network.path_ is None
        assert network.alpha_ == RIDGE
    np.testing.assert_allclose(
        MarkovNetwork(alpha, search="greedy").fit(chain().X).edge_weights_, chain().weights, atol=0.1
    )


def test_the_number_of_threads_makes_no_difference() -> None:
    one, two = (MarkovNetwork(search="greedy", n_jobs=n).fit(potts().X) for n in (1, 2))
    assert one.edge_weights_.tobytes() == two.edge_weights_.tobytes()


def test_rows_count_by_their_weights() -> None:
    X = chain().X[:300]
    weights = np.random.default_rng(0).integers(0, 3, 300)
    one = MarkovNetwork(search="greedy").fit(X, sample_weight=weights)
    other = MarkovNetwork(search="greedy").fit(np.repeat(X, weights, axis=0))
    assert one.edges_ == other.edges_
    np.testing.assert_allclose(one.edge_weights_, other.edge_weights_, atol=1e-3)


def test_columns_without_edges() -> None:
    network = MarkovNetwork(search="greedy").fit(np.random.default_rng(0).integers(0, 3, (300, 4)))
    assert network.edges_ == []


def test_a_time_limit_leaves_a_network() -> None:
    training = NetworkTraining(search="greedy", time_limit=1e-9)
    model = training.fit(DiscreteTable.learn(chain().X))
    assert model.info["status"] == Status.TIME.value


@pytest.mark.parametrize("alpha", ["cv", 3.0])
def test_greedy_neighbourhoods_need_a_criterion(alpha: object) -> None:
    with pytest.raises(ParsimonError, match="alpha must be bic or ebic"):
        NetworkTraining(search="greedy", alpha=alpha).check()
    with pytest.raises(ParsimonError, match="stability selection repeats a fit with a penalty"):
        NetworkTraining(search="greedy", stability=5).check()


def test_the_weights_are_at_the_optimum_of_the_small_penalty() -> None:
    """By finite differences of the log pseudo-likelihood of the model itself. Training subtracts means from the codes
    in edges, so a weight of an edge also moves those of its ends."""
    table = DiscreteTable.learn(chain().X)
    model = NetworkTraining(search="greedy", tol=1e-8).fit(table)

    def value(weights: Array) -> float:
        moved = replace(model, weights=weights)
        return float(np.sum(moved.log_likelihood(table.codes, "pseudo-likelihood")))

    steps = 1e-4 * np.eye(model.n_features)
    slopes = np.array([value(model.weights + s) - value(model.weights - s) for s in steps]) / 2e-4
    mean, n = 2 * table.codes.mean(axis=0) - 1, len(model.names)
    for e, (u, v) in enumerate(model.edges.tolist()):
        slope = slopes[n + e] - mean[v] * slopes[u] - mean[u] * slopes[v]
        assert slope == pytest.approx(RIDGE * model.weights[n + e], abs=1e-2)
