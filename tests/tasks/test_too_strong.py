"""A penalty that drops everything is named, with the strength from which on it does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from parsimon.errors import ParsimonWarning
from parsimon.penalties import ElasticNet, GroupLasso, Groups, SentenceLasso
from parsimon.solvers import FISTA, Weights, drive
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.too_strong import TooStrong, has_kept, too_strong
from tiny_training import TinyTraining, examples

PAIRS = Groups.from_lists([[0, 1], [2, 3], [4, 5]], 6)


def fitted(penalty):
    data = examples()
    return flat_problem(data.X, data.y, 2, penalty)


def solved(problem):
    return drive(FISTA(tol=1e-8), problem, Weights.zeros(problem.n_features)).weights


@pytest.mark.parametrize(
    ("penalty", "name"),
    [
        (lambda s: ElasticNet(l1=s, l2=0.1), "l1"),
        (lambda s: GroupLasso(s, PAIRS), "alpha"),
        (lambda s: GroupLasso(s, PAIRS, l1=0.5), "alpha"),
    ],
)
def test_the_limit_is_where_the_first_weight_comes_in(penalty, name):
    problem = fitted(penalty(1e6))
    found = too_strong(problem, solved(problem), "alpha")
    assert found is not None
    assert (found.name, found.given) == (name, 1e6)
    for factor, kept in ((1.001, False), (0.999, True)):
        near = problem.with_penalty(problem.penalty.scaled(factor * found.limit))
        weights = solved(near)
        assert has_kept(near.penalty, weights) is kept
        assert (too_strong(near, weights, "alpha") is None) is kept


def test_of_two_strengths_the_one_that_alone_is_too_much_is_named():
    problem = fitted(GroupLasso(0.01, PAIRS, l1=1e6))
    found = too_strong(problem, solved(problem), "alpha")
    assert found is not None
    assert found.name == "l1"


def test_without_a_penalty_that_drops_there_is_nothing_to_say():
    problem = fitted(ElasticNet(l2=1e6))
    assert too_strong(problem, Weights.zeros(problem.n_features), "alpha") is None
    weak = fitted(ElasticNet(l1=1e-3))
    assert too_strong(weak, Weights.zeros(weak.n_features), "alpha") is None  # a run that hardly began


def test_weights_that_are_exempt_do_not_count_as_kept():
    penalty = ElasticNet(l1=1.0).exempt(np.array([2]), 7)
    only = Weights(np.array([3.0]), np.array([2]), 7)
    assert not has_kept(penalty, only)
    assert has_kept(penalty, Weights(np.array([3.0, 1.0]), np.array([2, 4]), 7))


def test_the_limit_of_sentences_drops_everything():
    """It need not be the smallest that does: but −g is a sum of pulls, none longer than it allows."""
    sentences = Groups(np.array([0, 3, 5]), np.array([0, 1, 1, 1, 2]), np.ones(2), n_features=3)
    g = np.array([1.0, -3.0, 2.0])
    limit = SentenceLasso(1.0, sentences).dual_norm(g)
    assert limit == pytest.approx(
        np.hypot(1.0, 2.0)
    )  # the second sentence: one of three tokens, and one of one
    pulls = np.array([1.0, 1.0, 1.0, 1.0, 2.0])  # by token, in absolute values
    assert np.add.reduceat(pulls, [0, 1, 4]).tolist() == np.abs(g).tolist()
    assert max(np.linalg.norm(pulls[:3]), np.linalg.norm(pulls[3:])) == pytest.approx(limit)
    assert SentenceLasso(1.0, sentences, l1=3.0).dual_norm(g) == 0


def test_training_warns_and_keeps_what_it_found_out():
    with pytest.warns(
        ParsimonWarning, match=r"l1=1e\+06 is too strong, as it drops everything from l1="
    ) as caught:
        model = TinyTraining(l1=1e6).run(examples()).model
    assert len(caught) == 1
    found = TooStrong(**model.info["too_strong"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = TinyTraining(l1=0.99 * found.limit).run(examples()).model
    assert "too_strong" not in kept.info
    assert np.count_nonzero(kept.weights)


def test_pruning_that_leaves_nothing_is_said():
    with pytest.warns(ParsimonWarning, match="prune=1000 drops every weight"):
        TinyTraining(l1=0.1, prune=1000.0).run(examples())
