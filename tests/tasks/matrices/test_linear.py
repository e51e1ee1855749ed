"""Scores that are sums of weights: labels and probabilities."""

from __future__ import annotations

import numpy as np

from parsimon.tasks.matrices.linear import best_labels, log_softmax, with_first


def test_labels() -> None:
    assert best_labels(np.array([[0.5], [-0.5], [0.0]])).tolist() == [1, 0, 0]
    assert best_labels(np.array([[0.5, 0.7, 0.1], [1.0, 1.0, 0.0]])).tolist() == [1, 0]
    assert best_labels(np.zeros((0, 3))).tolist() == []


def test_the_first_of_two_classes_scores_zero() -> None:
    assert with_first(np.array([[2.0], [-1.0]])).tolist() == [[0.0, 2.0], [0.0, -1.0]]
    three = np.array([[1.0, 2.0, 3.0]])
    assert with_first(three) is three
    two = np.random.default_rng(0).normal(size=(20, 1))
    assert np.array_equal(best_labels(two), best_labels(with_first(two)))


def test_probabilities_of_scores_of_any_size() -> None:
    scores = np.array([[0.0, 1.0, 2.0], [1e308, -1e308, 0.0], [-1e5, -1e5, -1e5]])
    p = np.exp(log_softmax(scores))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
    np.testing.assert_allclose(p[1:], [[1, 0, 0], [1 / 3] * 3])
