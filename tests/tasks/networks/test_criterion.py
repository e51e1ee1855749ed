"""What an edge must gain: criteria and effective parameters by hand and by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.tasks.networks.criterion import criterion, effective_parameters
from parsimon.tasks.networks.model import NetworkModel
from toy_networks import potts


def test_criteria_by_hand() -> None:
    assert criterion(10.0, 3, 2, 100, 5, 0.5) == pytest.approx(20 + 3 * np.log(100) + 4 * np.log(5))


def test_effective_parameters_by_finite_differences() -> None:
    """tr(H⁻¹ J), with the rows' gradients and the Hessian from the log pseudo-likelihood itself."""
    network = MarkovNetwork(20.0).fit(potts().X[:100, :3])
    model, X = network.model_, potts().X[:100, :3]
    counts = np.random.default_rng(1).uniform(0.5, 2.0, len(X))

    def losses(w: np.ndarray) -> np.ndarray:
        return -NetworkModel(model.names, model.categories, model.edges, w).log_likelihood(
            X, "pseudo-likelihood"
        )

    def gradients(w: np.ndarray) -> np.ndarray:
        steps = 1e-4 * np.eye(len(w))
        return np.array([(losses(w + h) - losses(w - h)) / 2e-4 for h in steps])

    steps = 1e-3 * np.eye(len(model.weights))
    H = np.array(
        [(gradients(model.weights + h) - gradients(model.weights - h)) @ counts / 2e-3 for h in steps]
    )
    G = gradients(model.weights)
    kept = np.flatnonzero(model.weights)
    expected = np.trace(np.linalg.solve(H[np.ix_(kept, kept)], ((G * counts) @ G.T)[np.ix_(kept, kept)]))
    assert effective_parameters(model, X, counts) == pytest.approx(expected, rel=1e-4)


def test_a_pseudo_likelihood_counts_independent_edges_twice() -> None:
    """Where there is nothing to be found, an edge has two parameters and a variable one."""
    X = np.random.default_rng(0).integers(0, 2, (4000, 4))
    model = NetworkModel(tuple("abcd"), ((0, 1),) * 4, np.array([[0, 1], [2, 3]]), np.full(6, 1e-9))
    assert effective_parameters(model, X) == pytest.approx(4 + 2 * 2, rel=0.02)
