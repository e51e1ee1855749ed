"""The Hasse diagram of a template order as a figure: levels from left to right, with few crossings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.arrays import Array, BoolArray
from parsimon.errors import ParsimonError
from parsimon.features.template_order import TemplateOrder, tally
from parsimon.report.figure_file import save_figure

_SWEEPS = 24


def _layers(order: TemplateOrder) -> tuple[list[list[int]], list[list[int]]]:
    """The templates on each level, ordered to avoid crossings, and the edges as paths from level to level.

    An edge that skips levels gets a bend on each of them: a number from n on that occupies a position in the level like
    a template. Levels are repeatedly sorted by the mean position of neighbours on the previous level, then on the next
    (the barycentre method of Sugiyama et al. 1981). The order with the fewest crossings is returned.
    """
    depth = order.depth()
    layers: list[list[int]] = [np.flatnonzero(depth == d).tolist() for d in range(int(depth.max()) + 1)]
    paths, bends = [], len(order.names)
    for a, b in order.covers():
        middle = list(range(bends, bends + int(depth[b] - depth[a]) - 1))
        bends += len(middle)
        for level, bend in enumerate(middle, start=int(depth[a]) + 1):
            layers[level].append(bend)
        paths.append([a, *middle, b])

    links: list[list[list[int]]] = [[[] for _ in range(bends)] for _ in range(2)]  # towards coarse, fine
    for path in paths:
        for u, v in pairwise(path):
            links[0][v].append(u)
            links[1][u].append(v)
    best, fewest = layers, _crossings(layers, links[1])
    for sweep in range(_SWEEPS):
        layers = _sweep(layers, links[sweep % 2], backwards=sweep % 2 == 1)
        crossings = _crossings(layers, links[1])
        if crossings < fewest:
            best, fewest = layers, crossings
    return best, paths


def _sweep(layers: list[list[int]], links: list[list[int]], backwards: bool) -> list[list[int]]:
    """Sort every level by the mean position of linked templates, starting from one end."""
    position: dict[int, float] = {}
    out = []
    for layer in reversed(layers) if backwards else layers:
        middle = (len(layer) - 1) / 2
        wanted = {v: i - middle for i, v in enumerate(layer)}
        for v in layer:
            if links[v]:
                wanted[v] = sum(position[u] for u in links[v]) / len(links[v])
        layer = sorted(layer, key=wanted.__getitem__)
        position.update({v: i - middle for i, v in enumerate(layer)})
        out.append(layer)
    return out[::-1] if backwards else out


def _crossings(layers: list[list[int]], finer: list[list[int]]) -> int:
    """The number of pairs of edges that cross between adjacent levels."""
    total = 0
    for left, right in pairwise(layers):
        position = {v: i for i, v in enumerate(right)}
        ends = np.array([(i, position[v]) for i, u in enumerate(left) for v in finer[u]]).reshape(-1, 2)
        start, end = ends.T
        total += int(((start[:, None] < start) & (end[:, None] > end)).sum())
    return total


# Lengths in inches. With a monospaced font, the size of a box follows from its text.
_FONT = 8.0
_CHARACTER = 0.602 * _FONT / 72
_BOX, _ROW, _BEND, _GAP, _MARGIN = 0.19, 0.27, 0.12, 0.85, 0.3
_INK, _PALE, _GREY = "#33608c", "#e6eef5", "#9a9a9a"


@dataclass(frozen=True)
class _Layout:
    """The left and right ends and heights of boxes and bends, and the size of the page."""

    left: Array
    right: Array
    height: Array
    size: tuple[float, float]


def _layout(layers: list[list[int]], paths: list[list[int]], names: Sequence[str]) -> _Layout:
    n = len(names)
    down = _vertical_positions(layers, paths, n)
    left, right = np.zeros((2, len(down)))
    x = _MARGIN
    for layer in layers:
        width = (max(len(names[v]) if v < n else 0 for v in layer) + 2) * _CHARACTER
        left[layer], right[layer] = x, x + width
        x += width + _GAP
    # The caption is at the top, with a margin above and below.
    height = _MARGIN + _ROW / 2 + down.max() - down
    return _Layout(left, right, height, (x - _GAP + _MARGIN, float(height.max()) + _ROW / 2 + 2 * _MARGIN))


def _vertical_positions(layers: list[list[int]], paths: list[list[int]], n: int) -> Array:
    """The distance of everything from the top, as close to that of its neighbours as the available space allows."""
    linked: list[list[int]] = [[] for _ in range(sum(map(len, layers)))]
    for path in paths:
        for u, v in pairwise(path):
            linked[u].append(v)
            linked[v].append(u)
    room = np.where(np.arange(len(linked)) < n, _ROW, _BEND)
    down = np.zeros(len(linked))
    steps = []
    for layer in layers:
        middles = np.cumsum(room[layer]) - room[layer] / 2
        steps.append(middles - middles[0])
        down[layer] = steps[-1] - steps[-1].mean()
    for sweep in range(_SWEEPS):
        levels = list(zip(layers, steps, strict=True))
        for layer, step in levels if sweep % 2 else levels[::-1]:
            wanted = np.array([down[linked[v]].mean() if linked[v] else down[v] for v in layer])
            down[layer] = step + _isotonic(wanted - step)
    return down


def _isotonic(values: Array) -> Array:
    """Isotonic regression: the nearest ascending numbers, by pooling adjacent violators."""
    pools: list[tuple[float, int]] = []  # mean, size
    for mean in values.tolist():
        count = 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


def draw_template_order(
    order: TemplateOrder, path: str | os.PathLike[str] | None = None, kept: BoolArray | None = None
) -> Any:
    """The Hasse diagram as a matplotlib figure, coarse on the left and fine on the right.

    With `kept` (a mask of templates), templates that are kept are filled and the others hollow. With `path`, the figure
    is also saved there, in the format given by the ending of the file name.
    """
    figure = _draw(order, order.checked(kept))
    if path is not None:
        save_figure(figure, Path(path))
    return figure


def _draw(order: TemplateOrder, kept: BoolArray | None) -> Any:
    try:
        figures, patches = import_module("matplotlib.figure"), import_module("matplotlib.patches")
    except ImportError as error:
        raise ParsimonError(
            "drawing the order needs matplotlib, which is not installed; to_text() works without it"
        ) from error
    layers, paths = _layers(order)
    names = order.short_names()
    layout = _layout(layers, paths, names)
    width, height = layout.size
    figure = figures.Figure(figsize=layout.size, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    for path in paths:
        strong = kept is None or bool(kept[path[0]] and kept[path[-1]])
        axes.add_patch(_edge(path, layout, _INK if strong else _GREY, 0.8 if strong else 0.5))
    for v, name in enumerate(names):
        face, edge, ink = _colours(None if kept is None else bool(kept[v]))
        x, y, w = layout.left[v], layout.height[v], layout.right[v] - layout.left[v]
        style = {"boxstyle": "round,pad=0,rounding_size=0.07", "facecolor": face, "edgecolor": edge}
        axes.add_patch(patches.FancyBboxPatch((x, y - _BOX / 2), w, _BOX, linewidth=0.8, zorder=2, **style))
        font = {"family": "DejaVu Sans Mono", "size": _FONT, "color": ink}
        axes.text(x + w / 2, y - 0.01, name, ha="center", va="center", zorder=3, **font)
    caption = f"{tally(len(names), kept)}, coarse → fine"
    axes.text(_MARGIN, height - _MARGIN, caption, va="center", family="DejaVu Sans", size=_FONT + 1)
    return figure


def _colours(kept: bool | None) -> tuple[str, str, str]:
    """The face, edge and text colours of a box."""
    if kept is None:
        return _PALE, _INK, "black"
    return (_INK, _INK, "white") if kept else ("white", _GREY, "#606060")


def _edge(path: list[int], layout: _Layout, colour: str, width: float) -> Any:
    """A smooth line from box to box, level by level, horizontal at both ends."""
    shapes, patches = import_module("matplotlib.path"), import_module("matplotlib.patches")
    points = [(layout.right[path[0]], layout.height[path[0]])]
    codes = [shapes.Path.MOVETO]
    for v in path[1:]:
        (x0, y0), x1, y1 = points[-1], layout.left[v], layout.height[v]
        points += [((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1), (x1, y1)]
        codes += [shapes.Path.CURVE4] * 3
        if v != path[-1]:  # a bend: continue straight across the level
            points.append((layout.right[v], y1))
            codes.append(shapes.Path.LINETO)
    line = shapes.Path(points, codes)
    return patches.PathPatch(line, facecolor="none", edgecolor=colour, linewidth=width, zorder=1)
