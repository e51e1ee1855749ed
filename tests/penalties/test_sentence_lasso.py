"""The sentence regularizer: tokens count as often as they are there; what it cannot do is refused."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import SentenceLasso
from parsimon.penalties.groups import Groups


def test_a_majorizer_counts_a_feature_as_often_as_a_group_has_it() -> None:
    sentences = Groups(np.array([0, 3, 5]), np.array([0, 1, 1, 1, 2]), np.ones(2), n_features=3)
    penalty = SentenceLasso(0.5, sentences, l1=0.1)
    w = np.array([1.0, -2.0, 0.5])
    norms = np.sqrt([1 + 2 * 4, 4 + 0.25])
    wanted = [0.5 / norms[0], 1.0 / norms[0] + 0.5 / norms[1], 0.5 / norms[1]]
    np.testing.assert_allclose(penalty.majorizer(w), wanted + 0.1 / np.abs(w))


SENTENCES = Groups(np.array([0, 3, 5]), np.array([0, 1, 1, 1, 2]), np.array([1.0, 2.0]), n_features=4)


def test_every_token_has_its_weight_in_the_norm_of_its_sentence() -> None:
    w = np.array([1.0, -2.0, 0.5, 3.0])
    norms = [np.linalg.norm([1.0, -2.0, -2.0]), 2 * np.linalg.norm([-2.0, 0.5])]
    wanted = 0.7 * sum(norms) + 0.1 * 6.5 + 0.3 / 2 * np.sum(w**2)
    assert SentenceLasso(0.7, SENTENCES, l1=0.1, l2=0.3).value(w) == pytest.approx(wanted)


@pytest.mark.parametrize("kept", [[0, 1, 2], [1], [2, 3], [3]])
def test_restriction_is_the_penalty_with_the_other_weights_zero(kept: list[int]) -> None:
    penalty, w = SentenceLasso(0.7, SENTENCES, l1=0.1), np.zeros(4)
    w[kept] = [1.5, -2.0, 0.5][: len(kept)]
    assert penalty.restrict(np.array(kept)).value(w[kept]) == pytest.approx(penalty.value(w))


def test_what_it_cannot_do_is_refused() -> None:
    penalty, w = SentenceLasso(0.7, SENTENCES), np.zeros(4)
    assert not penalty.proximal
    with pytest.raises(ParsimonError, match="no proximal operator; use the solver admm"):
        penalty.prox(w, 1.0)
    with pytest.raises(ParsimonError, match=r"only a duality gap says how far .*; use admm"):
        penalty.violation(w, w)
    with pytest.raises(ParsimonError, match="sentences have the norm 2, not inf"):
        SentenceLasso(0.7, SENTENCES, norm="inf")
