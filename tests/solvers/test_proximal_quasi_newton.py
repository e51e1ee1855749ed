"""The quadratic model of the proximal quasi-Newton solver against BFGS written out on dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import ElasticNet
from parsimon.solvers import Monitor, ProximalQuasiNewton, WorkingSet, drive, proximal_quasi_newton
from parsimon.solvers.curvature_block import CurvatureBlock
from parsimon.solvers.proximal_quasi_newton import CurvaturePairs, QuadraticModel, SingleKinks, minimise
from parsimon.weights import Weights
from sequence_losses import every_toy
from toy_problems import Toy


def bfgs(B: Any, s: Any, y: Any) -> Any:
    """One update of the matrix itself (Nocedal & Wright, eq. 6.19)."""
    Bs = B @ s
    return B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (s @ y)


def curved(random: Any, n: int, count: int) -> list[tuple[Any, Any]]:
    """Steps on a strictly convex quadratic, and how its gradient changes."""
    A = random.normal(size=(n, n))
    A = A @ A.T + 0.5 * np.eye(n)
    steps = [random.normal(size=n) for _ in range(count)]
    return [(s, A @ s) for s in steps]


def matrix(model: QuadraticModel) -> Any:
    """B, column by column."""
    n = len(model.gradient)
    return np.array([model.slope(e) - model.gradient for e in np.eye(n)]).T


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 9])
def test_the_model_is_that_of_the_newest_pairs(count: int) -> None:
    random = np.random.default_rng(count)
    n, memory = 12, 4
    D, damping = random.uniform(1, 2, n), 3.0
    pairs = CurvaturePairs(memory, damping)
    steps = curved(random, n, count)
    for s, y in steps:
        pairs.add(s, y)
        pairs.middle(D)  # what is kept from one time to the next must stay right
    expected = np.diag(damping * D)
    for s, y in steps[-memory:]:
        expected = bfgs(expected, s, y)
    model = QuadraticModel.build(np.zeros(n), D, pairs, np.arange(n))
    assert matrix(model) == pytest.approx(expected, abs=1e-8)
    chosen = np.array([1, 4, 5, 9])
    part = QuadraticModel.build(np.zeros(n), D, pairs, chosen)
    assert matrix(part) == pytest.approx(expected[np.ix_(chosen, chosen)], abs=1e-8)
    assert part.curvature == pytest.approx(np.diag(expected)[chosen], abs=1e-8)


def test_a_new_diagonal_is_taken_into_account() -> None:
    random = np.random.default_rng(1)
    pairs = CurvaturePairs(5, 1.0)
    for s, y in curved(random, 6, 3):
        pairs.add(s, y)
    first, second = random.uniform(1, 2, 6), random.uniform(1, 2, 6)
    fresh = CurvaturePairs(5, 1.0)
    for s, y in zip(pairs.columns[:, :6:2].T, pairs.columns[:, 1:6:2].T, strict=True):  # type: ignore[index]
        fresh.add(s, y)
    pairs.middle(first)
    assert pairs.middle(second) == pytest.approx(fresh.middle(second))


def test_pairs_without_curvature_are_not_taken_in() -> None:
    pairs = CurvaturePairs(5, 1.0)
    pairs.add(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    assert len(pairs) == 0


@pytest.mark.parametrize("count", [2, 4, 7])
def test_a_change_of_features_keeps_the_model_convex(count: int) -> None:
    random = np.random.default_rng(count)
    n = 8
    pairs = CurvaturePairs(4, 1.0)
    steps = curved(random, n, count)
    for s, y in steps:
        pairs.add(s, y)
    old, new = np.arange(n), np.array([0, 2, 3, 11])
    pairs.carry(old, new)
    kept = []
    for s, y in steps[-4:]:
        s, y = np.append(s[[0, 2, 3]], 0.0), np.append(y[[0, 2, 3]], 0.0)
        if s @ y > 0:
            kept.append((s, y))
    assert len(pairs) == len(kept)
    expected = np.eye(4)
    for s, y in kept:
        expected = bfgs(expected, s, y)
    found = matrix(QuadraticModel.build(np.zeros(4), np.ones(4), pairs, np.arange(4)))
    assert found == pytest.approx(expected, abs=1e-8)
    assert np.linalg.eigvalsh(found).min() > 0


@pytest.mark.parametrize("seed", range(5))
def test_the_penalised_model_is_minimised(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 15
    pairs = CurvaturePairs(6, 2.0)
    for s, y in curved(random, n, 5):
        pairs.add(s, y)
    gradient, D = 3 * random.normal(size=n), random.uniform(1, 2, n)
    model = QuadraticModel.build(gradient, D, pairs, np.arange(n))
    w, l1 = np.where(random.random(n) < 0.5, random.normal(size=n), 0.0), np.full(n, 0.7)
    d = minimise(model, w, l1, tol=1e-9, rounds=200)
    slope, x = model.slope(d), w + d
    assert slope[x != 0] == pytest.approx(-l1[x != 0] * np.sign(x[x != 0]), abs=1e-6)
    assert np.all(np.abs(slope[x == 0]) <= 0.7 + 1e-6)


def blocked(random: Any, n: int, features: list[int]) -> tuple[Any, CurvatureBlock, Any]:
    """A diagonal, a block, and B₀ of both."""
    D, A = random.uniform(1, 2, n), random.normal(size=(len(features), n))
    block = CurvatureBlock(np.array(features), A @ A.T)
    first = np.diag(D)
    first[np.ix_(features, features)] = block.matrix
    return D, block, first


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_the_model_with_a_block(count: int) -> None:
    random = np.random.default_rng(count)
    n, damping = 12, 3.0
    D, block, expected = blocked(random, n, [0, 2, 5, 6, 11])
    expected = damping * expected
    pairs = CurvaturePairs(4, damping)
    steps = curved(random, n, count)
    for number, (s, y) in enumerate(steps):
        pairs.add(s, y)
        if number == count // 2:
            pairs.take_block(block)
        pairs.middle(D)  # what is kept from one time to the next must stay right
    for s, y in steps[-4:]:
        expected = bfgs(expected, s, y)
    chosen = np.array([1, 2, 4, 5, 6, 9])
    for features in (np.arange(n), chosen):
        model = QuadraticModel.build(np.zeros(n), D, pairs, features)
        wanted = expected[np.ix_(features, features)]
        assert matrix(model) == pytest.approx(wanted, abs=1e-8)
        assert model.curvature == pytest.approx(np.diag(wanted), abs=1e-8)
        d = random.normal(size=len(features))
        assert model.value(d) == pytest.approx(0.5 * d @ wanted @ d)
        face = np.array([0, 1, 3, 5])
        step = model.newton_step(d, face)
        assert step == pytest.approx(-np.linalg.solve(wanted[np.ix_(face, face)], d[face]), abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_the_penalised_model_with_a_block_is_minimised(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 15
    D, block, _ = blocked(random, n, [1, 2, 7, 8, 9, 14])
    pairs = CurvaturePairs(6, 2.0)
    for s, y in curved(random, n, 5):
        pairs.add(s, y)
    pairs.take_block(block)
    gradient = 3 * random.normal(size=n)
    model = QuadraticModel.build(gradient, D, pairs, np.arange(n))
    w, l1 = np.where(random.random(n) < 0.5, random.normal(size=n), 0.0), np.full(n, 0.7)
    d = minimise(model, w, l1, tol=1e-9, rounds=200)
    slope, x = model.slope(d), w + d
    assert slope[x != 0] == pytest.approx(-l1[x != 0] * np.sign(x[x != 0]), abs=1e-6)
    assert np.all(np.abs(slope[x == 0]) <= 0.7 + 1e-6)


def test_a_block_is_carried_to_other_features() -> None:
    random = np.random.default_rng(0)
    n, D, old, new = 8, np.ones(4), np.arange(8), np.array([0, 2, 3, 11])
    _, block, first = blocked(random, n, [1, 2, 3])
    pairs = CurvaturePairs(4, 1.0)
    (s, y), *_ = curved(random, n, 1)
    pairs.add(s, y)
    pairs.take_block(block)
    pairs.carry(old, new)
    expected = np.eye(4)
    expected[1:3, 1:3] = first[2:4, 2:4]
    s, y = np.append(s[[0, 2, 3]], 0.0), np.append(y[[0, 2, 3]], 0.0)
    found = matrix(QuadraticModel.build(np.zeros(4), D, pairs, np.arange(4)))
    assert found == pytest.approx(bfgs(expected, s, y) if s @ y > 0 else expected, abs=1e-8)


@every_toy
def test_a_block_changes_the_steps_and_not_the_end(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for size, threads in ((0, 1), (5, 1), (5, 2)):
        monkeypatch.setattr(SingleKinks, "most_in_block", size)
        monkeypatch.setattr(proximal_quasi_newton, "BLOCK_STEPS", 3)
        problem = toy.problem("log", ElasticNet(0.1, 0.01), threads=threads)
        solver = WorkingSet(tol=1e-7, inner=ProximalQuasiNewton(tol=0.0, memory=3, threads=threads))
        ends.append(drive(solver, problem, Weights.zeros(problem.n_features), Monitor()))
    plain, one, two = ends
    assert one.objective == pytest.approx(plain.objective, rel=1e-7)
    assert np.array_equal(one.weights.dense(), two.weights.dense())
    assert not np.array_equal(one.weights.dense(), plain.weights.dense())  # there was a block
