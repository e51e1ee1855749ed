"""What classifiers with ``coef_`` and ``intercept_`` share: predictions from scores, and weights of instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.label_values import LabelNumbers, plain
from parsimon.tasks.matrices.linear import best_labels, log_softmax, with_first
from parsimon.tasks.training import named_loss


def _has_probabilities(classifier: LinearClassifier) -> bool:
    loss = named_loss(classifier.loss)
    if loss != "log":
        raise AttributeError(f"the {loss} loss has no probabilities; use loss='log'.")
    return True


class LinearClassifier(ClassifierMixin):
    """A classifier that compares scores of classes."""

    classes_: Any
    loss: Any
    _margins: Callable[[Any], Array]  # scores of the second of two classes, or of all, (instances, width)

    def decision_function(self, X: Any) -> Array:
        """The score of the second class, or of each if there are more than two."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> Any:
        """The best class of each instance."""
        best = best_labels(self._margins(X))
        return self.classes_[best]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """P(class | instance), in the order of `classes_`; for the log loss."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | instance)."""
        return log_softmax(with_first(self._margins(X)))


def validated(estimator: Any, *data: Any, **settings: Any) -> Any:
    """scikit-learn's `validate_data`; what it refuses is refused in one line, as everywhere else."""
    from sklearn.utils.validation import validate_data

    if not hasattr(data[0], "shape") and isinstance(data[0], dict | set | frozenset | Iterator):
        raise ParsimonError(f"X is of type {type(data[0]).__name__}; give a matrix, a row for each instance.")
    try:
        return validate_data(estimator, *data, **settings)
    except ValueError as error:
        raise ParsimonError(" ".join(str(error).split())) from None
    except OverflowError:
        raise ParsimonError("X has a whole number that is too large for a float; scale X down.") from None


def check_classes(y: Any) -> None:
    """Refuses classes that an array would change in silence: NaN among texts, and texts among numbers."""
    labels = y.tolist() if hasattr(y, "tolist") else y
    if not isinstance(labels, list | tuple) or any(isinstance(label, list | tuple) for label in labels):
        return  # scikit-learn says what is wrong with it
    numbers = LabelNumbers()
    for i, label in enumerate(labels):
        try:
            numbers.add(label)
        except ParsimonError as error:
            raise ParsimonError(f"y[{i}]: {error}.") from None
    kinds = sorted({type(plain(label)).__name__ for label in labels})
    if "NoneType" in kinds:
        raise ParsimonError("y has None; give the class of every instance.")
    if len(kinds) > 1 and "str" in kinds:
        raise ParsimonError(f"y has labels of the types {' and '.join(kinds)}; give all labels as one type.")


def instance_weights(sample_weight: Any, class_weight: Any, X: Any, y: Any) -> Array | None:
    """The weight of each instance, or None if all weights are 1."""
    from sklearn.utils.class_weight import compute_sample_weight
    from sklearn.utils.validation import _check_sample_weight

    if sample_weight is None and class_weight is None:
        return None
    try:
        weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise ParsimonError(f"sample_weight cannot be used: {' '.join(str(error).split())}") from None
    if np.any(weights < 0):
        raise ParsimonError("sample_weight has numbers below zero; give zero or more for each sample.")
    return np.asarray(weights * compute_sample_weight(class_weight, y))
