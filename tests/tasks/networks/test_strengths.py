"""Choosing the strength of a network's penalty: by cross-validation and along a path."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.data import make_network
from parsimon.tasks.networks.model import PathEnd
from parsimon.tasks.networks.strengths import _since
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
    assert path.end is PathEnd.PATIENCE
    assert path.best + 6 <= len(path.alphas) < 25


def test_the_extended_criterion_is_the_more_cautious() -> None:
    X = make_network("random", 10, 200, coupling=0.15, degree=3, random_state=3).X
    bic, ebic, strict = (
        MarkovNetwork(a, gamma=g, n_alphas=12, tol=1e-4).fit(X).n_edges_
        for a, g in (("bic", 0.5), ("ebic", 0.5), ("ebic", 1.0))
    )
    assert bic >= ebic >= strict
    assert bic > strict


def test_a_plateau_does_not_end_a_path() -> None:
    """Strengths that lie closely together leave the same graph many times; three graphs end the path."""
    path = MarkovNetwork("ebic", n_alphas=100, alpha_min_ratio=0.001, patience=3).fit(chain().X).path_
    after = path.n_edges[path.best + 1 :]
    assert path.end is PathEnd.PATIENCE
    assert np.unique(after).tolist() == [6, 7, 8]
    assert len(after) > 10
    assert after[-2] == 7  # it ends at once with the third


def test_other_graphs_are_counted_once_each() -> None:
    assert _since(["a"], 0) == 0
    assert _since(["b", "a", "a", "a"], 1) == 0
    assert _since(["a", "b", "b", "a", "c", "c"], 0) == 2


@pytest.mark.parametrize("alpha", ["bic", "cv"])
def test_the_end_of_a_path(alpha: str) -> None:
    few = MarkovNetwork(alpha, cv=3, n_alphas=4, alpha_min_ratio=0.3).fit(chain().X).path_
    assert few.end is PathEnd.WEAKEST
    assert few.cut_off
    assert len(few.alphas) == 4
    impatient = MarkovNetwork(alpha, cv=3, patience=1, n_alphas=20, alpha_min_ratio=1e-4, random_state=0).fit(
        chain().X
    )
    assert impatient.path_.end is PathEnd.PATIENCE
    assert not impatient.path_.cut_off
