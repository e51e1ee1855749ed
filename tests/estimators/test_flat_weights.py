"""What classifiers with coef_ share: scores, probabilities, and weights of instances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon import OverlappingGroupLassoClassifier
from parsimon.errors import ParsimonError
from parsimon.estimators.flat_weights import LinearClassifier, check_classes, instance_weights

X, Y = np.zeros((4, 1)), np.array(["a", "b", "b", "b"])


class Fixed(LinearClassifier):
    """Scores that are given."""

    def __init__(self, margins: Any, loss: str = "log") -> None:
        self.margins, self.loss = np.asarray(margins, float), loss
        self.classes_ = np.array(["a", "b", "c"][: max(2, self.margins.shape[1])])

    def _margins(self, X: Any) -> Any:  # type: ignore[override]
        return self.margins


def test_two_classes() -> None:
    two = Fixed([[2.0], [-1.0], [0.0]])
    assert two.decision_function(X).tolist() == [2.0, -1.0, 0.0]
    assert two.predict(X).tolist() == ["b", "a", "a"]
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp([-2.0, 1.0, 0.0])))
    np.testing.assert_allclose(np.exp(two.predict_log_proba(X)), two.predict_proba(X))


def test_three_classes() -> None:
    three = Fixed([[1.0, 2.0, 0.0], [3.0, 2.0, 1.0]])
    assert three.decision_function(X).shape == (2, 3)
    assert three.predict(X).tolist() == ["b", "a"]
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)


def test_the_hinge_loss_has_no_probabilities() -> None:
    hinge = Fixed([[1.0]], "hinge")
    assert not hasattr(hinge, "predict_proba")
    assert not hasattr(hinge, "predict_log_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        hinge.predict_proba(X)


def test_weights_of_instances() -> None:
    assert instance_weights(None, None, X, Y) is None
    assert instance_weights([1, 2, 3, 4], None, X, Y).tolist() == [1, 2, 3, 4]  # type: ignore[union-attr]
    balanced = instance_weights(None, "balanced", X, Y)
    assert balanced is not None
    np.testing.assert_allclose(balanced, [2.0, 2 / 3, 2 / 3, 2 / 3])
    both = instance_weights([1, 0, 2, 1], {"a": 10}, X, Y)
    assert both is not None
    assert both.tolist() == [10, 0, 2, 1]
    with pytest.raises(ParsimonError, match="sample_weight has numbers below zero"):
        instance_weights([-1, 1, 1, 1], None, X, Y)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", float("nan")], r"y\[1\]: the label is missing"),
        (["a", None], "y has None; give the class of every instance"),
        (["a", 1], "y has labels of the types int and str; give all labels as one type"),
        ([1, "1"], r"y\[1\]: the labels 1 .int. and '1' .str. have the same name"),
        (np.array(["a", np.nan], dtype=object), r"y\[1\]: the label is missing"),
        (["a\0", "a"], r"y\[0\]: the label 'a\\x00' has a line break"),
    ],
)
def test_classes_that_an_array_would_change_in_silence(y: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        check_classes(y)


@pytest.mark.parametrize(
    "y", [None, [1, 2], [1.0, 2], [True, 0], ["a"], np.array([[1], [2]]), [[1], [2]], "ab"]
)
def test_other_classes_are_left_to_scikit_learn(y: Any) -> None:
    check_classes(y)


def test_whole_numbers_that_no_float_holds() -> None:
    with pytest.raises(ParsimonError, match="X has a whole number that is too large for a float"):
        OverlappingGroupLassoClassifier().fit([[10**400, 1], [1, 2]], ["a", "b"])
