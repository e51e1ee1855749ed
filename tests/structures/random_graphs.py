"""Random graphs and scores of Markov random fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from parsimon.structures import Graph, MRFParts

seeds = st.integers(0, 10**6)


def random_tree(rng: Any, n: int, arity: Any = None, *, joined: float = 0.8) -> Graph:
    """Every variable but the first may hang on an earlier one; variables are then numbered anew."""
    name = rng.permutation(n)
    edges = [sorted((name[v], name[rng.integers(v)])) for v in range(1, n) if rng.random() < joined]
    arity = rng.integers(1, 5, n) if arity is None else arity
    return Graph.single(arity, sorted(edges))


def random_graph(rng: Any, n: int, *, share: float = 0.5, arity: Any = None) -> Graph:
    every = np.column_stack(np.triu_indices(n, 1))
    arity = rng.integers(1, 4, n) if arity is None else arity
    return Graph.single(arity, every[rng.random(len(every)) < share])


def random_scores(rng: Any, graph: Graph, scale: float = 1.5, *, zero: float = 0.0) -> MRFParts:
    """Normal scores; a share of edges has none."""
    scores = MRFParts.zeros(graph)
    scores.node[:] = rng.normal(scale=scale, size=len(scores.node))
    silent = np.repeat(rng.random(graph.n_edges) < zero, np.diff(graph.edge_at))
    scores.edge[:] = np.where(silent, 0.0, rng.normal(scale=scale, size=len(scores.edge)))
    return scores


def copied(scores: MRFParts) -> MRFParts:
    return MRFParts(scores.node.copy(), scores.edge.copy())


def assert_close(parts: MRFParts, expected: MRFParts, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(parts.node, expected.node, atol=atol)
    np.testing.assert_allclose(parts.edge, expected.edge, atol=atol)
