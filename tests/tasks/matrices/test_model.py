"""Matrix models: what they predict, what can be seen in them, and their files."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from parsimon.errors import ParsimonError
from parsimon.label_values import named_labels
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.model_file import dump_model, parse_model

D = 6


X = np.random.default_rng(3).normal(size=(7, D))


CLASSES: dict[str, tuple[tuple[str, ...] | None, dict[str, Any]]] = {
    "numbers": (None, {}),
    "texts": (("no", "yé"), {}),
    "integers": (("-3", "0", "12"), {"-3": -3, "0": 0, "12": 12}),
    "fractions": (("-0.5", "0.1", "2.0"), {"-0.5": -0.5, "0.1": 0.1, "2.0": 2.0}),
    "truths": (("False", "True"), {"False": False, "True": True}),
}


GROUPS = {
    "none": None,
    "overlapping": Groups.from_lists([[0, 1], [1, 4, 5], [3]], D),
    "in order": Groups.consecutive(np.array([0, 2, 3, 6]), D, names=["a", "b", "é"]),
}


@cache
def model_of(outputs: str = "texts", groups: str = "overlapping") -> MatrixModel:
    classes, values = CLASSES[outputs]
    rng = np.random.default_rng(0)
    width = 1 if classes is None or len(classes) == 2 else len(classes)
    weights, info = rng.normal(size=(3, width)), {"loss": "log", "alpha": 1.0}
    return MatrixModel(
        D, np.array([1, 4, 5]), weights, rng.normal(size=width), classes, values, GROUPS[groups], info
    )


@pytest.mark.parametrize("outputs", CLASSES)
def test_scores_and_predictions(outputs: str) -> None:
    model = model_of(outputs)
    expected = X[:, [1, 4, 5]] @ model.weights + model.intercepts
    for matrix in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(model.margins(matrix), expected, atol=1e-12)
    if model.classes is None:
        np.testing.assert_allclose(model.predict(X), expected[:, 0])
        with pytest.raises(ParsimonError, match="predicts numbers, so it has no classes"):
            _ = model.class_values
    else:
        full = np.hstack([np.zeros_like(expected), expected]) if model.width == 1 else expected
        assert model.predict(X).tolist() == model.class_values[full.argmax(axis=1)].tolist()
        wanted = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.probabilities(X), wanted, atol=1e-12)
    with pytest.raises(ParsimonError, match="the matrix has 5 columns, but the model was trained on 6"):
        model.margins(X[:, :5])


@pytest.mark.parametrize(
    "values", [np.array([3, -1]), np.array([0.1, 2.0]), np.array([True, False]), np.array(["b", "a"])]
)
def test_classes_keep_their_type(values: Any) -> None:
    names, by_name = named_labels(values.tolist())
    model = MatrixModel(1, np.zeros(0), np.zeros((0, 1)), np.zeros(1), names, by_name)
    again = parse_model(dump_model(model))
    assert again.class_values.tolist() == values.tolist()
    assert again.class_values.dtype.kind == values.dtype.kind


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"classes": ("a",)}, "two or more"),
        ({"classes": ("a", "a")}, "must differ"),
        ({"classes": ("a", "b", "c")}, r"2 × 3 weights"),
        ({"columns": [1, 0]}, "columns must ascend from 0 to 2"),
        ({"columns": [1, 3]}, "columns must ascend"),
        ({"columns": [-1, 2]}, "columns must ascend"),
        ({"weights": np.ones((3, 1))}, "not 3 × 1 and 1"),
        ({"intercepts": [0.0, 1.0]}, "and 2"),
        ({"n_columns": -1}, "from 0 to"),
        ({"groups": Groups.from_lists([[0]], 9)}, "the groups are of 9 columns, not of 3"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together(wrong: dict[str, Any], said: str) -> None:
    right: dict[str, Any] = {
        "n_columns": 3, "columns": [0, 2], "weights": np.ones((2, 1)), "intercepts": [0.0], "classes": ("a", "b")
    }  # fmt: skip
    MatrixModel(**right)
    with pytest.raises(ParsimonError, match=said):
        MatrixModel(**{**right, **wrong})


@pytest.mark.parametrize("outputs", ["texts", "numbers"])
@pytest.mark.parametrize("number", [np.nan, 1e308, -np.inf])
def test_numbers_that_cannot_be_scored(outputs: str, number: float) -> None:
    model = model_of(outputs)
    X = np.zeros((3, model.n_columns))
    X[1] = number
    for ask in (model.margins, model.predict):
        for matrix in (X, sparse.csr_array(X)):
            with pytest.raises(
                ParsimonError, match=r"X has the number .*; values must (be finite|lie between)"
            ):
                ask(matrix)
