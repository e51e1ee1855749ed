"""Pairwise Markov random fields: against enumeration, against known properties of belief propagation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import GraphEnumeration, enumerate_graph
from parsimon.errors import ParsimonError
from parsimon.losses import Hinge, Log, Perceptron, PseudoLikelihood, SmoothedHinge
from parsimon.structures import BeliefPropagation, Graph, JunctionTree, MRFParts, PairwiseMRF, Table
from parsimon.structures.belief_propagation import SCHEDULES

seeds = st.integers(0, 10**6)
schedules = st.sampled_from(sorted(SCHEDULES))


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


def joined(enumerations: list[GraphEnumeration]) -> MRFParts:
    of_each = [each.marginals() for each in enumerations]
    return MRFParts(*(np.concatenate([getattr(m, name) for m in of_each]) for name in ("node", "edge")))


def assert_close(parts: MRFParts, expected: MRFParts, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(parts.node, expected.node, atol=atol)
    np.testing.assert_allclose(parts.edge, expected.edge, atol=atol)


# --- trees ------------------------------------------------------------------------------------------------------------


@given(seeds, schedules, st.sampled_from([0.0, 0.3]))
def test_forests_are_exact(seed: int, schedule: str, damping: float) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.union([random_tree(rng, int(n)) for n in rng.integers(1, 7, 3)])
    scores = random_scores(rng, graph, zero=0.2)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-13, schedule=schedule, damping=damping))
    log_z, marginals = mrf.marginals(scores)
    enumerations = [each for _, each in enumerate_graph(graph, scores)]
    np.testing.assert_allclose(log_z, [each.log_z for each in enumerations], rtol=1e-9, atol=1e-9)
    assert_close(
        marginals, joined(enumerations)
    )  # an edge without scores joins two trees, which are independent
    best, states = mrf.argmax(scores)
    np.testing.assert_allclose(best, [each.scores.max() for each in enumerations], atol=1e-9)
    np.testing.assert_allclose(mrf.score(scores, states), best)
    assert mrf.inference_report is not None
    assert mrf.inference_report.all_converged


@given(seeds, schedules)
def test_the_best_output_of_a_tree_is_one_of_the_best_when_many_are(seed: int, schedule: str) -> None:
    rng = np.random.default_rng(seed)
    graph = random_tree(rng, 6, rng.integers(2, 4, 6), joined=1.0)
    scores = random_scores(rng, graph)
    for values in (scores.node, scores.edge):
        values[:] = rng.integers(0, 2, len(values))  # so that there are ties
    ((_, outputs),) = enumerate_graph(graph, scores)
    best, _ = PairwiseMRF(graph, inference=BeliefPropagation(schedule=schedule)).argmax(scores)
    assert best[0] == outputs.scores.max()


def test_a_tree_needs_one_sweep() -> None:
    rng = np.random.default_rng(0)
    graph = random_tree(rng, 200, joined=1.0)
    mrf = PairwiseMRF(graph)
    mrf.marginals(random_scores(rng, graph))
    report = mrf.inference_report
    assert report is not None
    assert report.sweeps.tolist() == [1]
    assert report.all_converged


def test_a_long_chain_does_not_overflow_anything() -> None:
    n = 100_000
    graph = Graph.single(np.full(n, 2), np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    scores = MRFParts.zeros(graph)
    scores.edge[::4] = scores.edge[3::4] = 1.0
    log_z, marginals = PairwiseMRF(graph).marginals(scores)
    assert log_z[0] == pytest.approx(np.log(2) + (n - 1) * np.log(np.e + 1))
    np.testing.assert_allclose(marginals.node, 0.5)


# --- loops ------------------------------------------------------------------------------------------------------------


def single_loop(rng: Any, n: int) -> tuple[Graph, MRFParts, Any]:
    """A loop of binary variables, and the eigenvalues of the matrix that goes round it."""
    edges = sorted([(v, v + 1) for v in range(n - 1)] + [(0, n - 1)])
    graph = Graph.single([2] * n, edges)
    scores = random_scores(rng, graph, scale=1.0)
    around = np.eye(2)
    for v in range(n):
        u = (v + 1) % n
        e = edges.index((min(v, u), max(v, u)))
        pair = scores.edge[4 * e : 4 * e + 4].reshape(2, 2)
        around = around @ np.diag(np.exp(scores.node[2 * v : 2 * v + 2])) @ np.exp(pair if v < u else pair.T)
    return graph, scores, np.sort(np.linalg.eigvals(around).real)[::-1]


@given(seeds, schedules)
def test_a_single_loop_is_wrong_by_what_is_known(seed: int, schedule: str) -> None:
    """Weiss 2000: Z is λ₁ in place of λ₁ + λ₂, and p = (λ₁ b + λ₂ (1 − b)) / (λ₁ + λ₂): the likelier state is right."""
    rng = np.random.default_rng(seed)
    graph, scores, (first, second) = single_loop(rng, int(rng.integers(3, 8)))
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-13, max_sweeps=2000, schedule=schedule))
    log_z, beliefs = mrf.marginals(scores)
    assert mrf.inference_report is not None
    assert mrf.inference_report.all_converged
    ((_, outputs),) = enumerate_graph(graph, scores)
    assert outputs.log_z == pytest.approx(np.log(first + second), rel=1e-9)
    assert log_z[0] == pytest.approx(np.log(first), rel=1e-7, abs=1e-7)
    expected = (first * beliefs.node + second * (1 - beliefs.node)) / (first + second)
    exact = outputs.marginals().node
    np.testing.assert_allclose(exact, expected, atol=1e-7)
    assert np.all((exact - 0.5) * (beliefs.node - 0.5) >= -1e-9)


@given(seeds)
def test_the_best_output_of_a_single_loop_is_right_once_messages_stand_still(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, scores, _ = single_loop(rng, int(rng.integers(3, 8)))
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(max_sweeps=1000))
    best, _ = mrf.argmax(scores)
    ((_, outputs),) = enumerate_graph(graph, scores)
    assert mrf.inference_report is not None
    assert best[0] <= outputs.scores.max() + 1e-9
    if mrf.inference_report.all_converged:
        assert best[0] == pytest.approx(outputs.scores.max())


@given(seeds, schedules, st.sampled_from([0, 2]))
def test_weak_couplings_are_nearly_exact_on_any_graph(seed: int, schedule: str, binary: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 6, arity=[binary] * 6 if binary else None)
    scores = random_scores(rng, graph, scale=0.1)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-10, schedule=schedule))
    log_z, beliefs = mrf.marginals(copied(scores))
    ((_, outputs),) = enumerate_graph(graph, scores)
    assert log_z[0] == pytest.approx(outputs.log_z, abs=5e-3)
    assert_close(beliefs, outputs.marginals(), atol=5e-3)
    by_others = [
        PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-10, schedule=other)).marginals(scores)[0]
        for other in SCHEDULES
    ]
    np.testing.assert_allclose(by_others, log_z[0], rtol=1e-8)  # one fixed point, whichever way it is reached


@given(seeds)
def test_beliefs_are_the_derivatives_of_bethes_log_z(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5, share=0.7)
    scores = random_scores(rng, graph, scale=0.7)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-13, max_sweeps=3000))
    _, beliefs = mrf.marginals(scores)
    assert mrf.inference_report is not None
    if not mrf.inference_report.all_converged:
        return
    step = 1e-5
    for name in ("node", "edge"):
        values, expected = getattr(scores, name), getattr(beliefs, name)
        for i in rng.permutation(len(values))[:5]:
            ends = []
            for sign in (1, -1):
                moved = copied(scores)
                getattr(moved, name)[i] += sign * step
                ends.append(mrf.marginals(moved)[0][0])
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(expected[i], abs=1e-6)


def test_damping_rises_until_messages_stand_still() -> None:
    """Strong repulsion on a complete graph makes all variables turn over at once, again and again."""
    graph = Graph.complete([2] * 8)
    scores = MRFParts(np.tile([0.0, 0.3], 8), np.tile([-1.0, 0.0, 0.0, -1.0], graph.n_edges))
    reports = []
    for adaptive in (False, True):
        how = BeliefPropagation(schedule="flooding", adaptive=adaptive)
        mrf = PairwiseMRF(graph, inference=how)
        mrf.marginals(scores)
        reports.append(mrf.inference_report)
    plain, damped = reports
    assert plain is not None
    assert damped is not None
    assert (plain.all_converged, plain.sweeps[0]) == (False, 200)
    assert damped.all_converged
    assert damped.damping[0] >= 0.5


# --- extreme scores ---------------------------------------------------------------------------------------------------


@given(seeds, schedules)
def test_huge_scores_stay_finite_and_right(seed: int, schedule: str) -> None:
    rng = np.random.default_rng(seed)
    graph = random_tree(rng, 6, rng.integers(2, 4, 6), joined=1.0)
    scores = random_scores(rng, graph)
    for values in (scores.node, scores.edge):
        values[:] = rng.choice([-500.0, 500.0], len(values)) + rng.normal(size=len(values))
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-12, schedule=schedule))
    log_z, marginals = mrf.marginals(scores)
    ((_, outputs),) = enumerate_graph(graph, scores)
    assert log_z[0] == pytest.approx(outputs.log_z, rel=1e-12)
    assert_close(marginals, outputs.marginals(), atol=1e-8)
    assert mrf.argmax(scores)[0][0] == pytest.approx(outputs.scores.max(), rel=1e-12)


@given(seeds)
def test_huge_scores_stay_finite_in_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.complete([2] * 7)
    scores = random_scores(rng, graph, scale=500.0)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(max_sweeps=30))
    log_z, marginals = mrf.marginals(scores)
    assert np.all(np.isfinite(log_z))
    for values in (marginals.node, marginals.edge):
        assert np.all((values >= 0) & (values <= 1 + 1e-12))
    assert np.isfinite(mrf.argmax(scores)[0][0])


@given(seeds, schedules, st.booleans())
def test_given_states_and_forbidden_pairs_have_no_share(seed: int, schedule: str, pairs: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_tree(rng, 6, rng.integers(2, 4, 6), joined=1.0)
    scores = random_scores(rng, graph)
    output = np.array([rng.integers(K) for K in graph.arity])
    if pairs:  # none of the output's
        forbidden = np.flatnonzero(rng.random(len(scores.edge)) < 0.4)
        scores.edge[np.setdiff1d(forbidden, graph.places(output)[1])] = -np.inf
    given_states = np.where(rng.random(6) < 0.4, output, -1)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-13, schedule=schedule, damping=0.1))
    mrf.marginals(copied(scores))  # messages of other scores do no harm
    constrained = mrf.constrain(scores, given_states)
    log_z, marginals = mrf.marginals(constrained)
    ((_, outputs),) = enumerate_graph(graph, constrained)
    assert log_z[0] == pytest.approx(outputs.log_z, abs=1e-9)
    assert_close(marginals, outputs.marginals())
    best, states = mrf.argmax(constrained)
    assert best[0] == pytest.approx(outputs.scores.max(), abs=1e-9)
    assert np.all(states[given_states >= 0] == given_states[given_states >= 0])


def test_impossible_outputs_and_numbers_that_are_none_are_told() -> None:
    graph = Graph.union([Graph.complete([2, 2]), Graph.complete([2, 2])])
    mrf, scores = PairwiseMRF(graph), MRFParts.zeros(graph)
    scores.edge[4:] = -np.inf
    for ask in (mrf.marginals, mrf.argmax):
        with pytest.raises(ParsimonError, match="no possible output of instance 1"):
            ask(scores)
    with pytest.raises(ParsimonError, match="no possible state"):
        mrf.sample(scores)
    for bad in (np.nan, np.inf):
        scores.edge[5] = bad
        with pytest.raises(ParsimonError, match="numbers below infinity"):
            mrf.marginals(scores)


# --- edges that do not score ------------------------------------------------------------------------------------------


@given(seeds, schedules)
def test_edges_without_scores_are_products_and_change_nothing(seed: int, schedule: str) -> None:
    rng = np.random.default_rng(seed)
    few = random_graph(rng, 7, share=0.3, arity=rng.integers(1, 4, 7))
    every = Graph.complete(few.arity)
    numbers = np.flatnonzero([pair in few.edges.tolist() for pair in every.edges.tolist()])
    scores = random_scores(rng, few, scale=0.5)
    padded = MRFParts.zeros(every)
    padded.node[:] = scores.node
    of_few = np.isin(np.repeat(np.arange(every.n_edges), np.diff(every.edge_at)), numbers)
    padded.edge[of_few] = scores.edge
    how = BeliefPropagation(schedule=schedule)
    log_z, beliefs = PairwiseMRF(every, inference=how).marginals(padded)
    expected, of_scored = PairwiseMRF(few, inference=how).marginals(scores)
    assert log_z[0] == pytest.approx(expected[0], abs=1e-12)
    np.testing.assert_allclose(beliefs.node, of_scored.node, atol=1e-12)
    np.testing.assert_allclose(beliefs.edge[of_few], of_scored.edge, atol=1e-12)
    u, v = every.ends_of_parts
    product = beliefs.node[u] * beliefs.node[v]
    np.testing.assert_allclose(beliefs.edge[~of_few], product[~of_few], atol=1e-15)


def test_messages_are_kept_and_shared_with_restricted_structures() -> None:
    rng = np.random.default_rng(4)
    graph = Graph.complete([2] * 20)
    scores = random_scores(rng, graph, scale=0.2)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-9))

    def sweeps(of: PairwiseMRF, given: MRFParts) -> int:
        of.marginals(given)
        assert of.inference_report is not None
        assert of.inference_report.all_converged
        return int(of.inference_report.sweeps[0])

    cold = sweeps(mrf, scores)
    assert sweeps(mrf, scores) == 1 < cold
    kept = np.arange(0, graph.n_edges, 2)
    few = mrf.with_edges(kept)
    silent = copied(scores)
    silent.edge.reshape(-1, 4)[1::2] = 0.0
    assert sweeps(mrf, silent) > 1
    of_few = MRFParts(scores.node, scores.edge.reshape(-1, 4)[kept].reshape(-1))
    assert sweeps(few, of_few) == 1  # from the messages of the whole structure
    assert few.with_edges(kept[:5]).edge_numbers.tolist() == kept[:5].tolist()
    with pytest.raises(ParsimonError, match="edges that it has"):
        few.with_edges(np.array([0, 1]))
    forgetful = PairwiseMRF(graph, inference=BeliefPropagation(tol=1e-9, warm=False))
    assert sweeps(forgetful, scores) == sweeps(forgetful, scores) == cold


def test_messages_that_did_not_settle_are_not_kept() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.complete([3] * 10)
    mrf = PairwiseMRF(graph, inference=BeliefPropagation(max_sweeps=2))
    easy = random_scores(rng, graph, scale=0.01)
    mrf.marginals(random_scores(rng, graph, scale=50.0))
    assert mrf.inference_report is not None
    assert not mrf.inference_report.all_converged
    fresh = PairwiseMRF(graph, inference=BeliefPropagation(max_sweeps=2))
    assert_close(mrf.marginals(easy)[1], fresh.marginals(easy)[1], atol=0.0)


# --- threads, sampling ------------------------------------------------------------------------------------------------


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


# --- tables and weights -----------------------------------------------------------------------------------------------


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


# --- the rest of what structures do -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("arity", "edges", "message"),
    [
        ([2, 0], [], "variable 1 has 0 states"),
        ([2, 2], [(0, 0)], r"edge 0 is \(0, 0\), but a variable has no edge to itself"),
        ([2, 2, 2], [(0, 1), (2, 1)], r"edge 1 is \(2, 1\), but the lower variable comes first: \(1, 2\)"),
        ([2, 2, 2], [(0, 1), (1, 2), (0, 1)], r"edge 2 is \(0, 1\), which is there already"),
        ([2, 2], [(0, 2)], r"edge 0 is \(0, 2\), but its instance has the variables 0 to 1"),
        ([2, 2], [(0, 1, 1)], "pairs of variables"),
    ],
)
def test_graphs_that_are_none_are_refused(arity: Any, edges: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        Graph.single(arity, edges)


def test_edges_between_instances_are_refused() -> None:
    with pytest.raises(ParsimonError, match="its instance has the variables 0 to 1"):
        Graph(np.full(4, 2), np.array([[1, 2]]), np.array([0, 2, 4]), np.array([0, 1, 1]))
    with pytest.raises(ParsimonError, match="edge_start must ascend from 0 to 1"):
        Graph(np.full(4, 2), np.array([[0, 1]]), np.array([0, 2, 4]), np.array([0, 0, 0]))
    with pytest.raises(ParsimonError, match="both must be of the same"):
        Graph(np.full(4, 2), np.array([[0, 1]]), np.array([0, 2, 4]), np.array([0, 1]))


def test_settings_and_tables_that_are_none_are_refused() -> None:
    for wrong, message in (
        ({"schedule": "chaotic"}, "no schedule of messages called 'chaotic'; choose from sequential"),
        ({"damping": 1.0}, "damping must be at least 0 and below 1"),
        ({"max_sweeps": 0}, "max_sweeps at least 1"),
    ):
        with pytest.raises(ParsimonError, match=message):
            BeliefPropagation(**wrong)  # type: ignore[arg-type]
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


@settings(deadline=None, max_examples=3)
@given(seeds)
def test_a_picture_with_all_its_pairs_can_be_done(seed: int) -> None:
    """400 binary variables and all 79,800 edges, of which a few score."""
    rng = np.random.default_rng(seed)
    graph = Graph.complete([2] * 400)
    scores = MRFParts.zeros(graph)
    scores.node[:] = rng.normal(size=800)
    few = rng.choice(graph.n_edges, 300, replace=False)
    scores.edge.reshape(-1, 4)[few] = rng.normal(scale=0.5, size=(300, 4))
    log_z, beliefs = PairwiseMRF(graph).marginals(scores)
    small, marginals = PairwiseMRF(graph.restrict(np.sort(few)), inference=JunctionTree()).marginals(
        MRFParts(scores.node, scores.edge.reshape(-1, 4)[np.sort(few)].reshape(-1))
    )
    assert log_z[0] == pytest.approx(small[0], abs=0.5)
    np.testing.assert_allclose(beliefs.node, marginals.node, atol=0.05)
