"""The pseudo-likelihood, by enumeration of the states of single variables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from brute_force import enumerate_graph
from parsimon.losses import PseudoLikelihood
from parsimon.structures import Graph, PairwiseMRF
from random_graphs import copied, random_graph, random_scores, seeds


@given(seeds)
def test_pseudo_likelihood_is_its_definition_and_its_gradient_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.union([random_graph(rng, 4), random_graph(rng, 3)])
    weights = rng.random(2)
    mrf = PairwiseMRF(graph, weights=weights)
    scores = random_scores(rng, graph, zero=0.3)
    gold = np.array([rng.integers(K) for K in graph.arity])
    value, parts = PseudoLikelihood()(mrf, scores, gold)
    expected = [
        each.conditional_log_probability(gold[nodes]) for nodes, each in enumerate_graph(graph, scores)
    ]
    assert value == pytest.approx(-weights @ expected)
    step = 1e-6
    for name in ("node", "edge"):
        for i in range(len(getattr(scores, name))):
            ends = []
            for sign in (1, -1):
                moved = copied(scores)
                getattr(moved, name)[i] += sign * step
                ends.append(PseudoLikelihood()(mrf, moved, gold)[0])
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(getattr(parts, name)[i], abs=1e-7)
