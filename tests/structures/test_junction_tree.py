"""Exact inference by elimination: against enumeration, against belief propagation on trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_graph
from parsimon.errors import ParsimonError
from parsimon.structures import BeliefPropagation, Graph, JunctionTree, MRFParts, PairwiseMRF
from parsimon.structures.junction_tree import bucket_trees

seeds = st.integers(0, 10**6)


def random_case(seed: int, *, zero: float, sizes: tuple[int, ...] = (5, 1, 4)) -> tuple[Any, Graph, MRFParts]:
    """Several instances of any shape, with mixed arities; a share of the edges does not score."""
    rng = np.random.default_rng(seed)
    graphs = []
    for n in sizes:
        every = np.column_stack(np.triu_indices(n, 1))
        graphs.append(Graph.single(rng.integers(1, 4, n), every[rng.random(len(every)) < rng.random()]))
    graph = Graph.union(graphs)
    scores = MRFParts(rng.normal(size=graph.node_at[-1]), rng.normal(size=graph.edge_at[-1]))
    silent = np.repeat(rng.random(graph.n_edges) < zero, np.diff(graph.edge_at))
    scores.edge[silent] = 0.0
    return rng, graph, scores


@given(seeds, st.sampled_from([0.0, 0.6]), st.booleans())
def test_any_graph_by_enumeration(seed: int, zero: float, constrained: bool) -> None:
    rng, graph, scores = random_case(seed, zero=zero)
    mrf = PairwiseMRF(graph, inference=JunctionTree())
    if constrained:
        given_states = np.where(rng.random(graph.n_nodes) < 0.4, [rng.integers(K) for K in graph.arity], -1)
        scores = mrf.constrain(scores, given_states)
    log_z, marginals = mrf.marginals(scores)
    best, states = mrf.argmax(scores)
    enumerations = [each for _, each in enumerate_graph(graph, scores)]
    np.testing.assert_allclose(log_z, [each.log_z for each in enumerations], atol=1e-9)
    expected = [each.marginals() for each in enumerations]
    np.testing.assert_allclose(marginals.node, np.concatenate([each.node for each in expected]), atol=1e-9)
    np.testing.assert_allclose(marginals.edge, np.concatenate([each.edge for each in expected]), atol=1e-9)
    np.testing.assert_allclose(best, [each.scores.max() for each in enumerations], atol=1e-9)
    np.testing.assert_allclose(mrf.score(scores, states), best)
    assert mrf.exact
    assert mrf.inference_report is not None
    assert mrf.inference_report.all_converged


@given(seeds)
def test_forbidden_pairs_have_no_share(seed: int) -> None:
    rng, graph, scores = random_case(seed, zero=0.3)
    output = np.array([rng.integers(K) for K in graph.arity])
    forbidden = np.flatnonzero(rng.random(len(scores.edge)) < 0.3)
    scores.edge[np.setdiff1d(forbidden, graph.places(output)[1])] = -np.inf
    log_z, marginals = PairwiseMRF(graph, inference=JunctionTree()).marginals(scores)
    enumerations = [each for _, each in enumerate_graph(graph, scores)]
    np.testing.assert_allclose(log_z, [each.log_z for each in enumerations], atol=1e-9)
    expected = np.concatenate([each.marginals().edge for each in enumerations])
    np.testing.assert_allclose(marginals.edge, expected, atol=1e-9)


@given(seeds)
def test_large_trees_agree_with_belief_propagation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    edges = [(int(rng.integers(v)), v) for v in range(1, n)]
    graph = Graph.single(rng.integers(1, 5, n), edges)
    scores = MRFParts(rng.normal(size=graph.node_at[-1]), rng.normal(scale=2.0, size=graph.edge_at[-1]))
    log_z, marginals = PairwiseMRF(graph, inference=JunctionTree()).marginals(scores)
    found, beliefs = PairwiseMRF(graph, inference=BeliefPropagation()).marginals(scores)
    np.testing.assert_allclose(log_z, found, rtol=1e-11)
    np.testing.assert_allclose(marginals.node, beliefs.node, atol=1e-11)
    np.testing.assert_allclose(marginals.edge, beliefs.edge, atol=1e-11)


def test_huge_scores_stay_finite() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.complete([2, 3, 2, 3])
    scores = MRFParts(
        rng.choice([-500.0, 500.0], graph.node_at[-1]), rng.choice([-500.0, 500.0], graph.edge_at[-1])
    )
    log_z, marginals = PairwiseMRF(graph, inference=JunctionTree()).marginals(scores)
    ((_, outputs),) = enumerate_graph(graph, scores)
    assert log_z[0] == pytest.approx(outputs.log_z, rel=1e-12)
    np.testing.assert_allclose(marginals.edge, outputs.marginals().edge, atol=1e-9)


@given(seeds)
def test_a_grid_needs_no_more_than_its_width(seed: int) -> None:
    """A 3 × 12 grid, eliminated column by column, has buckets of four variables; min-fill comes near that."""
    at = np.arange(36).reshape(12, 3)
    edges = np.concatenate(
        [
            np.column_stack([at[:-1].ravel(), at[1:].ravel()]),
            np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()]),
        ]
    )
    name = np.random.default_rng(seed).permutation(36)
    graph = Graph.single([2] * 36, sorted(map(tuple, np.sort(name[edges], axis=1).tolist())))
    (tree,) = bucket_trees(graph, np.arange(graph.n_edges), 2**6)
    assert max(map(len, tree.buckets)) <= 5
    for i, bucket in enumerate(tree.buckets[:-1]):  # what a bucket sends fits where it goes
        assert set(bucket[1:]) <= set(tree.buckets[tree.place[bucket[1]]])
        assert tree.place[bucket[1]] > i


def test_buckets_that_are_too_large_are_refused() -> None:
    graph = Graph.complete([2] * 12)
    scores = MRFParts.zeros(graph)
    scores.edge[:] = 1.0
    mrf = PairwiseMRF(graph, inference=JunctionTree(max_states=1000))
    with pytest.raises(
        ParsimonError, match=r"clique of 12 variables with 4,096 joint states.*use belief propagation"
    ):
        mrf.marginals(scores)
    scores.edge[: 4 * 11] = 0.0  # the first variable's
    scores.edge[4 * 15 :] = 0.0
    mrf.marginals(scores)  # what does not score needs no table
    assert mrf.inference_report is not None


def test_impossible_outputs_are_told() -> None:
    graph = Graph.complete([2, 2])
    mrf = PairwiseMRF(graph, inference=JunctionTree())
    scores = MRFParts(np.zeros(4), np.full(4, -np.inf))
    for ask in (mrf.marginals, mrf.argmax):
        with pytest.raises(ParsimonError, match="no possible output of instance 0"):
            ask(scores)
