"""Labels and probabilities from scores."""

from __future__ import annotations

import numpy as np

from parsimon.tasks.matrices.linear import best_labels, log_softmax, with_first


def test_the_best_labels() -> None:
    assert best_labels(np.array([[0.5], [0.0], [-1.0]])).tolist() == [1, 0, 0]
    assert best_labels(np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 2.0]])).tolist() == [1, 0]


def test_probabilities_of_scores_of_any_size() -> None:
    scores = np.array([[1000.0, 999.0], [-1000.0, -1000.0]])
    p = np.exp(log_softmax(scores))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[:, 0], [1 / (1 + np.exp(-1.0)), 0.5])


def test_the_first_of_two_classes_scores_zero() -> None:
    assert with_first(np.array([[2.0], [-1.0]])).tolist() == [[0.0, 2.0], [0.0, -1.0]]
    assert with_first(np.ones((2, 3))).shape == (2, 3)
