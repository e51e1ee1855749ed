"""What linear classifiers share: scores, classes, probabilities and weights of instances."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.estimators import OverlappingGroupLassoClassifier
from parsimon.estimators.flat_weights import instance_weights

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_classes_and_probabilities_agree(n_classes: int) -> None:
    y = np.argmax(X[:, :n_classes], axis=1)
    classifier = OverlappingGroupLassoClassifier(0.1).fit(X, y)
    scores, p = classifier.decision_function(X), classifier.predict_proba(X)
    assert scores.shape == ((60,) if n_classes == 2 else (60, 3))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(classifier.classes_[p.argmax(axis=1)], classifier.predict(X))
    np.testing.assert_allclose(np.log(p), classifier.predict_log_proba(X))


def test_a_loss_without_probabilities() -> None:
    classifier = OverlappingGroupLassoClassifier(0.1, loss="hinge", l2=0.1, groups=None)
    assert not hasattr(classifier, "predict_proba")


def test_weights_of_instances() -> None:
    y = np.array([0, 0, 1])
    assert instance_weights(None, None, X[:3], y) is None
    both = instance_weights([1.0, 2.0, 3.0], {0: 1.0, 1: 2.0}, X[:3], y)
    assert both is not None
    assert both.tolist() == [1.0, 2.0, 6.0]
    with pytest.raises(ParsimonError, match="below zero"):
        instance_weights([1.0, -2.0, 3.0], None, X[:3], y)
