"""Choosing the strength of a network's penalty: by cross-validation and along a path."""

from __future__ import annotations

import numpy as np

from parsimon import MarkovNetwork
from parsimon.data import make_network
from toy_networks import chain, pairs


def test_cross_validation_keeps_what_is_there() -> None:
    network = MarkovNetwork("cv", cv=3, n_alphas=6, tol=1e-4, random_state=0).fit(chain().X)
    assert set(pairs(chain())) <= set(network.edges_)
    path = network.path_
    assert path.criterion == "held-out log pseudo-likelihood a row"
    assert path.scores.argmax() == path.best
    assert network.alpha_ == path.alpha
    assert path.scores.max() > path.scores[0] + 0.1
    assert -6 * np.log(2) < path.scores[0] < 0


def test_the_path() -> None:
    path = MarkovNetwork("ebic", n_alphas=25, alpha_min_ratio=0.001).fit(chain().X).path_
    np.testing.assert_allclose(path.alphas[1:] / path.alphas[:-1], 0.001 ** (1 / 24))
    assert path.n_edges[0] <= 1
    assert path.n_edges[-1] > path.n_edges[path.best] == 5
    assert path.criterion == "-pseudo-EBIC, gamma 0.5"
    assert np.all(path.scores[path.best + 1 :] < path.scores[path.best])
    assert path.best + 6 == len(path.alphas) < 25  # it has ended early


def test_the_extended_criterion_is_the_more_cautious() -> None:
    X = make_network("random", 10, 200, coupling=0.15, degree=3, random_state=3).X
    bic, ebic, strict = (
        MarkovNetwork(a, gamma=g, n_alphas=12, tol=1e-4).fit(X).n_edges_
        for a, g in (("bic", 0.5), ("ebic", 0.5), ("ebic", 1.0))
    )
    assert bic >= ebic >= strict
    assert bic > strict
