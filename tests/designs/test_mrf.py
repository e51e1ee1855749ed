"""Φ for Markov random fields: against features written out, and whole problems against CVXPY over all outputs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from parsimon.designs.mrf import MRFDesign, contrast_code
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Batch, InMemoryProblem
from parsimon.solvers import FISTA, LBFGS, OWLQN, ActiveGroups, FrankWolfe, WorkingSet, drive
from parsimon.solvers.base import check_compatible
from parsimon.structures import BeliefPropagation, Graph, JunctionTree, MRFParts, PairwiseMRF, Table
from parsimon.weights import Weights

seeds = st.integers(0, 10**6)


def random_graph(rng: Any, n: int, *, arity: Any = None, share: float = 0.6) -> Graph:
    every = np.column_stack(np.triu_indices(n, 1))
    return Graph.single(
        rng.integers(1, 4, n) if arity is None else arity, every[rng.random(len(every)) < share]
    )


def coded_features(graph: Graph, states: Any, code: Any) -> Any:
    """f(output) of a model without inputs, from its definition."""
    rows = [code(K)[x] for K, x in zip(graph.arity.tolist(), states, strict=True)]
    pairs = [np.outer(rows[u], rows[v]).ravel() for u, v in graph.edges.tolist()]
    return np.concatenate([*rows, *pairs])


def tied_features(graph: Graph, states: Any, node_values: Any, edge_values: Any) -> Any:
    """f(output) of a model with inputs, summed over instances."""
    K = int(graph.arity[0])
    node = np.einsum("va,vy->ay", node_values, np.eye(K)[states])
    u, v = graph.edges.T
    edge = np.einsum("eb,ey->by", edge_values, np.eye(K * K)[states[u] * K + states[v]])
    return np.concatenate([node.ravel(), edge.ravel()])


def outputs_of(graph: Graph) -> Any:
    return np.array(list(itertools.product(*(range(K) for K in graph.arity.tolist()))))


# --- the map ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 7])
def test_contrasts_are_orthogonal_to_each_other_and_to_one(n_states: int) -> None:
    code = contrast_code(n_states)
    assert code.shape == (n_states, n_states - 1)
    np.testing.assert_allclose(code.T @ code, n_states * np.eye(n_states - 1), atol=1e-12)
    np.testing.assert_allclose(code.sum(axis=0), 0.0, atol=1e-12)


@given(seeds, st.booleans())
def test_coded_scores_are_those_of_the_features_written_out(seed: int, contrasts: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    code: Any = contrast_code if contrasts else np.eye
    design = MRFDesign.contrasts(graph) if contrasts else MRFDesign.indicators(graph)
    w = rng.normal(size=design.n_features)
    mrf, scores = PairwiseMRF(graph), design.scores(w)
    output = np.array([rng.integers(K) for K in graph.arity])
    features = coded_features(graph, output, code)
    assert mrf.score(scores, output)[0] == pytest.approx(features @ w)
    back = np.zeros(design.n_features)
    design.pullback(mrf.indicators(output), back)
    np.testing.assert_allclose(back, features, atol=1e-12)
    for e, (u, v) in enumerate(graph.edges.tolist()):
        own = np.outer(code(graph.arity[u])[output[u]], code(graph.arity[v])[output[v]]).ravel()
        np.testing.assert_allclose(features[list(design.edge_features(e))], own)
    for v in range(graph.n_nodes):
        np.testing.assert_allclose(features[list(design.node_features(v))], code(graph.arity[v])[output[v]])


def conditional_case(rng: Any, *, sparse_values: bool = False) -> tuple[Graph, Any, Any, MRFDesign]:
    graph = Graph.union([random_graph(rng, int(n), arity=[3] * n) for n in (3, 1, 4, 2)])
    node_values = rng.normal(size=(graph.n_nodes, 4)) * (rng.random((graph.n_nodes, 4)) < 0.6)
    edge_values = rng.integers(0, 2, (graph.n_edges, 2)).astype(float)
    given_values = sparse.csr_matrix(node_values) if sparse_values else node_values
    return graph, node_values, edge_values, MRFDesign.conditional(graph, given_values, edge_values)


@given(seeds, st.booleans())
def test_conditional_scores_are_those_of_the_features_written_out(seed: int, sparse_values: bool) -> None:
    rng = np.random.default_rng(seed)
    graph, node_values, edge_values, design = conditional_case(rng, sparse_values=sparse_values)
    w, mrf = rng.normal(size=design.n_features), PairwiseMRF(graph)
    output = rng.integers(0, 3, graph.n_nodes)
    features = tied_features(graph, output, node_values, edge_values)
    assert mrf.score(design.scores(w), output).sum() == pytest.approx(features @ w)
    back, squared = np.zeros(design.n_features), np.zeros(design.n_features)
    design.pullback(mrf.indicators(output), back)
    design.pullback_squared(mrf.indicators(output), squared)
    np.testing.assert_allclose(back, features, atol=1e-12)
    np.testing.assert_allclose(
        squared, tied_features(graph, output, node_values**2, edge_values**2), atol=1e-12
    )


@given(seeds, st.booleans())
def test_restricted_maps_score_alike_and_leave_out_silent_edges(seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    if tied:
        graph, _, _, design = conditional_case(rng)
    else:
        graph = random_graph(rng, 6)
        design = MRFDesign.contrasts(graph)
    if not design.n_features:
        return
    mrf = PairwiseMRF(graph, weights=rng.random(graph.n_instances))
    problem = InMemoryProblem(
        (Batch(design, mrf, np.array([rng.integers(K) for K in graph.arity])),),
        get_loss("pseudo-likelihood"),
        ElasticNet(),
        design.n_features,
    )
    features = np.flatnonzero(rng.random(design.n_features) < 0.3)
    w = np.zeros(design.n_features)
    w[features] = rng.normal(size=len(features))
    small = problem.restrict(features)
    twice = problem.restrict(np.arange(design.n_features)).restrict(features)
    value, gradient = problem.loss_and_gradient(w)
    for restricted in (small, twice):
        found, of_few = restricted.loss_and_gradient(w[features])
        assert found == pytest.approx(value)
        np.testing.assert_allclose(of_few, gradient[features], atol=1e-10)
        part: Any = restricted.batches[0]
        assert part.structure.graph.n_edges == len(part.design.edge_numbers)
        np.testing.assert_array_equal(part.structure.edge_numbers, part.design.edge_numbers)
    if not tied:
        kept = [e for e in range(graph.n_edges) if np.isin(list(design.edge_features(e)), features).any()]
        restricted_design: Any = small.batches[0].design
        assert restricted_design.edge_numbers.tolist() == kept
        for e in range(graph.n_edges):
            mine = features[list(restricted_design.edge_features(e))]
            assert mine.tolist() == [f for f in design.edge_features(e) if f in features]
    full, of_all = problem.loss_and_gradient(Weights(w[features], features, problem.n_features))
    assert full == pytest.approx(value)
    np.testing.assert_allclose(of_all, gradient, atol=1e-10)


@given(seeds)
def test_parts_of_batches_score_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, _, _, design = conditional_case(rng)
    gold = rng.integers(0, 3, graph.n_nodes)
    problem = InMemoryProblem(
        (Batch(design, PairwiseMRF(graph, weights=rng.random(4)), gold),),
        get_loss("pseudo-likelihood"),
        ElasticNet(),
        design.n_features,
    )
    w = rng.normal(size=design.n_features)
    chunks = replace(problem, batches=tuple(batch for chunk in problem.chunks(2) for batch in chunk.batches))
    assert len(chunks.batches) == 2
    value, gradient = problem.loss_and_gradient(w)
    found, of_chunks = chunks.loss_and_gradient(w)
    assert found == pytest.approx(value)
    np.testing.assert_allclose(of_chunks, gradient, atol=1e-10)


@given(seeds, st.booleans())
def test_differences_are_those_of_the_features(seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    if tied:
        graph, _, _, design = conditional_case(rng)
    else:
        graph = Graph.union([random_graph(rng, 4), random_graph(rng, 3)])
        design = MRFDesign.contrasts(graph)
    mrf = PairwiseMRF(graph)
    gold, output = (np.array([rng.integers(K) for K in graph.arity]) for _ in range(2))
    found = np.zeros(design.n_features)
    for offset, start, index, value in design.differences(mrf, gold, output):
        assert len(start) == graph.n_instances + 1
        np.add.at(found, offset + index, value)
    expected = np.zeros(design.n_features)
    parts = mrf.indicators(gold)
    mrf.add_output(parts, output, -1.0)
    design.pullback(parts, expected)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_inputs_that_do_not_fit_are_refused() -> None:
    graph = Graph.complete([2, 2])
    with pytest.raises(ParsimonError, match="node_values has 3 rows, but there must be 2"):
        MRFDesign.conditional(graph, np.ones((3, 1)))
    with pytest.raises(ParsimonError, match="edge_values has a value that is not a finite number"):
        MRFDesign.conditional(graph, np.ones((2, 1)), [[np.nan]])
    with pytest.raises(ParsimonError, match=r"these have \[2, 3\]"):
        MRFDesign.conditional(Graph.complete([2, 3]), np.ones((2, 1)))
    with pytest.raises(ParsimonError, match="no features of their own"):
        MRFDesign.conditional(graph, np.ones((2, 1))).edge_features(0)


# --- whole problems ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """Rows of a small network, to be learnt."""

    graph: Graph
    rows: Any
    weights: Any = None

    def problem(self, inference: Any, penalty: Penalty, loss: str = "log") -> InMemoryProblem:
        table = Table(self.rows, self.graph.arity, self.weights)
        mrf = PairwiseMRF(self.graph, weights=np.array([table.total]), inference=inference)
        design = MRFDesign.contrasts(self.graph)
        gold: Any = table
        return InMemoryProblem((Batch(design, mrf, gold),), get_loss(loss), penalty, design.n_features)

    def optimum(self, l1: float, group: float, l2: float, loss: str = "log") -> float:
        """By CVXPY, over all outputs; `group` is the strength of a norm of each edge's weights."""
        import cvxpy as cp

        design = MRFDesign.contrasts(self.graph)
        outputs = outputs_of(self.graph)
        F = np.array([coded_features(self.graph, states, contrast_code) for states in outputs])
        w = cp.Variable(F.shape[1])
        weights = np.ones(len(self.rows)) if self.weights is None else self.weights
        of = {tuple(states): i for i, states in enumerate(outputs.tolist())}
        total = l1 * cp.norm1(w) + l2 / 2 * cp.sum_squares(w)
        for e in range(self.graph.n_edges):
            total += group * cp.norm(w[list(design.edge_features(e))])
        if loss == "log":
            shown = np.array([F[of[tuple(row)]] for row in self.rows.tolist()])
            total += weights.sum() * cp.log_sum_exp(F @ w) - (weights @ shown) @ w
        else:
            for (row, weight), (v, K) in itertools.product(
                zip(self.rows.tolist(), weights, strict=True), enumerate(self.graph.arity.tolist())
            ):
                others = [of[(*row[:v], x, *row[v + 1 :])] for x in range(K)]
                total += weight * cp.log_sum_exp((F[others] - F[of[tuple(row)]]) @ w)
        problem = cp.Problem(cp.Minimize(total))
        problem.solve(solver=cp.CLARABEL)
        return float(problem.value)


