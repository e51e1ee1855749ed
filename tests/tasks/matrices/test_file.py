"""Files of matrix models: what goes in comes out, and damage is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changed_models import changed, setting, tensor, without
from parsimon.errors import ParsimonError
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.model_file import dump_model, load_model, parse_model, save_model

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


# ---- the file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("outputs", CLASSES)
def test_round_trip(outputs: str, groups: str, tmp_path: Path) -> None:
    model = model_of(outputs, groups)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m", MatrixModel)
    assert (again.classes, again.label_values, again.info) == (model.classes, model.label_values, model.info)
    for name in ("columns", "weights", "intercepts", "coef"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if model.groups is None:
        assert again.groups is None
    else:
        assert [again.groups.members(m).tolist() for m in range(3)] == [
            model.groups.members(m).tolist() for m in range(3)
        ]
        assert [again.groups.name(m) for m in range(3)] == [model.groups.name(m) for m in range(3)]
    assert dump_model(again) == (tmp_path / "m").read_bytes()


def test_float32_halves_the_weights() -> None:
    model = parse_model(dump_model(model_of("integers"), dtype="float32"))
    np.testing.assert_allclose(model.weights, model_of("integers").weights, rtol=1e-6)


HOSTILE = {
    "no columns": without("columns"),
    "columns that are text": setting("columns", to="6"),
    "columns that are true": setting("columns", to=True),
    "too few columns": setting("columns", to=4),
    "columns beyond all memory": setting("columns", to=2**62),
    "no classes": without("classes"),
    "classes that are text": setting("classes", to="abc"),
    "classes that are numbers": setting("classes", to=[1, 2, 3]),
    "classes that are not of their type": setting("classes", to=["1", "2", "x"]),
    "classes that are the same number": setting("classes", to=["1", "01", "2"]),
    "one class": setting("classes", to=["1"]),
    "too few classes": setting("classes", to=["1", "2"]),
    "values of classes that are a list": setting("label_values", to=[]),
    "no values of classes": without("label_values"),
    "a class of another value": setting("label_values", to={"0": 2}),
    "a value of no class": setting("label_values", to={"7": 7}),
    "a value that is a list": setting("label_values", to={"0": [1]}),
    "info that is a number": setting("info", to=3),
    "groups that are a number": setting("groups", to=3),
    "groups without an order": setting("groups", to={"names": None}),
    "too few names": setting("groups", "names", to=["a"]),
    "names that are numbers": setting("groups", "names", to=[1, 2, 3]),
    "groups in order that are not": setting("groups", "in_order", to=True),
    "no weights": without("weights"),
    "weights in a row": tensor("weights", lambda w: w.reshape(-1)),
    "weights that are not numbers": tensor("weights", lambda w: w * np.nan),
    "an endless intercept": tensor("intercepts", lambda b: b + np.inf),
    "intercepts in a table": tensor("intercepts", lambda b: b[None]),
    "no places": without("kept"),
    "places that are fractions": tensor("kept", lambda i: i + 0.5),
    "places that fall": tensor("kept", lambda i: i[::-1]),
    "places out of range": tensor("kept", lambda i: i.astype(np.int64) + 10),
    "no bounds of groups": without("groups.ptr"),
    "bounds that fall": tensor("groups.ptr", lambda p: p[::-1]),
    "members out of range": tensor("groups.index", lambda i: i.astype(np.int64) + 10),
    "members that are fractions": tensor("groups.index", lambda i: i + 0.5),
    "members that fall": tensor("groups.index", lambda i: i[::-1]),
    "group weights below zero": tensor("groups.weight", lambda w: -w),
    "group weights in a table": tensor("groups.weight", lambda w: w[None]),
    "too few group weights": tensor("groups.weight", lambda w: w[:-1]),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(change: Any) -> None:
    with pytest.raises(ParsimonError, match="the model is damaged") as caught:
        parse_model(changed(dump_model(model_of("integers")), change))
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_flipped_bytes(data: Any) -> None:
    """An error that says so, or (where the change does no harm) a model that can be used."""
    content = bytearray(dump_model(model_of("integers")))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        model = parse_model(bytes(content))
    except ParsimonError:
        return
    if model.n_columns == D:
        with np.errstate(all="ignore"):
            model.predict(X)
