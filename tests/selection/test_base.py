"""What all ways of choosing templates share."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties.groupings import ByTemplate
from parsimon.selection import Selected, template_norms
from parsimon.selection.base import always_kept, completed, selected
from parsimon.solvers import Event, Result, Status, Weights
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import GOOD, space


def test_norms_of_templates(data: Any) -> None:
    task = SequenceTraining().prepare(space(), *data)
    rng = np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_features)
    names = task.features.template_names()
    groups = ByTemplate(keep_bias=False).groups(task.features)
    assert template_norms(task.features, Weights(w, None, len(w))) == pytest.approx(groups.norms(w))
    assert [groups.name(m) for m in range(groups.n_groups)] == names


def test_a_selection_can_be_stored_and_knows_its_order() -> None:
    event = Event(0, 0.5, 1.0, 3, 2, phase="first", instantiated=(4, 2))
    chosen = Selected(["a", "b", "c"], np.array([True, False, True]), np.array([0.5, 2.0, 0.5]), [event])
    assert chosen.order == [("b", 2.0), ("a", 0.5), ("c", 0.5)]
    again = Selected.from_dict(json.loads(json.dumps(chosen.to_dict())))
    assert again.names == chosen.names
    assert again.history == [event]
    np.testing.assert_array_equal(again.kept, chosen.kept)
    assert again.kept.dtype == bool
    np.testing.assert_array_equal(again.score, chosen.score)


def test_biases_and_label_bigrams_are_always_kept(data: Any) -> None:
    features = SequenceTraining().prepare(space(), *data).features
    names = features.template_names()
    assert [name for name, kept in zip(names, always_kept(features), strict=True) if kept] == ["U", "B"]
    one = np.array([name == GOOD for name in names])
    chosen = selected(features, one, np.ones(len(names)), [])
    assert [name for name, kept in zip(names, chosen.kept, strict=True) if kept] == ["U", GOOD, "B"]
    for nothing in (np.zeros(len(names), bool), always_kept(features)):
        with pytest.raises(ParsimonError, match="no template was kept; allow a larger budget or more epochs"):
            selected(features, nothing, np.ones(len(names)), [])


@pytest.mark.parametrize("status", Status)
def test_a_first_stage_that_was_interrupted_has_no_result(status: Status) -> None:
    result = Result(Weights.zeros(3), status, 1.0)
    if status is Status.INTERRUPTED:
        with pytest.raises(KeyboardInterrupt):
            completed(result)
    else:
        assert completed(result) is result
