"""Views of a problem pass on all that is asked, and stay views."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.losses import Log, Perceptron
from parsimon.penalties import L1, L2
from parsimon.solvers import OWLQN, Weights
from parsimon.solvers.problem_views import ProblemView
from solver_toys import every_toy, solve
from toy_problems import Toy, make_toy


@every_toy
def test_a_view_answers_as_the_problem_does(toy: Toy) -> None:
    problem = toy.problem("log", L1(0.3))
    view = ProblemView(problem)
    for name in (
        "loss",
        "penalty",
        "n_features",
        "n_instances",
        "oracles",
        "exact",
        "labels_known",
        "convex",
    ):
        assert getattr(view, name) == getattr(problem, name), name
    w = np.random.default_rng(0).normal(size=problem.n_features)
    mine, its = (each.evaluate(w, curvature=True, marginals=True) for each in (view, problem))
    assert mine.loss == its.loss
    np.testing.assert_array_equal(mine.gradient, its.gradient)
    np.testing.assert_array_equal(mine.curvature, its.curvature)
    np.testing.assert_array_equal(view.diagonal(mine.marginals), problem.diagonal(its.marginals))
    assert view.objective(w) == problem.objective(w)
    active = np.arange(0, problem.n_features, 3)
    weights = Weights(w[active], active, problem.n_features)
    of_view, of_problem = (each.screen(weights, 0.2) for each in (view, problem))
    np.testing.assert_array_equal(of_view.features, of_problem.features)
    np.testing.assert_array_equal(of_view.gradient, of_problem.gradient)
    some = np.array([0, 2, 5])
    assert view.restrict(some).objective(w[some]) == problem.restrict(some).objective(w[some])


def test_a_view_stays_one_with_another_loss_or_penalty() -> None:
    view = ProblemView(make_toy(1).problem("log", L1(0.3)))
    for other, loss, penalty in (
        (view.with_loss(Perceptron()), Perceptron(), L1(0.3)),
        (view.with_penalty(L2(2.0)), Log(), L2(2.0)),
    ):
        assert isinstance(other, ProblemView)
        assert (other.loss, other.penalty) == (loss, penalty)
    assert (view.loss, view.penalty) == (Log(), L1(0.3))
    partial = ProblemView(make_toy(1, missing=0.5).problem("log"))
    assert not partial.labels_known
    assert not partial.convex


@pytest.mark.parametrize("strength", [0.1, 0.5])
def test_a_solver_does_the_same_on_a_view(strength: float) -> None:
    problem = make_toy(2, real=True).problem("log", L1(strength))
    through, plain = solve(OWLQN(), ProblemView(problem)), solve(OWLQN(), problem)  # type: ignore[arg-type]
    np.testing.assert_array_equal(through.weights.dense(), plain.weights.dense())
