"""Small problems of classification and regression, with groups that overlap, and what CVXPY makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Monitor, Weights, drive
from parsimon.tasks.matrices.flat import flat_problem


@dataclass(frozen=True)
class FlatToy:
    """A matrix of counts, outputs, and groups of its columns in which some occur twice."""

    X: Any
    gold: Any
    n_labels: int  # 1: the outputs are numbers
    lists: list[list[int]]
    weight: Any
    instance_weights: Any = None

    @property
    def groups(self) -> Groups:
        sizes = [len(each) for each in self.lists]
        index = np.concatenate([np.sort(each) for each in self.lists]).astype(np.int64)
        return Groups(np.concatenate([[0], np.cumsum(sizes)]), index, self.weight, self.X.shape[1])

    def problem(
        self, penalty: Any, loss: str | None = None, *, bias: bool = True, threads: int = 1
    ) -> InMemoryProblem:
        return flat_problem(
            self.X,
            self.gold,
            self.n_labels,
            penalty,
            loss or ("squared" if self.n_labels == 1 else "log"),
            bias=bias,
            weights=self.instance_weights,
            threads=threads,
        )

    def optimum(
        self, sen: float, l1: float, l2: float = 0.0, loss: str = "log", *, bias: bool = True
    ) -> float:
        """The smallest objective, by CVXPY."""
        import cvxpy as cp

        width = self.n_labels if self.n_labels > 2 else 1
        W, b = cp.Variable((self.X.shape[1], width)), cp.Variable((1, width))
        ones = np.ones((self.X.shape[0], 1))
        scores = self.X @ W + (ones @ b if bias else 0.0)
        weights = np.ones(len(self.gold)) if self.instance_weights is None else self.instance_weights
        if self.n_labels == 1:
            each = 0.5 * cp.square(scores[:, 0] - self.gold)
        elif self.n_labels == 2:
            sign = 2.0 * np.asarray(self.gold) - 1
            margin = cp.multiply(sign, scores[:, 0])
            each = cp.logistic(-margin) if loss == "log" else cp.pos(1 - margin)
        else:
            gold = np.eye(self.n_labels)[self.gold]
            each = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(gold, scores), axis=1)
        omega = l1 * cp.sum(cp.abs(W)) + 0.5 * l2 * cp.sum_squares(W)
        omega += sen * sum(
            d * cp.norm(cp.vec(W[each, :], "F")) for each, d in zip(self.lists, self.weight, strict=True)
        )
        problem = cp.Problem(cp.Minimize(weights @ each + omega))
        return float(problem.solve(solver=cp.CLARABEL))


def flat_toy(seed: int = 0, n: int = 60, d: int = 15, n_labels: int = 2, weighted: bool = False) -> FlatToy:
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(rng.poisson(0.4, (n, d)).astype(np.float64))
    true = rng.normal(size=(d, max(n_labels, 2))) * (rng.random((d, 1)) < 0.5)
    scores = X @ true + 0.5 * rng.normal(size=(n, max(n_labels, 2)))
    gold: Any = scores[:, 0] if n_labels == 1 else np.argmax(scores, axis=1)
    lists = [rng.choice(d, rng.integers(1, 6)).tolist() for _ in range(20)]
    weights = rng.uniform(0.2, 2.0, n) if weighted else None
    return FlatToy(X, gold, n_labels, lists, rng.uniform(0.5, 1.5, 20), weights)


def solved(problem: Any, solver: Any, most: int = 5000) -> Any:
    """What a solver finds, from zero on."""
    return drive(solver, problem, Weights.zeros(problem.n_features), Monitor(max_iter=most))
