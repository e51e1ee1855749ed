"""Stability selection: edges that are found again."""

from __future__ import annotations

from typing import Any

from parsimon import MarkovNetwork
from toy_networks import chain, pairs


def test_stability_selection() -> None:
    X = chain().X[:400]
    settings: dict[str, Any] = {"alpha": 20.0, "stability": 12, "tol": 1e-4}
    network = MarkovNetwork(random_state=0, **settings).fit(X)
    assert len(network.stability_) == 15
    assert {round(12 * share) for share in network.stability_.values()} <= set(range(13))
    assert network.edges_ == [pair for pair, share in network.stability_.items() if share >= 0.75]
    assert set(pairs(chain())) <= set(network.edges_)
    # Weights are learnt again, nearly without penalty.
    once = MarkovNetwork(20.0).fit(X)
    shrunk = dict(zip(once.edges_, once.edge_weights_, strict=True))
    weights = dict(zip(network.edges_, network.edge_weights_, strict=True))
    assert all(abs(weights[edge]) > abs(shrunk[edge]) for edge in pairs(chain()))
    loose = MarkovNetwork(random_state=0, stability_threshold=0.05, **settings).fit(X)
    assert loose.n_edges_ > network.n_edges_
    assert loose.stability_ == network.stability_
    assert MarkovNetwork(random_state=1, **settings).fit(X).stability_ != network.stability_
