"""Sequence models in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.sequences.file import put_together, take_apart
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


def learnt(**settings: Any) -> SequenceModel:
    return SequenceTraining(l1=0.1, **settings).fit(space(), *make_data())


@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"scheme": "iob2"}, {"candidates": "seen"}])
def test_there_and_back(settings: dict[str, Any]) -> None:
    model = learnt(**settings)
    again = parse_model(dump_model(model), kind=SequenceModel)
    assert dump_model(again) == dump_model(model)
    assert (again.order, again.scheme) == (model.order, model.scheme)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": ["a", "a"]}, "differ"),
        ({"labels": []}, "be there"),
        ({"order": 3}, "order 3"),
        ({"scheme": "iob9"}, "no scheme"),
    ],
)
def test_headers_that_cannot_be(change: dict[str, Any], said: str) -> None:
    model = learnt()
    header, tensors = take_apart(model)
    with pytest.raises(ValueError, match=said):
        put_together({**header, "info": {}, **change}, {**tensors, "weights": model.weights})


@pytest.mark.parametrize("weights", [np.array([np.nan]), np.zeros((2, 2)), np.zeros(3)])
def test_weights_that_cannot_be(weights: np.ndarray) -> None:
    header, tensors = take_apart(learnt())
    with pytest.raises(ValueError, match="weight"):
        put_together({**header, "info": {}}, {**tensors, "weights": weights})
