"""The sentence regularizer: tokens count as often as they are there; what it cannot do is refused."""

from __future__ import annotations

import numpy as np

from parsimon.penalties import SentenceLasso
from parsimon.penalties.groups import Groups


def test_a_majorizer_counts_a_feature_as_often_as_a_group_has_it() -> None:
    sentences = Groups(np.array([0, 3, 5]), np.array([0, 1, 1, 1, 2]), np.ones(2), n_features=3)
    penalty = SentenceLasso(0.5, sentences, l1=0.1)
    w = np.array([1.0, -2.0, 0.5])
    norms = np.sqrt([1 + 2 * 4, 4 + 0.25])
    wanted = [0.5 / norms[0], 1.0 / norms[0] + 0.5 / norms[1], 0.5 / norms[1]]
    np.testing.assert_allclose(penalty.majorizer(w), wanted + 0.1 / np.abs(w))
