"""Graphs that are none are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.structures import Graph


@pytest.mark.parametrize(
    ("arity", "edges", "message"),
    [
        ([2, 0], [], "variable 1 has 0 states"),
        ([2, 2], [(0, 0)], r"edge 0 is \(0, 0\), but a variable has no edge to itself"),
        ([2, 2, 2], [(0, 1), (2, 1)], r"edge 1 is \(2, 1\), but the lower variable comes first: \(1, 2\)"),
        ([2, 2, 2], [(0, 1), (1, 2), (0, 1)], r"edge 2 is \(0, 1\), which is there already"),
        ([2, 2], [(0, 2)], r"edge 0 is \(0, 2\), but its instance has the variables 0 to 1"),
        ([2, 2], [(0, 1, 1)], "pairs of variables"),
    ],
)
def test_graphs_that_are_none_are_refused(arity: Any, edges: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        Graph.single(arity, edges)


def test_edges_between_instances_are_refused() -> None:
    with pytest.raises(ParsimonError, match="its instance has the variables 0 to 1"):
        Graph(np.full(4, 2), np.array([[1, 2]]), np.array([0, 2, 4]), np.array([0, 1, 1]))
    with pytest.raises(ParsimonError, match="edge_start must ascend from 0 to 1"):
        Graph(np.full(4, 2), np.array([[0, 1]]), np.array([0, 2, 4]), np.array([0, 0, 0]))
    with pytest.raises(ParsimonError, match="both must be of the same"):
        Graph(np.full(4, 2), np.array([[0, 1]]), np.array([0, 2, 4]), np.array([0, 1]))
