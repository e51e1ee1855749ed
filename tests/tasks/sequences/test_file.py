"""Files of sequence models: headers and arrays, and all that can be wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from damaged_headers import refused, survives_any_header
from parsimon.features import ItemFeatures, Labels
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.sequences.file import put_together, take_apart
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


def model(**settings: Any) -> SequenceModel:
    return SequenceTraining(**{"l1": 0.2, "max_iter": 10, **settings}).fit(space(), *make_data())


def same(one: SequenceModel, other: SequenceModel) -> None:
    assert dump_model(one) == dump_model(other)
    assert (one.labels, one.order, one.scheme) == (other.labels, other.order, other.scheme)


@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"candidates": "seen"}], ids=str)
def test_apart_and_together(settings: dict[str, Any]) -> None:
    there = model(**settings)
    header, tensors = take_apart(there)
    back = put_together({**header, "info": there.info}, {**tensors, "weights": there.weights})
    same(there, back)
    X, _ = make_data(1)
    assert list(back.predict_columns(X)) == list(there.predict_columns(X))


def test_a_scheme_is_kept() -> None:
    X = [[{"w": "a"}, {"w": "b"}]] * 4
    y = Labels.from_sequences([["B-X", "I-X"]] * 4)
    there = SequenceTraining(l1=0.1, scheme="iob2").fit(ItemFeatures(), X, y)
    assert parse_model(dump_model(there)).scheme == "iob2"


def test_wrong_headers_and_missing_arrays() -> None:
    survives_any_header(model())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h, t: h.update(labels=["L0", "L0", "L1"]), "labels must be there, and differ"),
        (lambda h, t: h.update(labels=[]), "damaged"),
        (lambda h, t: h.update(order=3), "labels of order 3 are not known here"),
        (lambda h, t: h.update(order=2), "labels must be tags, if there are any, and then pairs"),
        (lambda h, t: h.update(scheme="none"), "there is no scheme 'none'"),
        (lambda h, t: h["space"].update(kind="none"), "damaged"),
        (lambda h, t: t.update(weights=t["weights"][:-1]), "not as many weights as features"),
        (
            lambda h, t: t.update(weights=t["weights"] * np.nan),
            "a number in weights is NaN; values must be finite",
        ),
        (lambda h, t: t.update({"node.column": t["node.column"] + 100}), "damaged"),
        (lambda h, t: t.update({"node.features": t["node.features"][:-1]}), "not as many attributes"),
    ],
)
def test_parts_that_do_not_fit(change: Any, said: str) -> None:
    assert said in refused(model(), change)
