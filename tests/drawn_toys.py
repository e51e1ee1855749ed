"""Small random problems, weights and costs, as hypothesis draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from toy_problems import Toy, make_toy

toys = st.builds(
    make_toy,
    st.integers(0, 10**6),
    n_pair=st.integers(0, 3),
    real=st.booleans(),
    weighted=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
    trees=st.booleans(),
)
toys_of_any_labels = st.builds(
    make_toy,
    st.integers(0, 10**6),
    n_labels=st.integers(1, 4),
    n_pair=st.integers(0, 3),
    real=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
    trees=st.booleans(),
)


def weights_for(toy: Toy, seed: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(seed).normal(size=toy.index.n_features)


def random_costs(rng: np.random.Generator, n_labels: int) -> Any:
    table = rng.uniform(0.0, 3.0, (n_labels, n_labels)) * (rng.random((n_labels, n_labels)) < 0.8)
    np.fill_diagonal(table, 0.0)
    return table