def network(kind: str) -> Network:
    rng = np.random.default_rng(3)
    arity = [2, 3, 2, 3]
    tree = Graph.single(arity, [(0, 1), (1, 2), (1, 3)])
    graph = tree if kind == "tree" else Graph.complete(arity)
    design = MRFDesign.indicators(tree)
    true = PairwiseMRF(tree)
    scores = design.scores(rng.normal(scale=1.2, size=design.n_features))
    rows = true.sample(scores, 40, seed=1)
    return Network(graph, rows, rng.random(40) if kind == "weighted" else None)


SOLVERS: dict[str, Any] = {
    "owlqn": OWLQN(tol=1e-8),
    "working sets": WorkingSet(tol=1e-8, inner=OWLQN(tol=0.0), sizes=(6, 12), steps=(40, 200)),
    "proximal quasi-newton": WorkingSet(tol=1e-8),
    "fista": FISTA(tol=1e-8),
}
NETWORKS = {
    "junction tree": (network("complete"), JunctionTree()),
    "rows with weights": (network("weighted"), JunctionTree()),
    "belief propagation on a tree": (network("tree"), BeliefPropagation(tol=1e-12)),
}


@pytest.mark.parametrize(("net", "inference"), NETWORKS.values(), ids=NETWORKS)
def test_solvers_and_cvxpy_agree_on_an_l1_penalty(net: Network, inference: Any) -> None:
    optimum = net.optimum(2.0, 0.0, 0.1)
    for solver in SOLVERS.values():
        problem = net.problem(inference, ElasticNet(2.0, 0.1))
        check_compatible(solver, problem, {})
        result = drive(solver, problem, Weights.zeros(problem.n_features))
        assert result.objective == pytest.approx(optimum, rel=1e-6)
        assert 0 < result.weights.n_active < problem.n_features


