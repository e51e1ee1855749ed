"""The Hasse diagram of a template order as a figure: boxes, edges, crossings and files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features import get_preset
from parsimon.features.template_order import TemplateOrder
from parsimon.report.hasse_diagram import draw_template_order

DIAMOND = TemplateOrder.from_pairs(
    ["top", "left", "right", "end"],
    [("top", "left"), ("top", "right"), ("left", "end"), ("right", "end")],
)


def boxes(figure: Any) -> dict[str, Any]:
    """The box of each template by the text in it."""
    from matplotlib.patches import FancyBboxPatch

    (axes,) = figure.axes
    patches = [p for p in axes.patches if isinstance(p, FancyBboxPatch)]
    found = {}
    for text in axes.texts:
        x, y = text.get_position()
        for patch in patches:
            if (
                patch.get_x() < x < patch.get_x() + patch.get_width()
                and abs(patch.get_y() + patch.get_height() / 2 - y) < 0.05
            ):
                found[text.get_text()] = patch
    return found


def test_drawing_shows_every_template_without_overlaps() -> None:
    pytest.importorskip("matplotlib")
    order = TemplateOrder.from_symbols(get_preset("martins-chunking"))
    found = boxes(draw_template_order(order))
    assert set(found) == set(order.short_names())
    bounds = np.array([(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in found.values()])
    low, high = bounds[:, :2], bounds[:, :2] + bounds[:, 2:]
    overlap = ((low[:, None] < high) & (low < high[:, None])).all(axis=2)
    assert overlap.sum() == len(order.names), "each overlaps with itself only"
    left = dict(zip(found, low[:, 0], strict=True))
    names = order.short_names()
    assert all(left[names[a]] < left[names[b]] for a, b in order.covers()), "coarse on the left"


def test_drawing_fills_what_is_kept_and_draws_an_arc_a_cover() -> None:
    pytest.importorskip("matplotlib")
    figure = draw_template_order(DIAMOND, kept=np.array([True, False, True, False]))
    found = boxes(figure)
    white = (1.0, 1.0, 1.0, 1.0)
    assert {name: found[name].get_facecolor() == white for name in DIAMOND.names} == {
        "top": False, "left": True, "right": False, "end": True,
    }  # fmt: skip
    assert len(figure.axes[0].patches) == 4 + len(DIAMOND.covers())


def test_drawing_avoids_crossings() -> None:
    """Two trees whose leaves are given alternately can be drawn without crossings."""
    pytest.importorskip("matplotlib")
    leaves = [f"{root}{i}" for i in range(3) for root in "ab"]
    order = TemplateOrder.from_pairs(["a", "b", *leaves], [(leaf[0], leaf) for leaf in leaves])
    found = boxes(draw_template_order(order))
    from_the_top = sorted(leaves, key=lambda leaf: -found[leaf].get_y())
    assert [leaf[0] for leaf in from_the_top] in (list("aaabbb"), list("bbbaaa"))


@pytest.mark.parametrize(
    ("name", "magic"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("plain", b"\x89PNG")]
)
def test_drawing_to_a_file(name: str, magic: bytes, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_template_order(DIAMOND, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_drawing_to_nowhere(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(ParsimonError, match=r"give a file name that ends in \.png, \.svg or \.pdf"):
        draw_template_order(DIAMOND, tmp_path / "a.docx")
    with pytest.raises(ParsimonError, match=r"cannot be written: No such file or directory"):
        draw_template_order(DIAMOND, tmp_path / "no" / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_drawing_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        ParsimonError, match=r"needs matplotlib, which is not installed; to_text\(\) works without it"
    ):
        draw_template_order(DIAMOND)
