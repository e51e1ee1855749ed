"""Groups inside an online learner: blocks, and soft thresholds on them."""

from __future__ import annotations

import numpy as np

from parsimon.penalties.groups import Groups
from parsimon.solvers.online_groups import Blocks


def test_blocks_are_told_apart_by_groups_and_by_who_is_penalised() -> None:
    starts = (np.array([0, 2, 4, 6]), np.array([6, 8]))
    groups = Groups.consecutive(np.array([0, 4, 8]), 8, ["a", "b"], "ones")
    blocks = Blocks.of(starts, groups, None)
    assert blocks is not None
    assert blocks.node.tolist() == [0, 0, 1]
    assert blocks.pair.tolist() == [1]
    weight = np.array([0.0, 0.0, 1, 1, 1, 1, 1, 1])
    finer = Blocks.of(starts, groups, weight)
    assert finer is not None
    assert len(set(finer.node.tolist())) == 3
    assert Blocks.of(starts, Groups.consecutive(np.array([0, 3, 8]), 8, ["a", "b"], "ones"), None) is None