@pytest.mark.parametrize(("net", "inference"), NETWORKS.values(), ids=NETWORKS)
def test_solvers_and_cvxpy_agree_on_groups_of_edges(net: Network, inference: Any) -> None:
    design = MRFDesign.contrasts(net.graph)
    lists = [list(design.edge_features(e)) for e in range(net.graph.n_edges)]
    groups = Groups.from_lists(lists, design.n_features, weight="ones")
    penalty = GroupLasso(4.0, groups, l2=0.1)
    optimum = net.optimum(0.0, 4.0, 0.1)
    for solver in (
        FISTA(tol=1e-8),
        ActiveGroups(tol=1e-6),
        WorkingSet(tol=1e-8, inner=FISTA(tol=0.0), steps=(50, 2000)),
    ):
        problem = net.problem(inference, penalty)
        result = drive(solver, problem, Weights.zeros(problem.n_features))
        assert result.objective == pytest.approx(optimum, rel=1e-5)


def test_pseudo_likelihood_is_solved_as_cvxpy_does() -> None:
    net = network("weighted")
    optimum = net.optimum(2.0, 0.0, 0.1, loss="pseudo-likelihood")
    for solver in SOLVERS.values():
        problem = net.problem(BeliefPropagation(), ElasticNet(2.0, 0.1), "pseudo-likelihood")
        check_compatible(solver, problem, {})
        result = drive(solver, problem, Weights.zeros(problem.n_features))
        assert result.objective == pytest.approx(optimum, rel=1e-6)


