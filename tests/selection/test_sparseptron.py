"""A perceptron that keeps to a budget of templates."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon.features import TemplateFeatures, TemplateSet
from parsimon.penalties import L2
from parsimon.penalties.groupings import ByAttribute
from parsimon.selection import Sparseptron
from parsimon.solvers import Online, PassiveAggressive
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import GOOD, space


def test_the_second_stage_is_an_ordinary_training(data: Any) -> None:
    small = TemplateSet.parse(f"U\n{GOOD}\nB")
    mira = {"loss": "hinge", "solver": Online(3, PassiveAggressive(0.1)), "penalty": L2(0.0)}
    both = SequenceTraining(selection=Sparseptron(1, epochs=4, every=20), **mira).fit(space(), *data)
    alone = SequenceTraining(**mira).fit(TemplateFeatures(small), *data)
    np.testing.assert_array_equal(both.weights, alone.weights)


def test_how_many_weights_existed_is_remembered(data: Any) -> None:
    model = SequenceTraining(selection=Sparseptron(1, epochs=2, every=20)).fit(space(), *data)
    counts = [n for event in model.info["selection"]["history"] for n in event["instantiated"]]
    assert model.info["selection"]["instantiated"] == max(counts)
    assert min(counts) < max(counts)


def test_other_groups_can_make_the_choice(data: Any) -> None:
    selection = Sparseptron(15, epochs=4, every=20, groups=ByAttribute())
    model = SequenceTraining(selection=selection).fit(space(), *data)
    assert GOOD in [t.source for t in model.space.templates]
