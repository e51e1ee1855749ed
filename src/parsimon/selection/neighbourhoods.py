"""Greedy neighbourhoods of discrete variables (Jalali, Johnson & Ravikumar 2011, On learning discrete graphical models
using greedy methods).

Every variable is regressed on the others, by multinomial logistic regression. One neighbour comes in at a time, and
those that have become superfluous leave, as long as

    2 ℓ − Σ_u [(K_v − 1)(K_u − 1) log n + 2 γ log(p − 1)]

grows: minus the extended BIC of a neighbourhood of v (Barber & Drton 2015). Which candidate comes next is told by the
score test (Rao 1948), so that only one regression is fitted a step:

    gᵀ (I_uu − I_uS I_SS⁻¹ I_Su)⁻¹ g

with the gradient g of ℓ for the weights of u at zero, and the Fisher information I of those and of the weights of the
neighbours there are (S). A regression depends on a row only through the states of v and of its neighbours, so rows are
counted by these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon.arrays import Array, IntArray

RIDGE = 0.01  # keeps weights finite where a state never meets another
NEWTON_STEPS = 50
ENOUGH = 1e-3  # of a gain in log-likelihood that another Newton step is worth


def greedy_neighbourhoods(
    codes: IntArray,
    arity: IntArray,
    counts: Array | None = None,
    *,
    gamma: float = 0.0,
    stopped: Callable[[], bool] = lambda: False,
) -> list[tuple[int, ...]]:
    """The neighbours of every variable; fewer lists than variables if it is `stopped`. Rows count by `counts`.

    >>> x = np.random.default_rng(0).integers(0, 2, (500, 3))
    >>> x[:, 1] = np.where(np.arange(500) % 5 == 0, 1 - x[:, 0], x[:, 0])
    >>> greedy_neighbourhoods(x, np.array([2, 2, 2]))
    [(1,), (0,), ()]
    """
    rows = _Rows(codes, arity, np.ones(len(codes)) if counts is None else counts)
    found = []
    for v in range(len(arity)):
        if stopped():
            break
        found.append(_neighbours(rows, v, gamma))
    return found


def joined(neighbourhoods: Sequence[Sequence[int]]) -> IntArray:
    """The pairs u < v of which one at least is a neighbour of the other, ascending.

    >>> joined([(2,), (), (0, 1)]).tolist()
    [[0, 2], [1, 2]]
    """
    pairs = {(min(u, v), max(u, v)) for v, others in enumerate(neighbourhoods) for u in others}
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class _Rows:
    codes: IntArray  # (rows, variables)
    arity: IntArray
    counts: Array  # the weight of each row


def _neighbours(rows: _Rows, v: int, gamma: float) -> tuple[int, ...]:
    """Forward steps, and backward steps after each."""
    log_n, log_p = np.log(np.sum(rows.counts)), np.log(max(len(rows.arity) - 1, 1))
    cost = (rows.arity[v] - 1) * (rows.arity - 1) * log_n + 2 * gamma * log_p
    best = _Regression(rows, v, ())
    while True:
        larger = _forward(best, cost)
        if larger is None or larger.worth(cost) <= best.worth(cost):
            return tuple(sorted(best.neighbours))
        best = larger
        while len(best.neighbours) > 1:
            smaller = max((best.without(u) for u in best.neighbours), key=lambda each: each.worth(cost))
            if smaller.worth(cost) <= best.worth(cost):
                break
            best = smaller


def _forward(now: _Regression, cost: Array) -> _Regression | None:
    """The regression with one more neighbour, that which promises most; None if none promises anything."""
    if now.rows.arity[now.v] < 2:
        return None
    promises = {
        u: now.score_statistic(u) - cost[u]
        for u in np.flatnonzero(now.rows.arity > 1).tolist()
        if u != now.v and u not in now.neighbours
    }
    u = max(promises, key=lambda each: promises[each], default=None)
    return None if u is None or promises[u] <= 0 else now.with_(u)


@dataclass(frozen=True, eq=False)
class _Regression:
    """A multinomial logistic regression of v on its neighbours. P patterns of their states, q inputs, K states of v."""

    rows: _Rows
    v: int
    neighbours: tuple[int, ...]

    def with_(self, u: int) -> _Regression:
        return _Regression(self.rows, self.v, (*self.neighbours, u))

    def without(self, u: int) -> _Regression:
        return _Regression(self.rows, self.v, tuple(each for each in self.neighbours if each != u))

    def worth(self, cost: Array) -> float:
        """2 ℓ minus what its neighbours cost."""
        return 2 * self._fitted.log_likelihood - float(np.sum(cost[list(self.neighbours)]))

    @cached_property
    def pattern(self) -> IntArray:
        """Of every row, the number of the pattern of its neighbours' states."""
        out = np.zeros(len(self.rows.codes), np.int64)
        for u in self.neighbours:
            out = np.unique(out * self.rows.arity[u] + self.rows.codes[:, u], return_inverse=True)[1]
        return out

    @cached_property
    def inputs(self) -> Array:
        """(P, q): one, and indicators of all states but the first of each neighbour."""
        first = np.unique(self.pattern, return_index=True)[1]
        states = self.rows.codes[first]
        indicators = [states[:, [u]] == np.arange(1, self.rows.arity[u]) for u in self.neighbours]
        return np.concatenate([np.ones((len(first), 1)), *indicators], axis=1)

    def table(self, u: int | None = None) -> Array:
        """(P, K, K_u): how often each pattern, each state of v and each of u meet; (P, K, 1) without a u."""
        codes, K = self.rows.codes, int(self.rows.arity[self.v])
        K_u = 1 if u is None else int(self.rows.arity[u])
        cell = self.pattern * K + codes[:, self.v]
        if u is not None:
            cell = cell * K_u + codes[:, u]
        size = len(self.inputs) * K * K_u
        return np.bincount(cell, self.rows.counts, size).astype(np.float64).reshape(-1, K, K_u)

    @cached_property
    def _fitted(self) -> _Fitted:
        return _fit(self.inputs, self.table()[:, :, 0])

    @cached_property
    def _curves(self) -> Array:
        """(P, q · m · m): z_q (diag p − p pᵀ) of each pattern."""
        curves: Array = np.einsum("pq,pab->pqab", self.inputs, self._fitted.spread)
        return curves.reshape(len(self.inputs), -1)

    def score_statistic(self, u: int) -> float:
        """Of the hypothesis that u is no neighbour."""
        fitted, table = self._fitted, self.table(u)
        met = table.sum(axis=1)[:, 1:]  # (P, K_u − 1)
        m, states, q = fitted.spread.shape[1], met.shape[1], self.inputs.shape[1]
        # (K_u − 1, m), then the information of these weights, and with those there are.
        gradient = (table[:, 1:, 1:].sum(axis=0) - fitted.p[:, 1:].T @ met).T
        own = np.zeros((states, m, states, m))
        own[np.arange(states), :, np.arange(states), :] = np.einsum("pl,pab->lab", met, fitted.spread)
        mixed = (met.T @ self._curves).reshape(states, q, m, m).transpose(0, 2, 1, 3)
        across = mixed.reshape(states * m, q * m)
        information = own.reshape(states * m, -1) - across @ np.linalg.solve(fitted.information, across.T)
        information[np.diag_indices_from(information)] += RIDGE
        g = gradient.ravel()
        return float(g @ np.linalg.solve(information, g))


