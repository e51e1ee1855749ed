"""Groups inside an online learner: blocks, and soft thresholds on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.penalties import GroupLasso, TreeLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers.online_groups import AttributeRows, Blocks, SingleWeights, WholeBlocks


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


class FewWeights:
    """A learner of which only blocks and their weights matter."""

    def __init__(self, w: Any, block: Any) -> None:
        self.w, self.block = w, block

    def norms(self, running: bool = False) -> Any:
        return np.sqrt(np.bincount(self.block, weights=self.w**2, minlength=self.block.max() + 1))

    def scale(self, factors: Any) -> None:
        self.w = self.w * factors[self.block]


BLOCK = np.array([0, 0, 1, 1, 1, 2, 2, 3])
APART = Groups.from_lists([[0, 1], [2, 3, 4, 5, 6]], 8, weight=[1.0, 2.0])  # 7 is in none
NESTED = Groups.from_lists([[0, 1, 2, 3, 4], [0, 1], [5, 6]], 8, weight=[0.5, 1.0, 1.5])


@pytest.mark.parametrize(
    ("groups", "make"), [(APART, GroupLasso), (NESTED, TreeLasso)], ids=["apart", "nested"]
)
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.8, 3.0])
def test_a_soft_threshold_on_whole_blocks_is_the_proximal_operator(
    groups: Groups, make: Any, threshold: float
) -> None:
    w = np.random.default_rng(0).normal(size=8)
    members = [np.unique(BLOCK[groups.members(m)]) for m in range(groups.n_groups)]
    device, learner = WholeBlocks(groups, members, groups.families()), FewWeights(w, BLOCK)
    np.testing.assert_allclose(device.norms(learner), groups.norms(w))  # type: ignore[arg-type]
    device.soften(learner, threshold)  # type: ignore[arg-type]
    np.testing.assert_allclose(learner.w, make(threshold, groups).prox(w, 1.0), atol=1e-12)


def test_survivors_need_not_be_shrunk() -> None:
    w = np.array([0.3, 0.4, 3.0, 0.0, 4.0, 0.0, 0.0, 7.0])
    learner = FewWeights(w, BLOCK)
    device = WholeBlocks(APART, [np.array([0]), np.array([1, 2])], APART.families())
    device.soften(learner, 1.0, shrink=False)  # type: ignore[arg-type]
    assert learner.w.tolist() == [0.0, 0.0, *w[2:]]
    device.soften(learner, np.array([0.0, 2.6]), shrink=False)  # type: ignore[arg-type]
    assert learner.w.tolist() == [0.0] * 7 + [7.0]


class Calls:
    """A learner that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda by, blocks: self.told.append((name, by))


@pytest.mark.parametrize(("kind", "what"), [(AttributeRows, "rows"), (SingleWeights, "weights")])
def test_many_small_groups_are_dropped_or_pulled(kind: Any, what: str) -> None:
    device, learner = kind(np.ones(4, bool), 2.0), Calls()
    device.soften(learner, 0.5)
    device.soften(learner, 0.5, shrink=False)
    assert learner.told == [(f"pull_{what}", 1.0), (f"drop_{what}", 1.0)]


def test_groups_are_made_of_blocks() -> None:
    starts = (np.array([0, 2, 5, 7]), np.array([7, 8]))
    groups = Groups.from_lists([[0, 1, 2, 3, 4], [0, 1], [7]], 8)
    blocks = Blocks.of(starts, groups, None)
    assert blocks is not None
    first, second, third = blocks.of_groups(groups)
    of_attribute = [*blocks.node, *blocks.pair]
    assert set(first) == {of_attribute[0], of_attribute[1]}
    assert set(second) == {of_attribute[0]}
    assert set(third) == {of_attribute[3]}
    assert of_attribute[2] not in {*first, *second, *third}
