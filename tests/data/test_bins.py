"""Bins of numeric columns: their edges, names and numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.bins import bin_names, bin_of, is_measured, quantile_edges


@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-3, 3), min_size=1, max_size=60),
    st.integers(2, 8),
)
def test_no_bin_is_empty_and_names_differ(values: list[float], n_bins: int) -> None:
    edges = quantile_edges(np.array(values, float), n_bins)
    assert len(edges) < n_bins
    assert {bin_of(value, edges) for value in values} == set(range(len(edges) + 1))
    names = bin_names(edges)
    assert len(set(names)) == len(names) == len(edges) + 1


def test_bins_hold_about_as_many() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    edges = quantile_edges(values, 5)
    assert np.bincount([bin_of(x, edges) for x in values]).tolist() == [200] * 5


def test_an_edge_belongs_to_the_bin_below() -> None:
    assert [bin_of(x, (1.5,)) for x in (1.5, np.nextafter(1.5, 2))] == [0, 1]


@pytest.mark.parametrize(
    ("values", "measured"),
    [({1, 2, 3}, False), ({1, 2, 3, 4}, True), ({0.5}, True), ({True, False}, False), ({"1.5", 2.5}, False)],
)
def test_which_columns_are_cut(values: set[object], measured: bool) -> None:
    assert is_measured(values, 3) is measured


def test_names_have_as_many_digits_as_it_takes() -> None:
    assert bin_names((1.0, 1.000001)) == ("<= 1", "1 to 1.000001", "> 1.000001")
    assert bin_names((-0.0,)) == ("<= 0", "> 0")
