"""Groups that overlap, chains of templates, and random weights: what tests of penalties on groups share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.penalties.groups import Groups

CROSSED = Groups.from_lists([[0, 1, 2, 3], [2, 3, 4], [0, 4, 5, 6]], 8, ["a", "b", "c"], "ones")
NESTED = Groups.from_lists([[0, 1, 2, 3, 4], [0, 1], [3], [3, 4], [6, 7]], 8)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def as_sets(groups: Groups) -> list[set[int]]:
    return [set(groups.members(m).tolist()) for m in range(groups.n_groups)]


@dataclass(frozen=True)
class Chain:
    """Templates each of which comes before the next."""

    names: tuple[str, ...]

    def below(self, a: int) -> Any:
        return np.arange(a, len(self.names))
