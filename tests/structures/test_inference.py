"""What engines have in common: each says whether it is exact, and reports how far it got."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brute_force import enumerate_graph
from parsimon.structures import BeliefPropagation, InferenceReport, JunctionTree, PairwiseMRF
from parsimon.structures.graph import Graph
from random_graphs import copied, random_graph, random_scores

ENGINES = {
    "junction tree": JunctionTree(),
    "belief propagation": BeliefPropagation(tol=1e-12, max_sweeps=500),
}
every_inference = pytest.mark.parametrize("inference", ENGINES.values(), ids=ENGINES)


def test_a_report_of_exact_inference_has_converged() -> None:
    report = InferenceReport.exact(3)
    assert report.all_converged
    assert [len(each) for each in vars(report).values()] == [3, 3, 3, 3]
    assert not report.residual.any()
    assert InferenceReport.exact(0).all_converged


def test_all_have_converged_only_if_each_has() -> None:
    ones = np.ones(2)
    assert not InferenceReport(ones.astype(int), ones, ones, np.array([True, False])).all_converged


@every_inference
def test_engines_answer_and_report_instance_by_instance(inference: Any) -> None:
    """On graphs without a loop, where all of them are right."""
    random = np.random.default_rng(0)
    graphs = [
        Graph.single([2, 3, 2], [(0, 1), (1, 2)]),
        Graph.single([2, 2], [(0, 1)]),
        Graph.single([3], []),
    ]
    graph = Graph.union(graphs)
    scores, engine = random_scores(random, graph), inference.engine(graph, 1)
    log_z, parts = engine.marginals(copied(scores))
    every = list(enumerate_graph(graph, scores))
    assert log_z == pytest.approx([each.log_z for _, each in every])
    assert engine.report is not None
    assert engine.report.all_converged
    assert len(engine.report.converged) == 3
    best = engine.argmax(copied(scores))
    for nodes, each in every:
        np.testing.assert_array_equal(best[nodes], each.states[np.argmax(each.scores)])
    narrow = engine.restrict(graph, np.arange(len(graph.edges)))
    np.testing.assert_allclose(narrow.marginals(copied(scores))[1].node, parts.node, atol=1e-9)


@every_inference
def test_who_says_to_be_exact_is_so_on_graphs_with_loops(inference: Any) -> None:
    random, wrong = np.random.default_rng(1), 0.0
    for _ in range(10):
        graph = random_graph(random, 5)
        scores = random_scores(random, graph, scale=2.0)
        log_z, _ = PairwiseMRF(graph, inference=inference).marginals(copied(scores))
        ((_, outputs),) = enumerate_graph(graph, scores)
        wrong = max(wrong, abs(float(log_z[0]) - outputs.log_z))
    assert inference.exact == (wrong < 1e-9)
