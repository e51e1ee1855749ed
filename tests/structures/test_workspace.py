"""Scratch memory: kept, as long as it is large enough."""

from __future__ import annotations

import numpy as np

from parsimon.structures.workspace import Workspace


def test_memory_is_reused_while_it_is_large_enough() -> None:
    workspace = Workspace()
    first = workspace.array("a", 4, 3)
    assert first.shape == (4, 3)
    assert first.flags.c_contiguous
    first[:] = np.arange(12.0).reshape(4, 3)
    smaller = workspace.array("a", 2, 5)
    assert np.shares_memory(first, smaller)
    assert smaller.ravel().tolist() == list(range(10))
    assert np.shares_memory(first, workspace.array("a", 6, 2))
    larger = workspace.array("a", 5, 3)
    assert larger.shape == (5, 3)
    assert not np.shares_memory(first, larger)
    assert np.shares_memory(larger, workspace.array("a", 1, 1))  # the larger one is the one that is kept


def test_names_and_workspaces_are_apart() -> None:
    workspace = Workspace()
    a, b = workspace.array("a", 2, 2), workspace.array("b", 2, 2)
    assert not np.shares_memory(a, b)
    assert not np.shares_memory(a, Workspace().array("a", 2, 2))
    assert workspace.array("c", 0, 7).shape == (0, 7)


def test_workers_have_memory_of_their_own_that_is_kept() -> None:
    workspace = Workspace()
    mine, other = (workspace.of_worker(n).array("a", 2, 2) for n in (0, 2))
    assert np.shares_memory(mine, workspace.array("a", 2, 2))
    assert not np.shares_memory(mine, other)
    assert np.shares_memory(other, workspace.of_worker(2).array("a", 2, 2))
    assert not np.shares_memory(other, workspace.of_worker(1).array("a", 2, 2))
