"""The public names of inspection: those of labellers, and they tell what a labeller has learnt."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon import SequenceLabeler, inspect
from parsimon.tasks.sequences import inspect as home
from toy_templates import GOOD, TEMPLATES, make_data


@pytest.mark.parametrize("name", inspect.__all__)
def test_each_name_is_that_of_labellers(name: str) -> None:
    assert getattr(inspect, name) is getattr(home, name)
    assert getattr(inspect, name).__doc__


def test_what_a_labeller_has_learnt() -> None:
    X, y = make_data()
    model = SequenceLabeler(TEMPLATES, l1=1.0).fit(X, list(y)).model_
    found = list(inspect.features(model))
    assert len(found) == np.count_nonzero(model.weights)
    assert max(found, key=lambda each: abs(each.weight)).template == GOOD
    left = inspect.pruned(model, 0.5)
    assert 0 < np.count_nonzero(left.weights) < len(found)
