"""Sequence models at work, against the enumeration of all labellings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.structures.label_schemes import forbid
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


@pytest.fixture(scope="module")
def model() -> SequenceModel:
    return SequenceTraining(l1=0.1, l2=0.1).fit(space(), *make_data())


def test_answers_agree_with_the_enumeration_of_all_labellings(model: SequenceModel) -> None:
    X, _ = make_data(3, 6)
    observations = model.observe(X)
    marginals, log_z = model.marginals(observations)
    values, best = model.kbest(observations, 2)
    at = 0
    for i, n in enumerate(X.lengths.tolist()):
        _, _, chain, scores = next(iter(model.scored(observations[slice(at, at + n)], 1)))
        every = np.array(list(product(range(model.n_labels), repeat=n)), np.int32)
        total = np.array([chain.score(scores, labels)[0] for labels in every])
        order = np.argsort(-total)
        assert log_z[i] == pytest.approx(np.logaddexp.reduce(total))
        assert best[0, at : at + n].tolist() == every[order[0]].tolist()
        np.testing.assert_allclose(np.exp(values[:, i]), np.exp(total[order[:2]] - log_z[i]))
        p = np.exp(total - log_z[i])
        for t in range(n):
            np.testing.assert_allclose(
                marginals[at + t], [p[every[:, t] == y].sum() for y in range(model.n_labels)]
            )
        at += n


def test_labels_that_are_given_and_pairs_that_are_forbidden(model: SequenceModel) -> None:
    X, _ = make_data(3, 6)
    observations = model.observe(X)
    given = np.full(X.n_tokens, -1, np.int32)
    given[0] = 2
    assert model.decode(observations, given=given)[0] == 2
    allowed = forbid(model.tags, [(a, a) for a in model.tags])
    labels = model.decode(observations, allowed=allowed)
    starts = np.cumsum(X.lengths)[:-1]
    same = np.flatnonzero(labels[1:] == labels[:-1]) + 1
    assert set(same.tolist()) <= set(starts.tolist())


def test_there_must_be_a_best_one(model: SequenceModel) -> None:
    with pytest.raises(ParsimonError, match="k must be at least 1"):
        model.kbest(model.observe(make_data(1, 2)[0]), 0)