def test_a_gap_is_claimed_for_exact_inference_only() -> None:
    net = network("complete")
    gaps = []
    for inference in (JunctionTree(), BeliefPropagation()):
        problem = net.problem(inference, ElasticNet(2.0))
        gaps.append(drive(WorkingSet(tol=1e-6), problem, Weights.zeros(problem.n_features)).gap)
    assert gaps[0] == pytest.approx(0.0, abs=1e-2)
    assert gaps[1] is None


@given(seeds, st.sampled_from(["log", "pseudo-likelihood"]))
def test_gradients_by_finite_differences(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    graph, _, _, design = conditional_case(rng)
    mrf = PairwiseMRF(graph, weights=rng.random(4), inference=JunctionTree())
    batch = Batch(design, mrf, rng.integers(0, 3, graph.n_nodes))
    problem = InMemoryProblem((batch,), get_loss(loss), ElasticNet(), design.n_features)
    w, step = 0.5 * rng.normal(size=design.n_features), 1e-5
    _, gradient = problem.loss_and_gradient(w)
    for k in rng.permutation(design.n_features)[:6]:
        move = step * (np.arange(len(w)) == k)
        ends = [problem.loss_and_gradient(w + sign * move)[0] for sign in (1, -1)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(gradient[k], abs=1e-6)


def test_conditional_models_learn_what_they_are_shown() -> None:
    """Noisy grids: neighbours are alike, and the inputs tell a little of every variable."""
    rng = np.random.default_rng(0)
    side = 6
    at = np.arange(side * side).reshape(side, side)
    down, across = (at[:-1], at[1:]), (at[:, :-1], at[:, 1:])
    edges = np.concatenate([np.column_stack([u.ravel(), v.ravel()]) for u, v in (down, across)])
    one = Graph.single([2] * side**2, edges)
    graph = Graph.union([one] * 12)
    alike = MRFParts(np.zeros(2 * one.n_nodes), np.tile([0.8, 0.0, 0.0, 0.8], one.n_edges))
    gold = PairwiseMRF(one).sample(alike, 12, seed=2).reshape(-1)
    seen = np.column_stack([gold - 0.5 + rng.normal(scale=1.0, size=len(gold)), np.ones(len(gold))])
    design = MRFDesign.conditional(graph, seen)
    mrf = PairwiseMRF(graph)
    problem = InMemoryProblem(
        (Batch(design, mrf, gold),), get_loss("log"), ElasticNet(l2=0.1), design.n_features
    )
    learnt = drive(LBFGS(tol=1e-5), problem, Weights.zeros(design.n_features)).weights.dense()
    _, states = mrf.argmax(design.scores(learnt))
    alone = (seen[:, 0] > 0).astype(int)
    assert np.mean(states == gold) > np.mean(alone == gold) + 0.05
    pair = learnt[-4:]
    assert pair[0] + pair[3] > pair[1] + pair[2]


def test_margins_are_learnt_from_exact_outputs() -> None:
    rng = np.random.default_rng(1)
    graph, _, _, design = conditional_case(rng)
    gold = rng.integers(0, 3, graph.n_nodes)
    mrf = PairwiseMRF(graph, inference=JunctionTree())
    problem = InMemoryProblem(
        (Batch(design, mrf, gold),), get_loss("hinge"), ElasticNet(l2=0.5), design.n_features
    )
    check_compatible(FrankWolfe(), problem, {})
    result = drive(FrankWolfe(tol=1e-6), problem, Weights.zeros(design.n_features))
    assert result.objective < problem.objective(np.zeros(design.n_features))
    assert result.gap is not None
    assert result.gap <= 1e-3 * result.objective
