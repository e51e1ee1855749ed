"""Grafting: which features come in, how many at a time, and what one evaluation shows of all features."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from group_toys import thirds
from parsimon.errors import ParsimonError
from parsimon.penalties import L1, ElasticNet, GroupLasso
from parsimon.solvers import Grafting, Monitor, Status, Weights, WorkingSet, drive
from parsimon.solvers.grafting import Watched, extended, grafting_light
from parsimon.solvers.working_set import look_at_all
from solver_toys import TOYS, every_toy, solve
from toy_problems import Toy


def sets_of(solver: Any, problem: Any) -> list[set[int]]:
    """The selected features, iterate by iterate."""
    found = []
    for step in solver.iterate(problem, Weights.zeros(problem.n_features)):
        found.append(set(step.weights.features.tolist()))
        if step.status is not None:
            return found
    raise AssertionError("a solver ends with a status")


@every_toy
@pytest.mark.parametrize("unit", [1, 3])
@pytest.mark.parametrize("steps", [None, 1])
def test_features_come_in_by_units_and_stay(toy: Toy, unit: int, steps: int | None) -> None:
    problem = toy.problem("log", L1(0.2))
    sets = sets_of(Grafting(unit=unit, steps=steps), problem)
    assert sets[0] == set()
    assert all(a <= b and len(b) <= len(a) + unit for a, b in pairwise(sets))


@pytest.mark.parametrize("unit", [1, 4])
def test_the_first_to_come_in_have_the_largest_gradients(unit: int) -> None:
    problem = TOYS["real values"].problem("log", L1(0.05))
    _, gradient = problem.loss_and_gradient(np.zeros(problem.n_features))
    steepest = set(np.argsort(-np.abs(gradient), kind="stable")[:unit].tolist())
    assert next(s for s in sets_of(Grafting(unit=unit), problem) if s) == steepest


def test_strengths_count_when_features_come_in() -> None:
    toy = TOYS["real values"]
    n = toy.index.n_features
    _, gradient = toy.problem("log").loss_and_gradient(np.zeros(n))
    steepest = int(np.argmax(np.abs(gradient)))
    weight = np.where(np.arange(n) == steepest, 1000.0, 1.0)
    sets = sets_of(Grafting(unit=1), toy.problem("log", ElasticNet(0.05, 0.0, weight=weight)))
    assert all(steepest not in features for features in sets)


def test_features_that_are_not_penalised_are_there_from_the_start() -> None:
    toy = TOYS["plain"]
    penalty = ElasticNet(0.5, 0.1).exempt(np.array([1, 4]), toy.index.n_features)
    assert sets_of(Grafting(unit=1), toy.problem("log", penalty))[0] == {1, 4}


def test_whole_groups_come_in() -> None:
    toy = TOYS["plain"]
    groups = thirds(toy.index.n_features)
    members = [set(groups.members(m).tolist()) for m in range(groups.n_groups)]
    for features in sets_of(Grafting(unit=1), toy.problem("log", GroupLasso(0.2, groups))):
        assert features == set().union(*(each for each in members if each & features))


@pytest.mark.parametrize("name", ["plain", "real values", "trees"])
def test_one_step_between_selections_takes_fewer_evaluations(name: str) -> None:
    problem = TOYS[name].problem("log", L1(0.1))
    full, light = (solve(Grafting(unit=1, steps=steps, tol=1e-6), problem) for steps in (None, 1))
    assert light.status is full.status is Status.CONVERGED
    assert light.objective == pytest.approx(full.objective, rel=1e-9)
    assert light.history[-1].evaluations < full.history[-1].evaluations
    assert grafting_light(1e-6) == Grafting(unit=50, steps=1, tol=1e-6)


def test_a_start_is_taken_up() -> None:
    problem = TOYS["plain"].problem("log", L1(0.2))
    best = solve(WorkingSet(tol=1e-9), problem)
    events = drive(Grafting(tol=1e-5), problem, best.weights, Monitor()).history
    assert len(events) == 1
    assert events[0].objective == pytest.approx(best.objective, rel=1e-12)


@every_toy
def test_an_evaluation_that_is_watched_shows_all_features(toy: Toy) -> None:
    problem, random = toy.problem("log", L1(0.2)), np.random.default_rng(0)
    features = np.flatnonzero(random.random(problem.n_features) < 0.4)
    watched, narrow = Watched.of(problem, features), problem.restrict(features)
    w, other = random.normal(size=(2, len(features)))
    assert watched.n_features == len(features)
    assert watched.view_at(w) is None
    there, plain = watched.evaluate(w), narrow.evaluate(w)
    assert there.loss == pytest.approx(plain.loss, rel=1e-12)
    np.testing.assert_allclose(there.gradient, plain.gradient, atol=1e-10)
    view = watched.view_at(w)
    assert view is not None
    wanted = look_at_all(problem, Weights(w, features, problem.n_features), 1.0)
    assert (view.largest, view.objective) == pytest.approx((wanted.largest, wanted.objective), rel=1e-10)
    assert watched.view_at(other) is None
    fewer = watched.restrict(np.arange(0, len(features), 2))
    assert fewer.loss_and_gradient(w[::2])[0] == pytest.approx(
        problem.restrict(features[::2]).loss_and_gradient(w[::2])[0]
    )


def test_more_features_have_zero_weights() -> None:
    weights = Weights(np.array([1.0, -2.0]), np.array([2, 5]), 9)
    more = extended(weights, np.array([0, 5, 8]))
    assert more.features is not None
    assert more.features.tolist() == [0, 2, 5, 8]
    np.testing.assert_array_equal(more.dense(), weights.dense())


@pytest.mark.parametrize("wrong", [{"unit": 0}, {"steps": 0}])
def test_settings(wrong: dict[str, int]) -> None:
    with pytest.raises(ParsimonError, match="at least 1 feature at a time and takes at least 1 step"):
        Grafting(**wrong)  # type: ignore[arg-type]
