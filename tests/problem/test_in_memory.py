"""A problem in memory: batches add up, restriction, screening, chunks, threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_toys import toys
from max_margin_toys import every_toy
from parsimon.errors import ParsimonError
from parsimon.features.observations import Rows
from parsimon.losses import LOSSES, Log
from parsimon.penalties import L2, ElasticNet
from parsimon.problem import InMemoryProblem, in_memory
from parsimon.solvers import choose_solver, drive
from parsimon.solvers.driver import Monitor
from parsimon.structures import Chain
from parsimon.weights import Weights
from sequence_losses import every_toy as every_sequence
from toy_problems import Toy, make_toy


@every_toy
@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_chunks_are_the_same_instances(toy: Toy, most: int, loss: str) -> None:
    problem = toy.problem(loss, L2(1.0))
    w = np.random.default_rng(3).normal(size=problem.n_features)
    chunks = problem.chunks(most)
    assert max(chunk.n_instances for chunk in chunks) <= most
    parts = replace(problem, batches=tuple(batch for chunk in chunks for batch in chunk.batches))
    for whole, cut in zip(problem.loss_and_gradient(w), parts.loss_and_gradient(w), strict=True):
        assert cut == pytest.approx(whole)


OF_LABELS = [name for name, loss in LOSSES.items() if loss.oracle in Chain.oracles]


@pytest.mark.parametrize("loss", OF_LABELS)
@given(toys, st.integers(1, 12), st.integers(0, 100))
def test_batches_add_up(loss: str, toy: Toy, batch: int, seed: int) -> None:
    whole, parts = toy.problem(loss, batch=1000), toy.problem(loss, batch=batch)
    assert len(whole.batches) == 1
    w = np.random.default_rng(seed).normal(size=whole.n_features)
    value, gradient = whole.loss_and_gradient(w)
    other_value, other_gradient = parts.loss_and_gradient(w)
    assert value == pytest.approx(other_value, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, other_gradient, atol=1e-11)


@pytest.mark.parametrize("loss", OF_LABELS)
@given(toys, st.integers(0, 100))
def test_restriction_is_the_problem_on_a_subspace(loss: str, toy: Toy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = toy.index.n_features
    penalty = ElasticNet(l1=0.3, l2=0.7, weight=rng.uniform(0, 2, n))
    problem = toy.problem(loss, penalty)
    features = np.flatnonzero(rng.random(n) < 0.5)
    small = problem.restrict(features)
    w = np.zeros(n)
    w[features] = rng.normal(size=len(features))
    assert small.n_features == len(features)
    assert small.objective(w[features]) == pytest.approx(problem.objective(w), rel=1e-11)
    np.testing.assert_allclose(
        small.loss_and_gradient(w[features])[1], problem.loss_and_gradient(w)[1][features], atol=1e-11
    )


@pytest.mark.parametrize("loss", OF_LABELS)
def test_threads_give_identical_bits(loss: str) -> None:
    toy = make_toy(1, lengths=tuple(range(30)), n_labels=6, n_node=40, real=True, weighted=True)
    w = np.random.default_rng(0).normal(size=toy.index.n_features)
    value, gradient = toy.problem(loss, batch=50).loss_and_gradient(w)
    other_value, other_gradient = toy.problem(loss, batch=50, threads=2).loss_and_gradient(w)
    assert value == other_value
    assert gradient.tobytes() == other_gradient.tobytes()


@pytest.mark.parametrize("threads", [2, 3, 8, 40])
def test_batches_side_by_side_give_identical_bits(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 threads have a batch each, 40 are too many for that and share batches; so they do where memory is short."""
    toy = make_toy(1, lengths=tuple(range(30)), n_labels=6, n_node=40, real=True, weighted=True)
    w = np.random.default_rng(0).normal(size=toy.index.n_features)
    active = np.flatnonzero(np.abs(w) > 1)
    weights = Weights(w[active], active, len(w))
    alone, many = (toy.problem(batch=20, threads=n) for n in (1, threads))
    assert len(many.batches) in range(9, 40)
    wanted, found = alone.screen(weights, 0.1), many.screen(weights, 0.1)
    assert (wanted.loss, wanted.gradient.tobytes()) == (found.loss, found.gradient.tobytes())
    assert wanted.of_active.tobytes() == found.of_active.tobytes()
    assert alone.objective(w) == many.objective(w)
    for room in (in_memory.AT_ONCE, 0):
        monkeypatch.setattr(in_memory, "AT_ONCE", room)
        many = toy.problem(batch=20, threads=threads)
        for one, other in ((alone, many), (alone.restrict(active), many.restrict(active))):
            v = w[: one.n_features]
            a, b = (each.evaluate(v, curvature=True, marginals=True) for each in (one, other))
            assert a.loss == b.loss
            assert a.gradient.tobytes() == b.gradient.tobytes()
            assert a.curvature is not None
            assert b.curvature is not None
            assert a.curvature.tobytes() == b.curvature.tobytes()
            assert one.diagonal(a.marginals).tobytes() == other.diagonal(b.marginals).tobytes()


