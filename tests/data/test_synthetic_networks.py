"""Made tables: the graphs are what they are called, and rows have the distribution they are said to have."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from parsimon.data.synthetic_networks import SyntheticNetwork, agreement, make_network
from parsimon.errors import ParsimonError


def true_distribution(made: SyntheticNetwork) -> dict[tuple[int, ...], float]:
    """P(x) of every row there can be, by enumeration."""
    n, states = len(made.field), range(made.n_states)
    s = agreement(made.n_states)
    scores = {
        x: sum(made.field[v, x[v]] for v in range(n))
        + sum(w * s[x[u], x[v]] for (u, v), w in zip(made.edges, made.weights, strict=True))
        for x in product(states, repeat=n)
    }
    total = np.logaddexp.reduce(list(scores.values()))
    return {x: float(np.exp(score - total)) for x, score in scores.items()}


@pytest.mark.parametrize("n_states", [2, 3])
@pytest.mark.parametrize(("kind", "n"), [("chain", 4), ("grid", 4), ("random", 4)])
def test_rows_have_the_distribution_of_the_network(kind: Any, n: int, n_states: int) -> None:
    made = make_network(
        kind, n, 20_000, coupling=0.7, field=0.5, n_states=n_states, degree=2.0, random_state=3
    )
    rows, counts = np.unique(made.X, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    for x, p in true_distribution(made).items():
        expected, deviation = 20_000 * p, np.sqrt(20_000 * p * (1 - p))
        assert abs(seen.get(x, 0) - expected) < 5 * deviation + 1


def test_a_chain_joins_neighbours() -> None:
    made = make_network("chain", 5, 3)
    assert made.edges == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert made.X.shape == (3, 5)


def test_a_grid_is_as_square_as_it_can_be() -> None:
    made = make_network("grid", 12, 3, sweeps=1)
    degrees = np.bincount(np.array(made.edges).ravel(), minlength=12)
    assert len(made.edges) == 3 * 3 + 2 * 4
    assert sorted(degrees.tolist()) == [2] * 4 + [3] * 6 + [4] * 2


def test_a_random_graph_has_so_many_edges() -> None:
    made = make_network("random", 10, 3, degree=3, sweeps=1)
    assert len(made.edges) == len(set(made.edges)) == 15
    assert all(u < v for u, v in made.edges)
    assert make_network("random", 10, 3, degree=3, sweeps=1, random_state=1).edges != made.edges
    assert make_network("random", 3, 3, degree=0).edges == []


def test_signs_are_mixed_or_not() -> None:
    assert set(make_network("chain", 30, 1, coupling=0.3).weights.tolist()) == {-0.3, 0.3}
    assert set(make_network("chain", 30, 1, coupling=0.3, mixed_signs=False).weights.tolist()) == {0.3}


def test_the_same_seed_gives_the_same_rows() -> None:
    one, two = (make_network("grid", 6, 50, random_state=4, sweeps=5) for _ in range(2))
    assert one.X.tobytes() == two.X.tobytes()
    assert one.X.tobytes() != make_network("grid", 6, 50, random_state=5, sweeps=5).X.tobytes()


def test_one_variable_is_a_network_without_edges() -> None:
    for kind in ("chain", "grid", "random"):
        made = make_network(kind, 1, 5, degree=0.0, sweeps=1)  # type: ignore[arg-type]
        assert made.edges == []
        assert made.X.shape == (5, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "star"}, "kind is 'star'; give chain, grid or random"),
        ({"kind": "grid", "n_variables": 7}, "n_variables is 7, which is prime, so no grid has as many"),
        (
            {"kind": "random", "n_variables": 4, "degree": 4.0},
            "degree is 4, but 4 variables have at most 3 neighbours",
        ),
        ({"n_variables": 0}, "n_variables is 0; give a whole number that is 1 or more"),
        ({"n_samples": 2.5}, r"n_samples is 2\.5; give a whole number"),
        ({"n_states": 1}, "n_states is 1; give a whole number that is 2 or more"),
        ({"coupling": float("nan")}, "coupling is nan; give a number that is 0 or more"),
        ({"field": -1.0}, r"field is -1\.0; give a number"),
    ],
)
def test_refusals(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        make_network(**arguments)
