"""The small quadratic program on a simplex."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.solvers.simplex_qp import minimize_on_simplex


@pytest.mark.parametrize("seed", range(8))
def test_the_quadratic_program_on_a_simplex(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, rank = random.integers(1, 12), random.integers(1, 6)
    rows = random.normal(size=(n, rank))
    gram, offset = rows @ rows.T, random.normal(size=n)
    alpha = minimize_on_simplex(gram, offset, np.full(n, 1 / n))
    slope = gram @ alpha - offset
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1)
    assert slope.min() >= slope @ alpha - 1e-7  # no vertex lies lower
