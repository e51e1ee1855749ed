"""Pairwise Markov random fields: costs, losses, samples and parts against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_graph
from parsimon.errors import ParsimonError
from parsimon.losses import Hinge, Log, Perceptron, PseudoLikelihood, SmoothedHinge
from parsimon.structures import BeliefPropagation, Graph, JunctionTree, MRFParts, PairwiseMRF, Table
from parsimon.structures.belief_propagation import SCHEDULES
from random_graphs import assert_close, copied, random_graph, random_scores, random_tree, seeds


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
def test_the_same_bits_for_any_number_of_threads(schedule: str) -> None:
    rng = np.random.default_rng(3)
    graph = Graph.union([Graph.complete([2] * 100), *(random_graph(rng, 9) for _ in range(8))])
    scores = random_scores(rng, graph, scale=0.1)
    output = np.array([rng.integers(K) for K in graph.arity])
    found = []
    for threads in (1, 3):
        how = BeliefPropagation(schedule=schedule, max_sweeps=4)
        mrf = PairwiseMRF(graph, inference=how, threads=threads)
        log_z, marginals = mrf.marginals(copied(scores))
        best, states = mrf.argmax(scores)
        values, parts, moments = mrf.conditionals(scores, output)
        draws = mrf.sample(scores, 6, seed=1, burn_in=3, chains=4)
        found.append(
            [
                log_z,
                marginals.node,
                marginals.edge,
                best,
                states,
                values,
                parts.node,
                parts.edge,
                moments,
                draws,
            ]
        )
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


def test_gibbs_sampling_comes_near_exact_marginals() -> None:
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 6, share=0.6, arity=[2, 3, 2, 1, 3, 2])
    scores = random_scores(rng, graph, scale=0.7)
    mrf = PairwiseMRF(graph)
    draws = mrf.sample(scores, 40_000, seed=7, burn_in=200, thin=2, chains=8)
    ((_, outputs),) = enumerate_graph(graph, scores)
    shares = Table(draws, graph.arity).means(graph)
    assert_close(shares, outputs.marginals(), atol=0.02)
    assert not np.array_equal(draws[0], draws[-1]) or len(np.unique(draws, axis=0)) > 1
    np.testing.assert_array_equal(draws, mrf.sample(scores, 40_000, seed=7, burn_in=200, thin=2, chains=8))
    given_states = np.array([1, -1, -1, -1, 2, -1])
    fixed = mrf.sample(mrf.constrain(scores, given_states), 4000, seed=2, start=given_states)
    assert np.all(fixed[:, [0, 4]] == [1, 2])
    ((_, outputs),) = enumerate_graph(graph, mrf.constrain(scores, given_states))
    assert_close(Table(fixed, graph.arity).means(graph), outputs.marginals(), atol=0.05)


def test_chains_are_independent_and_begin_where_they_are_told() -> None:
    graph = Graph.complete([2] * 30)
    scores = MRFParts.zeros(graph)
    mrf = PairwiseMRF(graph)
    one, two = mrf.sample(scores, 2, burn_in=1, chains=2)
    assert 3 < np.sum(one != two) < 27
    scores.edge.reshape(-1, 4)[:, [0, 3]] = 50.0  # nobody ever turns over
    for state in (0, 1):
        assert np.all(mrf.sample(scores, 3, start=np.full(30, state)) == state)
    with pytest.raises(ParsimonError, match="must be at least 1"):
        mrf.sample(scores, 0)


def test_variances_are_the_second_derivatives_of_nodes() -> None:
    rng = np.random.default_rng(1)
    graph = random_tree(rng, 5, [2, 3, 2, 3, 2], joined=1.0)
    weights = np.array([2.5])
    mrf = PairwiseMRF(graph, weights=weights, inference=BeliefPropagation(tol=1e-13))
    rows = np.column_stack([rng.integers(K, size=7) for K in graph.arity])
    table, step = Table(rows, graph.arity), 1e-5
    scores = random_scores(rng, graph, scale=0.5)
    for loss in (Log(), PseudoLikelihood()):
        _, _, marginals = loss.with_marginals(mrf, copied(scores), table)
        variances = loss.variances(mrf, marginals)
        for i in range(len(scores.node)):
            slopes = []
            for sign in (1, -1):
                moved = copied(scores)
                moved.node[i] += sign * step
                slopes.append(loss(mrf, moved, table)[1].node[i])
            assert (slopes[0] - slopes[1]) / (2 * step) == pytest.approx(variances.node[i], abs=1e-6)
    silent = MRFParts(scores.node, np.zeros_like(scores.edge))  # then what is nearly right is right
    moments = mrf.conditionals(silent, table)[2]
    u, v = graph.ends_of_parts
    p, means = moments[0], table.means(graph).node
    expected = p[u] * (1 - p[u]) * means[v] + p[v] * (1 - p[v]) * means[u]
    moments[0] = means  # at the optimum they are the same
    np.testing.assert_allclose(mrf.conditional_variances(moments).edge, 2.5 * expected, atol=1e-12)


@given(seeds, st.booleans(), st.booleans())
def test_costs_and_losses_by_enumeration(seed: int, weighted: bool, alike: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.union([random_graph(rng, n, arity=[3] * n) for n in (4, 2, 3)])
    weights = rng.random(3) if weighted else None
    mrf = PairwiseMRF(graph, weights=weights, inference=JunctionTree())
    scores = random_scores(rng, graph)
    gold = rng.integers(0, 3, graph.n_nodes)
    table = rng.uniform(0, 2, (3, 3)) * (1 - np.eye(3))
    cost: Any = 1.5 if alike else table
    each = 1.5 * (1 - np.eye(3)) if alike else table
    weight = np.ones(3) if weights is None else weights
    hinge = perceptron = smooth = expected_cost = 0.0
    for w, (nodes, outputs) in zip(weight, enumerate_graph(graph, scores), strict=True):
        costs = each[gold[nodes], outputs.states].sum(axis=1)
        (right,) = np.flatnonzero((outputs.states == gold[nodes]).all(axis=1))
        mine = outputs.scores[right]
        hinge += w * ((outputs.scores + costs).max() - mine)
        perceptron += w * (outputs.scores.max() - mine)
        smooth += w * (0.5 * np.log(np.exp((outputs.scores + costs) / 0.5).sum()) - mine)
        expected_cost += w * float(outputs.probabilities @ costs)
    assert Hinge(cost)(mrf, copied(scores), gold)[0] == pytest.approx(hinge)
    assert Perceptron()(mrf, copied(scores), gold)[0] == pytest.approx(perceptron)
    assert SmoothedHinge(0.5, cost)(mrf, copied(scores), gold)[0] == pytest.approx(smooth)
    _, parts = Log()(mrf, copied(scores), gold)
    assert mrf.expected_cost(parts, gold, cost) == pytest.approx(expected_cost)
    best, states = mrf.cost_argmax(scores, gold, cost)
    np.testing.assert_allclose(best, mrf.score(scores, states) + mrf.cost(gold, states, cost))
    np.testing.assert_allclose(mrf.log_outputs(), np.log(3) * np.array([4, 2, 3]))


@given(seeds)
def test_missing_states_are_summed_over(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    mrf, scores = PairwiseMRF(graph, inference=JunctionTree()), random_scores(rng, graph)
    gold = np.where(rng.random(5) < 0.5, [rng.integers(K) for K in graph.arity], -1)
    ((_, outputs),) = enumerate_graph(graph, scores)
    agree = ((outputs.states == gold) | (gold < 0)).all(axis=1)
    value, _ = Log()(mrf, copied(scores), gold)
    assert value == pytest.approx(-np.log(outputs.probabilities[agree].sum()), abs=1e-9)


@given(seeds)
def test_parts_are_batches_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.union([random_graph(rng, int(n)) for n in rng.integers(1, 5, 4)])
    mrf = PairwiseMRF(graph, weights=rng.random(4), inference=JunctionTree())
    scores = random_scores(rng, graph)
    log_z, marginals = mrf.marginals(scores)
    some, where = mrf.part(1, 3)
    of_nodes, of_edges = graph.node_at[[where.start, where.stop]], graph.edge_at[graph.edge_start[[1, 3]]]
    of_some = MRFParts(scores.node[slice(*of_nodes)], scores.edge[slice(*of_edges)])
    found, parts = some.marginals(of_some)
    np.testing.assert_allclose(found, log_z[1:3], atol=1e-12)
    assert_close(parts, MRFParts(marginals.node[slice(*of_nodes)], marginals.edge[slice(*of_edges)]))
    assert some.first == 1
    output = np.array([rng.integers(K) for K in graph.arity])
    indicators = mrf.indicators(output)
    assert indicators.node @ scores.node + indicators.edge @ scores.edge == pytest.approx(
        mrf.weigh(mrf.score(scores, output))
    )


def test_tables_and_costs_that_do_not_fit_are_refused() -> None:
    table = Table([[0, 1]], [2, 2])
    two = PairwiseMRF(Graph.union([Graph.complete([2, 2])] * 2))
    with pytest.raises(ParsimonError, match="one instance, and there are 2"):
        two.indicators(table)
    other = PairwiseMRF(Graph.complete([2, 3]))
    with pytest.raises(ParsimonError, match="does not fit a graph whose variables have 2, 3"):
        other.indicators(table)
    with pytest.raises(ParsimonError, match="cost compares one output with another"):
        other.augment(MRFParts.zeros(other.graph), table, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match="table of costs for 2 states"):
        other.augment(MRFParts.zeros(other.graph), np.zeros(2, int), np.zeros((2, 2)))
