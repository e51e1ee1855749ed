"""The experiment on Markov networks: what is to be found, and how it is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def networks(load: Any) -> Any:
    return load("networks")


def test_parents_of_one_column_depend_on_each_other(networks: Any) -> None:
    arcs = [("a", "c"), ("b", "c"), ("c", "d")]
    assert networks.moral(arcs) == {frozenset(edge) for edge in ("ac", "bc", "cd", "ab")}


def test_f1_of_edges(networks: Any) -> None:
    ab, bc, cd = (frozenset(edge) for edge in ("ab", "bc", "cd"))
    assert networks.f1({ab, bc}, {ab, bc}) == 1.0
    assert networks.f1({ab, cd}, {ab, bc}) == 0.5
    assert networks.f1(set(), set()) == 0.0


@pytest.mark.parametrize("name", ["greedy neighbourhoods", "path of penalties"])
def test_methods_find_the_edge_that_there_is(networks: Any, name: str) -> None:
    random = np.random.default_rng(0)
    a, c = random.integers(2, size=(2, 400))
    b = np.where(random.random(400) < 0.1, 1 - a, a)
    rows = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    assert networks.METHODS[name](rows) == {frozenset("ab")}


def test_the_error_is_that_of_the_mean_over_samples(networks: Any) -> None:
    found = {("x", "m"): [(0.5, 1.0), (0.7, 3.0)], ("y", "m"): [(0.9, 1.0), (0.9, 1.0)]}
    text = networks.tables(found, ["m"])
    assert "0.600, 2.0 s" in text
    assert "0.750 ± 0.050" in text  # means of 0.7 and 0.8
    assert "3.0 s" in text