def test_all_batches_in_one_call_are_what_each_is_by_itself() -> None:
    """Of all features and of some, for which label pairs are laid out anew."""
    toy = make_toy(1, lengths=tuple(range(30)), n_labels=6, n_node=40, real=True, weighted=True)
    whole = toy.problem(batch=20)
    rng = np.random.default_rng(0)
    active = np.flatnonzero(rng.random(whole.n_features) < 0.4)
    for problem in (whole, whole.restrict(active)):
        w = rng.normal(size=problem.n_features) * (rng.random(problem.n_features) < 0.5)
        found = problem.evaluate(w, curvature=True, marginals=True)
        loss, gradient, curvature = 0.0, np.zeros(len(w)), np.zeros(len(w))
        for batch in problem.batches:
            assert isinstance(problem.loss, Log)
            value, parts, of_labels = problem.loss.with_marginals(
                batch.structure, batch.scores(w), batch.gold
            )
            loss += value
            batch.design.pullback(parts, gradient)
            batch.design.pullback_squared(problem.loss.variances(batch.structure, of_labels), curvature)
        assert found.loss == pytest.approx(loss, rel=1e-12)
        np.testing.assert_allclose(found.gradient, gradient, atol=1e-11)
        np.testing.assert_allclose(problem.diagonal(found.marginals), curvature, atol=1e-11)
        assert found.curvature is not None  # that by pairs of labels has a limit (see core/tests/chains)
        assert np.all(found.curvature <= curvature + 1e-11)
        assert found.curvature.sum() > 0.5 * curvature.sum()


def test_the_curvature_by_a_pair_of_labels_that_hardly_occurs_is_small() -> None:
    """It is at most how often the pair is expected, where it is not in gold, and no such thing by single labels."""
    toy = make_toy(3, lengths=(12,) * 20, n_labels=3, n_node=3, n_pair=1)
    batch = toy.problem(batch=1000).batches[0]
    gold = np.tile(np.arange(3, dtype=batch.gold.dtype), 80)  # 0 1 2 0 1 2 …: never 0 0, for one
    problem = InMemoryProblem((replace(batch, gold=gold),), Log(), L2(1e-4), toy.problem().n_features)
    result = drive(choose_solver("lbfgs", problem, 1e-6), problem, Weights.zeros(problem.n_features))
    w = result.weights.dense()
    found = problem.evaluate(w, curvature=True, marginals=True)
    assert found.curvature is not None
    expected = found.gradient[-9:].reshape(3, 3)
    never = expected[np.eye(3, dtype=bool)]
    assert np.all(found.curvature[-9:].reshape(3, 3)[np.eye(3, dtype=bool)] <= never + 1e-12)
    assert np.all(found.curvature[-9:] >= 0)


@pytest.mark.parametrize("threads", [2, 4, 7])
def test_training_gives_identical_bits_for_any_number_of_threads(threads: int) -> None:
    """Forty batches, so that there are more than groups of them; working sets, screening and quadratic models."""
    toy = make_toy(2, lengths=(5, 9) * 40, n_labels=5, n_node=60)
    results = []
    for n in (1, threads):
        problem = toy.problem("log", ElasticNet(l1=0.3, l2=1e-3), batch=14, threads=n)
        assert len(problem.batches) >= 40
        monitor = Monitor(max_iter=40)
        results.append(
            drive(choose_solver("working-set", problem), problem, Weights.zeros(problem.n_features), monitor)
        )
    one, many = results
    assert one.weights.n_active > 0
    assert one.weights.values.tobytes() == many.weights.values.tobytes()
    assert [event.objective for event in one.history] == [event.objective for event in many.history]


def test_what_goes_wrong_in_a_batch_ends_the_evaluation() -> None:
    toy = make_toy(1, lengths=tuple(range(30)))
    problem = toy.problem(batch=10, threads=2)
    with pytest.raises(ParsimonError, match="too large to compute with"):
        problem.evaluate(np.full(problem.n_features, 1e300))


