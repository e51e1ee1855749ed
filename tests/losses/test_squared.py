"""The squared loss."""

from __future__ import annotations

import numpy as np
import pytest

from flat_problems import flat_toy
from parsimon.penalties import ElasticNet


def test_squared_loss_is_half_the_squared_distance() -> None:
    toy = flat_toy(1, n_labels=1)
    problem = toy.problem(ElasticNet(), bias=False)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    assert problem.loss_and_gradient(w)[0] == pytest.approx(0.5 * np.sum((toy.X @ w - toy.gold) ** 2))
