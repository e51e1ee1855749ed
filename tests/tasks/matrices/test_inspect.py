"""Looking into matrix models."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.inspect import group_norms, heaviest_columns, summary
from parsimon.tasks.matrices.model import MatrixModel

D = 6


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


# ---- looking into it ---------------------------------------------------------------------------------------


def test_the_heaviest_columns() -> None:
    two = MatrixModel(9, [2, 5, 7], [[1.0], [-4.0], [2.0]], [0.0], ("no", "yes"))  # type: ignore[arg-type]
    assert [(each.column, each.weight) for each in heaviest_columns(two)] == [(5, -4.0), (7, 2.0), (2, 1.0)]
    assert [each.weight for each in heaviest_columns(two, "no", 2)] == [4.0, -2.0]
    assert [each.weight for each in heaviest_columns(two, "yes", 2)] == [-4.0, 2.0]
    three = MatrixModel(9, [2, 5], [[3.0, 0.0, 4.0], [0.0, -1.0, 0.0]], [0.0] * 3, ("a", "b", "c"))  # type: ignore[arg-type]
    assert [(each.column, each.weight) for each in heaviest_columns(three)] == [(2, 5.0), (5, 1.0)]
    assert heaviest_columns(three, "b")[0].weight == -1.0
    with pytest.raises(ParsimonError, match="no class 'd'; its classes are a, b, c"):
        heaviest_columns(three, "d")
    with pytest.raises(ParsimonError, match="no class 'd'; it predicts numbers"):
        heaviest_columns(model_of("numbers"), "d")


def test_groups_and_numbers() -> None:
    model = model_of("integers")
    norms = group_norms(model)
    assert [(each.name, each.columns) for each in norms] == [("group 1", 3), ("group 0", 2)]
    assert norms[0].norm == pytest.approx(np.linalg.norm(model.weights))
    assert norms[1].norm == pytest.approx(np.linalg.norm(model.weights[0]))
    told = summary(model)
    assert (told["columns"], told["candidate_columns"], told["groups"], told["active_groups"]) == (3, D, 3, 2)
    assert told["classes"] == ["-3", "0", "12"]
    assert told["heaviest_columns"][0][0] in (1, 4, 5)
    plain = model_of("numbers", "none")
    assert group_norms(plain) == []
    assert summary(plain)["groups"] is None
