"""What all ways of choosing templates share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties.groupings import ByTemplate
from parsimon.selection import template_norms
from parsimon.solvers import Weights
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import space


def test_norms_of_templates(data: Any) -> None:
    task = SequenceTraining().prepare(space(), *data)
    rng = np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_features)
    names = task.features.template_names()
    groups = ByTemplate(keep_bias=False).groups(task.features)
    assert template_norms(task.features, Weights(w, None, len(w))) == pytest.approx(groups.norms(w))
    assert [groups.name(m) for m in range(groups.n_groups)] == names
