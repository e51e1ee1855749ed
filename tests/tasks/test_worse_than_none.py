"""A model that is worse than one without weights is said to be so, and others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from parsimon import SequenceLabeler
from parsimon.errors import ParsimonWarning
from parsimon.penalties import ElasticNet
from parsimon.solvers import FISTA, Result, Status, Weights, drive
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.worse_than_none import objective, worse_than_none
from tiny_training import examples

LABELS = [["a", "b", "a", "b", "a"]]


def all_features(w):
    return Weights(w, None, len(w))


def items(value):
    return [[{"v": value if label == "a" else -value} for label in LABELS[0]]]


@pytest.mark.parametrize(
    ("solver", "loss"), [("sgd", "log"), ("sgd", "hinge"), ("sgd-l1", "log"), ("sgd-l1", "hinge")]
)
def test_steps_that_are_too_large_for_unscaled_numbers(solver, loss):
    with pytest.warns(ParsimonWarning, match=r"worse than one without any weights.* steps are too large"):
        SequenceLabeler(solver=solver, loss=loss, l1=0.01).fit(items(1000.0), LABELS)


@pytest.mark.parametrize(
    ("solver", "loss", "value"),
    [
        ("sgd", "log", 1.0),
        ("sgd-l1", "hinge", 1.0),
        ("mira", "hinge", 1.0),
        ("mira", "hinge", 1000.0),
        ("auto", "log", 1000.0),
    ],
)
def test_nothing_is_said_of_a_model_that_has_learnt(solver, loss, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceLabeler(solver=solver, loss=loss, l1=0.01).fit(items(value), LABELS)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status.DONE, "its steps are too large"),
        (Status.TIME, "give it more time"),
        (Status.ITERATIONS, "give it more time"),
        (Status.DEVELOPMENT, None),
        (Status.CONVERGED, None),
    ],
)
def test_what_to_do_depends_on_why_training_ended(status, said):
    data = examples()
    problem = flat_problem(data.X, data.y, 2, ElasticNet(l1=0.5))
    weights = all_features(np.full(problem.n_features, 100.0))
    found = worse_than_none(problem, Result(weights, status, objective(problem, weights)))
    assert (found is None) if said is None else (said in found)


def test_losses_as_they_were_met_do_not_count_by_themselves():
    """One epoch from w = 0 may meet larger losses than it leaves."""
    data = examples()
    problem = flat_problem(data.X, data.y, 2, ElasticNet(l1=0.5))
    good = drive(FISTA(), problem, Weights.zeros(problem.n_features)).weights
    assert worse_than_none(problem, Result(good, Status.DONE, 1e9)) is None


def test_the_objective_is_that_of_all_features():
    data = examples()
    problem = flat_problem(data.X, data.y, 2, ElasticNet(l1=0.5))
    w = np.zeros(problem.n_features)
    w[[1, 3]] = 0.3, -0.2
    assert objective(problem, all_features(w)) == pytest.approx(problem.objective(w), rel=1e-12)
