"""Belief propagation: exact on trees, wrong in loops by what is known, and no edge that does not score matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import GraphEnumeration, enumerate_graph
from parsimon.errors import ParsimonError
from parsimon.structures import BeliefPropagation, Graph, JunctionTree, MRFParts, PairwiseMRF
from parsimon.structures.belief_propagation import SCHEDULES
from random_graphs import assert_close, copied, random_graph, random_scores, random_tree, seeds

schedules = st.sampled_from(sorted(SCHEDULES))


def joined(enumerations: list[GraphEnumeration]) -> MRFParts:
    of_each = [each.marginals() for each in enumerations]
    return MRFParts(*(np.concatenate([getattr(m, name) for m in of_each]) for name in ("node", "edge")))


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


def test_settings_that_are_none_are_refused() -> None:
    for wrong, message in (
        ({"schedule": "chaotic"}, "no schedule of messages called 'chaotic'; choose from sequential"),
        ({"damping": 1.0}, "damping must be at least 0 and below 1"),
        ({"max_sweeps": 0}, "max_sweeps at least 1"),
    ):
        with pytest.raises(ParsimonError, match=message):
            BeliefPropagation(**wrong)  # type: ignore[arg-type]