def test_an_evaluation_leaves_the_weights_alone() -> None:
    problem = make_toy(0).problem()
    w = np.random.default_rng(0).normal(size=problem.n_features)
    before = w.copy()
    first = problem.loss_and_gradient(w)
    np.testing.assert_array_equal(w, before)
    assert problem.loss_and_gradient(w)[0] == first[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("real", [False, True])
def test_curvature_is_the_diagonal_of_the_hessian(weighted: bool, real: bool) -> None:
    """Exactly so for sequences of one token, with no attribute twice on it."""
    rng = np.random.default_rng(0)
    n = 8
    toy = make_toy(0, lengths=(1,) * n, n_pair=0, weighted=weighted)
    node = Rows(
        np.arange(n + 1), rng.integers(5, size=n).astype(np.int32), rng.normal(size=n) if real else None
    )
    toy = replace(toy, observations=replace(toy.observations, node=node))
    problem = toy.problem("log")
    w = rng.normal(size=problem.n_features)
    h = 1e-5
    curvature = problem.evaluate(w, curvature=True).curvature
    assert curvature is not None
    for k, found in enumerate(curvature):
        e = h * (np.arange(len(w)) == k)
        above, below = problem.loss_and_gradient(w + e)[1], problem.loss_and_gradient(w - e)[1]
        assert found == pytest.approx((above[k] - below[k]) / (2 * h), rel=1e-6, abs=1e-8)


def test_no_batches_and_empty_batches_are_problems() -> None:
    toy = make_toy(0)
    whole = toy.problem("log", ElasticNet(l1=0.3), batch=1000)
    nothing = replace(whole, batches=())
    empty = replace(whole, batches=(whole.batches[0].part(0, 0),))
    some = replace(whole, batches=(*empty.batches, *whole.batches, *empty.batches))
    w = np.random.default_rng(0).normal(size=whole.n_features)
    for problem in (nothing, empty):
        there = problem.evaluate(w, curvature=True, marginals=True)
        assert problem.n_instances == 0
        assert there.loss == 0.0
        assert not there.gradient.any()
        assert there.curvature is not None
        assert not there.curvature.any()
        assert problem.convex
        assert not len(problem.screen(Weights.zeros(problem.n_features), 0.1).features)
        assert drive(choose_solver("auto", problem), problem, Weights.zeros(len(w))).weights.n_active == 0
    assert some.objective(w) == whole.objective(w)
    np.testing.assert_array_equal(some.evaluate(w).gradient, whole.evaluate(w).gradient)


@given(toys, st.floats(0.0, 1.0))
def test_screening_finds_what_the_gradient_of_all_shows(toy: Toy, threshold: float) -> None:
    problem = toy.problem("log")
    rng = np.random.default_rng(0)
    active = np.flatnonzero(rng.random(problem.n_features) < 0.3)
    weights = Weights(rng.normal(size=len(active)), active, problem.n_features)
    there = problem.evaluate(weights, marginals=True)
    far = np.abs(np.abs(there.gradient) - threshold) > 1e-9
    for limit in (threshold, np.full(problem.n_features, threshold)):  # compiled, and from all gradients
        found = problem.screen(weights, limit)
        above = np.flatnonzero(far & (np.abs(there.gradient) > threshold))
        assert set(above) <= set(found.features.tolist())
        assert not set(np.flatnonzero(far)) & (set(found.features.tolist()) - set(above))
        np.testing.assert_allclose(found.gradient, there.gradient[found.features], atol=1e-10)
        np.testing.assert_allclose(found.of_active, there.gradient[active], atol=1e-10)
        np.testing.assert_allclose(
            problem.diagonal(found.marginals), problem.diagonal(there.marginals), atol=1e-10
        )


def test_predictions_are_the_best_outputs_batch_by_batch() -> None:
    problem = make_toy(2).problem(batch=4)
    w = np.random.default_rng(1).normal(size=problem.n_features)
    found = list(problem.predict(Weights(w, None, len(w))))
    assert len(found) == len(problem.batches)
    for batch, output in zip(problem.batches, found, strict=True):
        np.testing.assert_array_equal(output, batch.structure.argmax(batch.design.scores(w))[1])


@every_sequence
def test_covariances_of_draws_are_the_second_derivatives(toy: Toy) -> None:
    problem = toy.problem("log", ElasticNet(), threads=2)
    random = np.random.default_rng(0)
    w = random.normal(size=problem.n_features)
    features = np.sort(random.permutation(problem.n_features)[:6])
    assert problem.has_covariances
    found = problem.covariance(w, features, 20_000, 1)
    steps = 1e-5 * np.eye(problem.n_features)[features]
    hessian = [
        (problem.evaluate(w + s).gradient - problem.evaluate(w - s).gradient)[features] / 2e-5 for s in steps
    ]
    np.testing.assert_allclose(found, hessian, atol=0.05 * max(1.0, float(np.abs(hessian).max())))
    few = problem.covariance(w, features, 20, 3)
    assert np.array_equal(toy.problem("log", ElasticNet()).covariance(w, features, 20, 3), few)
    assert not np.array_equal(problem.covariance(w, features, 20, 4), few)


def test_covariances_are_of_the_log_loss_with_known_labels() -> None:
    toy = make_toy(1)
    assert not toy.problem("hinge").has_covariances
    missing = toy.gold.copy()
    missing[0] = -1
    assert not replace(toy, gold=missing).problem("log").has_covariances