@dataclass(frozen=True, eq=False)
class _Fitted:
    weights: Array  # (q, m), for all states but the first, m = K − 1
    p: Array  # (P, K)
    spread: Array  # (P, m, m): diag p − p pᵀ
    information: Array  # (q · m, q · m)
    log_likelihood: float


def _fit(inputs: Array, table: Array) -> _Fitted:
    """Newton's method, with steps that are halved until ℓ − ½ RIDGE ‖w‖² grows."""
    n = table.sum(axis=1)
    q, m = inputs.shape[1], table.shape[1] - 1
    weights = np.zeros((q, m))
    log_p = _log_softmax(inputs @ weights)
    value = float(np.sum(table * log_p))
    for _ in range(NEWTON_STEPS):
        p = np.exp(log_p)
        gradient = inputs.T @ (table - n[:, None] * p)[:, 1:] - RIDGE * weights
        information = _information(inputs, n[:, None, None] * _spread(p))
        step = np.linalg.solve(information, gradient.ravel()).reshape(q, m)
        gain = float(np.sum(gradient * step))
        share = 1.0
        while gain > ENOUGH and share > 1e-9:
            tried = weights + share * step
            log_tried = _log_softmax(inputs @ tried)
            there = float(np.sum(table * log_tried) - RIDGE / 2 * np.sum(tried**2))
            if there >= value + 1e-4 * share * gain:
                weights, log_p, value = tried, log_tried, there
                break
            share /= 2
        else:
            break
    p = np.exp(log_p)
    spread = _spread(p)
    information = _information(inputs, n[:, None, None] * spread)
    return _Fitted(weights, p, spread, information, float(np.sum(table * log_p)))


def _log_softmax(scores: Array) -> Array:
    """With a first state that scores nothing."""
    all_scores = np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)
    return all_scores - np.logaddexp.reduce(all_scores, axis=1, keepdims=True)


def _spread(p: Array) -> Array:
    """diag p − p pᵀ of all states but the first."""
    rest = p[:, 1:]
    out = -rest[:, :, None] * rest[:, None, :]
    diagonal = np.arange(rest.shape[1])
    out[:, diagonal, diagonal] += rest
    return out


def _information(inputs: Array, spread: Array) -> Array:
    """Σ (z zᵀ) ⊗ (diag p − p pᵀ), and the ridge."""
    q, m = inputs.shape[1], spread.shape[1]
    out = np.empty((q, m, q, m))
    for a in range(m):
        for b in range(m):
            out[:, a, :, b] = inputs.T @ (inputs * spread[:, a, b, None])
    flat = out.reshape(q * m, q * m)
    flat[np.diag_indices_from(flat)] += RIDGE
    return flat
