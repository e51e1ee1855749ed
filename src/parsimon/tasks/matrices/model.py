"""A model of a matrix: weights of columns, for classes or for numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.label_values import LabelValues, labels_of
from parsimon.magnitudes import first_wrong, why_not
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.linear import LinearModel, best_labels, log_softmax, with_first

MOST_COLUMNS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class MatrixModel(LinearModel):
    """The result of training: everything that prediction needs.

    Only columns with a weight that is not zero are in `columns`. A model of classes has one column of `weights` for
    two classes (the score of the second; the first scores zero), else one for each class. A model of numbers has one.

    >>> import numpy as np
    >>> from parsimon.tasks.matrices.model import MatrixModel
    >>> model = MatrixModel(3, [1], [[2.0]], [-1.0], ("no", "yes"))
    >>> model.predict(np.array([[5.0, 0.0, 5.0], [0.0, 1.0, 0.0]])).tolist()
    ['no', 'yes']
    """

    kind: ClassVar[str] = "matrix"
    n_columns: int  # of the matrix
    columns: IntArray  # those with a weight, ascending
    weights: Array  # (columns, width)
    intercepts: Array  # (width,)
    classes: tuple[str, ...] | None = None  # None: it predicts numbers
    label_values: LabelValues = field(default_factory=dict)  # of classes that are no texts
    groups: Groups | None = None  # None: no groups, or every column is one
    info: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # of all columns, where they came with names

    def __post_init__(self) -> None:
        self._set("columns", np.asarray(self.columns, np.int64).reshape(-1))
        self._set("weights", np.asarray(self.weights, np.float64))
        self._set("intercepts", np.asarray(self.intercepts, np.float64).reshape(-1))
        if self.classes is not None:
            self._set("classes", tuple(self.classes))
            if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
                raise ParsimonError("a model of classes needs two or more, and they must differ.")
        if not 0 <= self.n_columns <= MOST_COLUMNS:
            raise ParsimonError(f"a matrix has from 0 to {MOST_COLUMNS} columns, not {self.n_columns}.")
        inside = not len(self.columns) or (self.columns[0] >= 0 and self.columns[-1] < self.n_columns)
        if not inside or np.any(np.diff(self.columns) <= 0):
            raise ParsimonError(f"columns must ascend from 0 to {self.n_columns - 1} at most.")
        if self.weights.shape != (len(self.columns), self.width) or self.intercepts.shape != (self.width,):
            raise ParsimonError(
                f"{len(self.columns)} columns need {len(self.columns)} × {self.width} weights and {self.width} "
                f"intercepts, not {' × '.join(map(str, self.weights.shape))} and {len(self.intercepts)}."
            )
        if self.groups is not None and self.groups.n_features != self.n_columns:
            raise ParsimonError(
                f"the groups are of {self.groups.n_features} columns, not of {self.n_columns}."
            )

        if self.names is not None:
            self._set("names", tuple(self.names))
            if len(self.names) != self.n_columns:
                raise ParsimonError(f"{self.n_columns} columns need as many names, not {len(self.names)}.")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def name_of(self, column: int) -> str:
        """The name of a column; its number if it has none."""
        return str(column) if self.names is None else self.names[column]

    @property
    def width(self) -> int:
        """How many columns of weights there are."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    @cached_property
    def class_values(self) -> Any:
        """The classes as an array of what they were in training: texts, whole numbers, numbers or truth values."""
        if self.classes is None:
            raise ParsimonError("the model predicts numbers, so it has no classes.")
        return np.array(labels_of(self.classes, self.label_values))

    @cached_property
    def coef(self) -> Array:
        """The weights of all columns, zeros included, (width, n_columns)."""
        coef = np.zeros((self.width, self.n_columns))
        coef[:, self.columns] = self.weights.T
        return coef

    def margins(self, X: Any) -> Array:
        """Xw and the intercepts, (rows, width)."""
        if X.shape[1] != self.n_columns:
            raise ParsimonError(
                f"the matrix has {X.shape[1]} columns, but the model was trained on {self.n_columns}."
            )
        values = X.data if hasattr(X, "tocsr") else X
        at = first_wrong(values)
        if at is not None:
            raise ParsimonError(f"X has the number {why_not(float(values.reshape(-1)[at]))}.")
        return np.asarray(X @ self.coef.T + self.intercepts)

    def predict(self, X: Any) -> Any:
        """The class of every row, or its number."""
        margins = self.margins(X)
        return margins[:, 0] if self.classes is None else self.class_values[best_labels(margins)]

    def probabilities(self, X: Any) -> Array:
        """P(class | row), (rows, classes): the softmax of the scores."""
        return np.exp(log_softmax(with_first(self.margins(X))))
