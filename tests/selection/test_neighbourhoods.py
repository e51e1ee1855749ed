"""Greedy neighbourhoods: the regressions, the score test, and the graphs that are found."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from parsimon.arrays import Array
from parsimon.data import make_network
from parsimon.selection.neighbourhoods import (
    RIDGE,
    _fit,
    _Regression,
    _Rows,
    greedy_neighbourhoods,
    joined,
)


def rows(n: int = 300, seed: int = 0, counts: Array | None = None) -> _Rows:
    """A column of three states that depends on one of three and one of two; another column is noise."""
    random = np.random.default_rng(seed)
    a, b, noise = random.integers(0, 3, n), random.integers(0, 2, n), random.integers(0, 4, n)
    v = np.where(random.random(n) < 0.6, (a + b) % 3, random.integers(0, 3, n))
    codes = np.stack([v, a, b, noise], axis=1)
    return _Rows(codes, np.array([3, 3, 2, 4]), np.ones(n) if counts is None else counts)


def test_regressions_are_at_their_optimum() -> None:
    fit = _Regression(rows(), 0, (1, 2))
    fitted, table = fit._fitted, fit.table()[:, :, 0]
    gradient = fit.inputs.T @ (table - table.sum(axis=1, keepdims=True) * fitted.p)[:, 1:]
    np.testing.assert_allclose(gradient, RIDGE * fitted.weights, atol=0.05)
    # Any other weights are worse.
    random = np.random.default_rng(1)
    for _ in range(20):
        other = fitted.weights + 0.1 * random.normal(size=fitted.weights.shape)
        scores = np.concatenate([np.zeros((len(fit.inputs), 1)), fit.inputs @ other], axis=1)
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        assert np.sum(table * log_p) < fitted.log_likelihood + 0.05


def test_the_information_is_that_of_finite_differences() -> None:
    fit = _Regression(rows(), 0, (2,))
    table, w, h = fit.table()[:, :, 0], fit._fitted.weights, 1e-5

    def gradient(weights: Array) -> Array:
        scores = np.concatenate([np.zeros((len(fit.inputs), 1)), fit.inputs @ weights], axis=1)
        p = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        g = fit.inputs.T @ (table - table.sum(axis=1, keepdims=True) * p)[:, 1:] - RIDGE * weights
        return np.asarray(g.ravel())

    columns = []
    for k in range(w.size):
        step = np.zeros(w.size)
        step[k] = h
        up, down = w + step.reshape(w.shape), w - step.reshape(w.shape)
        columns.append((gradient(down) - gradient(up)) / (2 * h))
    np.testing.assert_allclose(np.stack(columns, axis=1), fit._fitted.information, rtol=1e-4, atol=1e-3)


def test_the_score_statistic_is_close_to_the_likelihood_ratio_of_a_weak_neighbour() -> None:
    now = _Regression(rows(5000), 0, (1,))
    for u in (2, 3):
        ratio = 2 * (now.with_(u)._fitted.log_likelihood - now._fitted.log_likelihood)
        assert now.score_statistic(u) == pytest.approx(ratio, rel=0.1, abs=0.5)


def test_the_neighbourhood_is_the_best_of_all_sets() -> None:
    for seed in range(3):
        data = rows(600, seed)
        cost = 2 * (data.arity - 1) * np.log(600.0)
        sets = [s for k in range(4) for s in combinations((1, 2, 3), k)]
        best = max(sets, key=lambda s: _Regression(data, 0, s).worth(cost))
        assert greedy_neighbourhoods(data.codes, data.arity)[0] == best


@pytest.mark.parametrize("n_states", [2, 3])
def test_a_chain_is_found(n_states: int) -> None:
    made = make_network("chain", 8, 2000, coupling=0.8, n_states=n_states, random_state=2)
    found = greedy_neighbourhoods(made.X, np.full(8, n_states), gamma=0.5)
    assert [tuple(e) for e in joined(found).tolist()] == [(v, v + 1) for v in range(7)]


def test_rows_that_count_twice_are_rows_that_are_there_twice() -> None:
    data = rows(200)
    counts = np.random.default_rng(0).integers(1, 4, 200)
    repeated = np.repeat(data.codes, counts, axis=0)
    one, other = (
        _Regression(each, 0, (1, 2))._fitted.log_likelihood
        for each in (
            _Rows(data.codes, data.arity, counts.astype(float)),
            _Rows(repeated, data.arity, np.ones(len(repeated))),
        )
    )
    assert one == pytest.approx(other, rel=1e-12)
    assert greedy_neighbourhoods(data.codes, data.arity, counts.astype(float)) == greedy_neighbourhoods(
        repeated, data.arity
    )


def test_what_determines_a_column_leaves_weights_finite() -> None:
    random = np.random.default_rng(0)
    x = random.integers(0, 2, (500, 3))
    x[:, 2] = x[:, 0] | x[:, 1]
    assert greedy_neighbourhoods(x, np.array([2, 2, 2])) == [(1, 2), (0, 2), (0, 1)]
    weights = _fit(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[9.0, 0.0], [0.0, 9.0]])).weights
    assert np.all(np.isfinite(weights))


def test_constant_columns_have_no_neighbours() -> None:
    x = np.stack([np.zeros(50, int), np.arange(50) % 2, np.arange(50) % 2], axis=1)
    assert greedy_neighbourhoods(x, np.array([1, 2, 2])) == [(), (2,), (1,)]


def test_a_search_can_be_stopped() -> None:
    data, asked = rows(), iter([False, False, True])
    assert len(greedy_neighbourhoods(data.codes, data.arity, stopped=lambda: next(asked))) == 2
    assert joined([(), ()]).shape == (0, 2)
