"""What a solver asks of a problem: other implementations do as well, as far as they go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from drawn_toys import toys
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.losses import Loss
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import BaseProblem, Evaluation, InMemoryProblem, Marginals, Screened
from parsimon.solvers import Monitor, choose_solver, drive
from parsimon.weights import Weights
from toy_problems import Toy, make_toy


@given(toys)
def test_objective_is_loss_plus_penalty(toy: Toy) -> None:
    penalty = ElasticNet(l1=0.3, l2=0.7)
    problem = toy.problem("log", penalty)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    wanted = toy.loss("log", w) + 0.3 * np.abs(w).sum() + 0.35 * (w @ w)
    assert problem.objective(w) == pytest.approx(wanted, rel=1e-11)


def test_missing_labels_and_inexact_marginals_are_not_convex() -> None:
    assert make_toy(0).problem().convex
    missing = make_toy(0, missing=0.5).problem()
    assert not missing.labels_known
    assert not missing.convex


class Elsewhere(BaseProblem):
    """The protocol over somewhere else: nothing that a solver asks for is a batch."""

    def __init__(self, there: InMemoryProblem) -> None:
        self._there = there
        self.loss, self.penalty, self.n_features = there.loss, there.penalty, there.n_features
        self.n_instances, self.oracles = there.n_instances, there.oracles
        self.exact, self.labels_known = there.exact, there.labels_known

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        found = self._there.evaluate(w, curvature=curvature, marginals=marginals)
        return replace(found, marginals=("opaque", found.marginals))

    def diagonal(self, marginals: Marginals) -> Array:
        assert isinstance(marginals, tuple)
        return self._there.diagonal(marginals[1])

    @property
    def has_covariances(self) -> bool:
        return self._there.has_covariances

    def covariance(self, w: Array, features: IntArray, draws: int, seed: int) -> Array:
        return self._there.covariance(w, features, draws, seed)

    def screen(
        self, weights: Weights, threshold: float | Array, narrow: InMemoryProblem | None = None
    ) -> Screened:
        found = self._there.screen(weights, threshold)
        return replace(found, marginals=("opaque", found.marginals))

    def restrict(self, features: IntArray) -> Elsewhere:
        return Elsewhere(self._there.restrict(features))

    def with_loss(self, loss: Loss) -> Elsewhere:
        return Elsewhere(self._there.with_loss(loss))

    def with_penalty(self, penalty: Penalty) -> Elsewhere:
        return Elsewhere(self._there.with_penalty(penalty))


GROUPS = Groups.from_lists([list(range(first, first + 3)) for first in range(0, 27, 3)], n_features=33)


@pytest.mark.parametrize(
    ("solver", "loss", "penalty"),
    [
        ("lbfgs", "log", ElasticNet(l2=0.5)),
        ("working-set", "log", ElasticNet(l1=0.5)),
        ("owlqn", "log", ElasticNet(l1=0.5)),
        ("fista", "log", ElasticNet(l1=0.5)),
        ("grafting", "log", ElasticNet(l1=0.5)),
        ("grafting-light", "log", ElasticNet(l1=0.5)),
        ("gauss-seidel", "log", ElasticNet(l1=0.5)),
        ("block-working-set", "log", GroupLasso(0.5, GROUPS)),
        ("subgradient", "hinge", ElasticNet(l1=0.5)),
        ("one-slack", "hinge", ElasticNet(l2=0.5)),
    ],
)
def test_solvers_work_on_another_implementation(solver: str, loss: str, penalty: Any) -> None:
    here = make_toy(3).problem(loss, penalty)
    there: InMemoryProblem = Elsewhere(here)
    start = Weights.zeros(here.n_features)
    one, two = (
        drive(choose_solver(solver, problem), problem, start, Monitor(max_iter=30))
        for problem in (here, there)
    )
    np.testing.assert_array_equal(one.weights.dense(), two.weights.dense())


def test_steps_are_not_scaled_where_outputs_cannot_be_compared() -> None:
    """Such a problem cannot tell how large features are; the solver works all the same."""
    there: InMemoryProblem = Elsewhere(make_toy(3).problem("hinge", ElasticNet(l1=0.5)))
    start = Weights.zeros(there.n_features)
    result = drive(choose_solver("projected-subgradient", there), there, start, Monitor(max_iter=30))
    assert result.objective < there.objective(start.dense())


@pytest.mark.parametrize("solver", ["frank-wolfe", "cutting-plane", "sgd", "bcd", "proximal-newton"])
def test_what_another_implementation_cannot_do_is_refused(solver: str) -> None:
    penalty = ElasticNet(l2=0.5) if solver == "frank-wolfe" else ElasticNet(l1=0.5)
    loss = "hinge" if solver in ("frank-wolfe", "cutting-plane") else "log"
    with pytest.raises(ParsimonError, match=f"the solver {solver} needs (a structure|vectors)"):
        choose_solver(solver, Elsewhere(make_toy(3).problem(loss, penalty)))
