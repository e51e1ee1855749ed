"""Tables of states: they count as all their rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_graph
from parsimon.errors import ParsimonError
from parsimon.losses import Log, PseudoLikelihood
from parsimon.structures import Graph, JunctionTree, MRFParts, PairwiseMRF, Table
from random_graphs import assert_close, copied, random_graph, random_scores, seeds


@given(seeds, st.booleans())
def test_a_table_counts_as_all_its_rows(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    rows = np.column_stack([rng.integers(K, size=9) for K in graph.arity])
    weights = rng.random(9) if weighted else None
    table = Table(rows, graph.arity, weights)
    scores = random_scores(rng, graph)
    one = PairwiseMRF(graph, weights=np.array([table.total]), inference=JunctionTree())
    many = Graph.union([graph] * 9)
    each = PairwiseMRF(many, weights=weights, inference=JunctionTree())
    repeated = MRFParts(np.tile(scores.node, 9), np.tile(scores.edge, 9))
    for loss in (Log(), PseudoLikelihood()):
        value, parts, marginals = loss.with_marginals(one, copied(scores), table)
        expected, of_each, of_rows = loss.with_marginals(each, copied(repeated), rows.reshape(-1))
        assert value == pytest.approx(expected, rel=1e-9)
        assert_close(parts, MRFParts(of_each.node.reshape(9, -1).sum(0), of_each.edge.reshape(9, -1).sum(0)))
        second, of_second = loss.variances(one, marginals), loss.variances(each, of_rows)
        np.testing.assert_allclose(second.node, of_second.node.reshape(9, -1).sum(0), atol=1e-9)
    np.testing.assert_array_equal(table.rows, rows)


def test_many_rows_are_counted_in_pieces() -> None:
    rng = np.random.default_rng(0)
    arity = [2, 3, 2]
    rows = np.column_stack([rng.integers(K, size=10_000) for K in arity])
    graph = Graph.complete(arity)
    means = Table(rows, arity).means(graph)
    indicators = MRFParts.zeros(graph)
    for row in rows:
        node, edge = graph.places(row)
        indicators.node[node] += 1e-4
        indicators.edge[edge] += 1e-4
    assert_close(means, indicators, atol=1e-9)
    mrf = PairwiseMRF(graph)
    scores = random_scores(rng, graph)
    values, _, _ = mrf.conditionals(scores, Table(rows, arity))
    ((_, outputs),) = enumerate_graph(graph, scores)
    each = {
        tuple(row): outputs.conditional_log_probability(np.array(row)) for row in {*map(tuple, rows.tolist())}
    }
    assert values[0] == pytest.approx(-np.mean([each[tuple(row)] for row in rows.tolist()]))


def test_tables_that_are_none_are_refused() -> None:
    for rows, weights, message in (
        ([[0, 2]], None, "row 0 of the table has the state 2 of variable 1"),
        ([[0, -1]], None, "the state -1 of variable 1"),
        ([[0, 1, 1]], None, "needs as many columns"),
        ([[0.5, 1.0]], None, "whole numbers"),
        ([[0, 1]], [-1.0], "none below zero"),
        (np.zeros((0, 2), int), None, "at least one row"),
    ):
        with pytest.raises(ParsimonError, match=message):
            Table(rows, [2, 2], weights)
