"""Drawings of networks: neighbours stand together, names do not lie on each other, files are pictures."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.data.synthetic_networks import make_network
from parsimon.errors import ParsimonError
from parsimon.report.figure_file import save_figure
from parsimon.report.network_drawing import draw_network, layout, path_lengths, shortened, without_overlaps

CHAIN = np.array([[v, v + 1] for v in range(7)])


def distances(place: np.ndarray) -> np.ndarray:
    return np.sqrt(((place[:, None] - place) ** 2).sum(axis=2))


def test_path_lengths() -> None:
    lengths = path_lengths(5, np.array([[0, 1], [1, 2], [3, 4]]))
    assert lengths[0].tolist() == [0, 1, 2, 4, 4]
    assert lengths[3].tolist() == [4, 4, 4, 0, 1]
    np.testing.assert_array_equal(lengths, lengths.T)
    assert path_lengths(1, np.zeros((0, 2), int)).tolist() == [[0]]


def test_a_chain_is_laid_out_in_its_order() -> None:
    place = layout(8, CHAIN, seed=1)
    order = np.argsort(place[:, 0])
    assert order.tolist() in (list(range(8)), list(range(7, -1, -1)))


@pytest.mark.parametrize("kind", ["grid", "random"])
def test_neighbours_are_nearer_than_others(kind: str) -> None:
    edges = np.array(make_network(kind, 30, 1, degree=2.5, sweeps=1).edges)  # type: ignore[arg-type]
    apart = distances(layout(30, edges))
    near = np.zeros((30, 30), bool)
    near[edges[:, 0], edges[:, 1]] = True
    others = np.triu(~(near | near.T), 1)
    assert np.median(apart[near]) < 0.5 * np.median(apart[others])


def test_the_same_seed_gives_the_same_picture() -> None:
    edges = np.array(make_network("random", 12, 1, sweeps=1).edges)
    assert layout(12, edges, seed=3).tobytes() == layout(12, edges, seed=3).tobytes()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25))
def test_boxes_do_not_lie_on_each_other(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    width = random.uniform(0.3, 1.5, n)
    place = without_overlaps(random.normal(0, 2.0, (n, 2)).round(int(seed % 3)), width, 0.25)
    for i, j in combinations(range(n), 2):
        beside = abs(place[i, 0] - place[j, 0]) >= (width[i] + width[j]) / 2 - 0.05
        below = abs(place[i, 1] - place[j, 1]) >= 0.25 - 0.05
        assert beside or below


def test_what_is_in_a_picture() -> None:
    strengths = np.array([2.0, -1.0, 0.5, 1.0, -0.1, 1.0, 1.0])
    signed = np.array([True] * 6 + [False])
    names = [f"$v_{i}$" for i in range(8)] + ["alone"]  # no formulas: names are shown as they are
    figure = draw_network(names, CHAIN, strengths, signed)
    axes = figure.axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert texts[:9] == names
    assert texts[9] == "9 variables, 7 edges · blue: same, red: opposite, purple: otherwise"
    (lines,) = axes.collections
    widths = lines.get_linewidths()
    assert len(widths) == 7
    assert max(widths) == pytest.approx(5.5)
    assert list(widths) == sorted(widths)
    colours = {tuple(np.round(colour[:3], 3)) for colour in lines.get_colors()}
    assert len(colours) == 3
    place = [text.get_position() for text in axes.texts[:9]]
    assert place[8][1] < min(y for _, y in place[:8])  # below the others
    width, height = figure.get_size_inches()
    assert all(0 < x < width and 0 < y < height for x, y in place)


def test_a_network_without_edges() -> None:
    figure = draw_network(["a", "b"], np.zeros((0, 2), np.int64), np.zeros(0))
    assert [text.get_text() for text in figure.axes[0].texts] == ["a", "b", "2 variables, 0 edges"]


def test_it_can_be_drawn_on_axes_that_are_there() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.add_subplot()
    assert draw_network(["a", "b"], np.array([[0, 1]]), np.ones(1), axes=axes) is figure
    assert len(axes.collections) == 1


def test_long_names_lose_their_middle() -> None:
    assert shortened("x" * 18) == "x" * 18
    assert shortened("abcdefghijklmnopqrstuvwxyz") == "abcdefghi…stuvwxyz"


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files(tmp_path: Path, ending: str, begins: bytes) -> None:
    path = tmp_path / f"network.{ending}"
    save_figure(draw_network(["a", "b"], np.array([[0, 1]]), np.ones(1)), path)
    assert path.read_bytes().startswith(begins)


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    figure = draw_network(["a", "b"], np.array([[0, 1]]), np.ones(1))
    with pytest.raises(ParsimonError, match=r"give a file name that ends in \.png, \.svg or \.pdf"):
        save_figure(figure, tmp_path / "network.doc")
    with pytest.raises(ParsimonError, match="cannot be written"):
        save_figure(figure, tmp_path / "nowhere" / "network.png")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParsimonError, match=r"parsimon\[plots\]"):
        draw_network(["a"], np.zeros((0, 2), np.int64), np.zeros(0))
