"""A task within some of its features is the task with a restricted problem, told in the numbers of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from parsimon.arrays import IntArray
from parsimon.solvers import Weights
from parsimon.tasks.within import Within
from tiny_training import TinyTask, TinyTraining, examples


@dataclass(frozen=True)
class Keeping(TinyTask):
    """The task of a selection."""

    kept: IntArray


KEPT = np.array([0, 2, 3])


def task():
    return TinyTraining(l1=0.3).task(examples())


def test_numbers_there_and_back() -> None:
    inside = Within.of(task(), KEPT)
    n = inside.task.problem.n_features
    given = Weights(np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3]), n)
    narrow = inside.narrowed(given)
    assert narrow.dense().tolist() == [0.0, 2.0, 3.0]
    assert inside.widened(narrow).dense().tolist() == [0.0, 0.0, 2.0, 3.0, *[0.0] * (n - 4)]
    assert inside.narrowed(Weights.zeros(n)).dense().tolist() == [0.0] * 3


@pytest.mark.parametrize("start", [False, True])
def test_the_optimum_is_that_of_the_restricted_problem(start: bool) -> None:
    training, whole = TinyTraining(l1=0.3, tol=1e-8), task()
    n = whole.problem.n_features
    first = Weights(np.ones(n), None, n) if start else None
    result = training.solve(Keeping(whole.problem, KEPT), first)
    alone = training.solve(Within.of(whole, KEPT))
    assert result.weights.n_features == n
    np.testing.assert_allclose(result.weights.dense()[KEPT], alone.weights.dense(), atol=1e-6)
    assert np.flatnonzero(result.weights.dense()).tolist() == [0, 2, 3][: result.weights.n_active]
    assert whole.problem.objective(result.weights.dense()) == pytest.approx(result.objective)


def test_development_data_are_scored_by_all_features() -> None:
    inside, dev = Within.of(task(), KEPT), examples(40, 1)
    w = np.array([0.5, -0.2, 1.0])
    widened = inside.widened(Weights(w, None, 3))
    assert inside.development_score(dev)(Weights(w, None, 3)) == task().development_score(dev)(widened)
    assert inside.facts() == task().facts()


def test_the_model_has_all_features() -> None:
    training, inside = TinyTraining(l1=0.3), Within.of(task(), KEPT)
    model = inside.model(training.solve(inside), {})
    assert len(model.weights) == inside.task.problem.n_features
    assert not model.weights[[1, 4, 5]].any()
