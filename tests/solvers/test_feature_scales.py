"""How large features are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from max_margin_toys import TOYS
from parsimon.penalties import L1
from parsimon.solvers.feature_scales import feature_scales


def test_scales_go_with_the_values_of_features() -> None:
    toy = TOYS["real values"]
    node = toy.observations.node
    assert node.value is not None
    larger = replace(toy.observations, node=replace(node, value=30.0 * node.value))
    plain = feature_scales(toy.problem("hinge", L1(1.0)))
    times = feature_scales(replace(toy, observations=larger).problem("hinge", L1(1.0))) / plain
    assert np.all(plain > 0)
    assert np.isclose(times, 30.0).sum() > 0.3 * len(times)
    assert np.isclose(times, 1.0).sum() > 0


def test_a_problem_without_features_has_no_scales() -> None:
    problem = TOYS["plain"].problem("hinge", L1(1.0)).restrict(np.zeros(0, np.int64))
    assert len(feature_scales(problem)) == 0
