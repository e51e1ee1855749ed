"""A Markov network as a figure: variables that depend on each other are drawn close together."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.tasks.networks.model import NetworkModel

ROUNDS = 300  # of Fruchterman & Reingold
MAX_NAME = 18  # characters

# Lengths in inches. With a monospaced font, the size of a box follows from its text.
_FONT = 8.5
_CHARACTER = 0.602 * _FONT / 72
_BOX, _PAD, _GAP, _MARGIN = 0.23, 0.16, 0.13, 0.35
_EDGE = 0.55  # the median edge length, in addition to the width of a box
_INK, _PALE, _GREY = "#2b2f36", "#f4f6f9", "#9a9a9a"
AGREE, DIFFER, DEPEND = "#2f6db3", "#c4472f", "#6b5b95"


def layout(n: int, edges: IntArray, *, seed: int = 0) -> Array:
    """Positions of n variables such that neighbours are close and others are not, (n, 2), up to scale.

    The layout starts from classical scaling of shortest path lengths (Torgerson 1952), which unfolds chains and grids.
    Then neighbours attract and all variables repel each other, with falling temperature (Fruchterman & Reingold 1991).

    >>> import numpy as np
    >>> place = layout(3, np.array([[0, 1], [1, 2]]))
    >>> bool(np.linalg.norm(place[0] - place[2]) > np.linalg.norm(place[0] - place[1]))
    True
    """
    random = np.random.default_rng(seed)
    place = _scaled_distances(path_lengths(n, edges)) + 0.05 * random.standard_normal((n, 2))
    near = np.zeros((n, n))
    near[edges[:, 0], edges[:, 1]] = near[edges[:, 1], edges[:, 0]] = 1.0
    for round_ in range(ROUNDS):
        apart = place[:, None] - place
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 0.01)
        force = 1.0 / distance**2 - near * distance  # in units of the desired edge length, along `apart`
        np.fill_diagonal(force, 0.0)
        # A little gravity keeps unconnected components close to each other.
        step = (apart * force[:, :, None]).sum(axis=1) - 0.05 * (place - place.mean(axis=0))
        length = np.maximum(np.sqrt((step**2).sum(axis=1)), 1e-12)
        place = place + step * (np.minimum(length, 0.3 * (1 - round_ / ROUNDS)) / length)[:, None]
    return _rotate(place)


def path_lengths(n: int, edges: IntArray) -> Array:
    """The path length between any two variables; if there is no path, two more than the longest path."""
    joined: BoolArray = np.zeros((n, n), bool)
    joined[edges[:, 0], edges[:, 1]] = joined[edges[:, 1], edges[:, 0]] = True
    out = np.full((n, n), np.inf)
    np.fill_diagonal(out, 0.0)
    front: BoolArray = np.eye(n, dtype=bool)
    steps = 0
    while front.any():
        steps += 1
        front = (front.astype(np.float32) @ joined.astype(np.float32) > 0) & np.isinf(out)
        out[front] = steps
    return np.where(np.isinf(out), out[np.isfinite(out)].max() + 2, out)


def _scaled_distances(distance: Array) -> Array:
    """Points in the plane with approximately these distances: the top two eigenvectors of the centred squares."""
    n = len(distance)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    out = np.zeros((n, 2))
    for axis, k in enumerate(range(n - 1, max(n - 3, -1), -1)):
        vector = vectors[:, k] * np.sqrt(max(values[k], 0.0))
        # The sign of an eigenvector is arbitrary, so its largest entry is made positive.
        out[:, axis] = vector * np.sign(vector[np.argmax(np.abs(vector).round(9))] or 1.0)
    return out


def _rotate(place: Array) -> Array:
    """Rotate the layout so that its longest extent is horizontal."""
    centred = place - place.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ vectors[:, ::-1])


def draw_model(model: NetworkModel, axes: Any = None, *, seed: int = 0) -> Any:
    """A network as a matplotlib figure."""
    return draw_network(model.names, model.edges, model.strengths, model.signed, axes=axes, seed=seed)


def draw_network(
    names: Sequence[str],
    edges: IntArray,
    strengths: Array,
    signed: BoolArray | None = None,
    *,
    axes: Any = None,
    seed: int = 0,
) -> Any:
    """A network as a matplotlib figure, or drawn on the given axes.

    The width of an edge is its strength. An edge between binary variables (`signed`) is blue if they tend to be in the
    same state, by the order of their states, and red otherwise. Variables without edges are at the bottom.
    """
    lone = np.setdiff1d(np.arange(len(names)), edges)
    joined = np.setdiff1d(np.arange(len(names)), lone)
    labels = [shortened(name) for name in names]
    place, size = _positions(labels, joined, lone, edges, seed)
    if axes is None:
        axes = _page(size)
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), aspect="equal")
    axes.set_axis_off()
    signed = np.zeros(len(edges), bool) if signed is None else signed
    _draw_edges(axes, place, edges, strengths, signed)
    _draw_names(axes, place, labels, lone)
    axes.text(
        _MARGIN,
        size[1] - _MARGIN,
        _caption(len(names), strengths, signed),
        va="center",
        size=_FONT,
        color=_INK,
        zorder=4,
    )
    return axes.figure


def shortened(name: str) -> str:
    """A name that fits in its box: a very long name loses its middle.

    >>> shortened("income"), shortened("household_income_before_tax")
    ('income', 'household…fore_tax')
    """
    if len(name) <= MAX_NAME:
        return name
    left = MAX_NAME // 2
    return f"{name[:left]}…{name[len(name) - (MAX_NAME - left - 1) :]}"


def _page(size: tuple[float, float]) -> Any:
    try:
        figures = import_module("matplotlib.figure")
    except ImportError as error:
        raise ParsimonError(
            "drawing a network needs matplotlib, which is not installed; pip install 'parsimon[plots]'."
        ) from error
    return figures.Figure(figsize=size, facecolor="white").add_axes((0, 0, 1, 1))


def _positions(
    labels: list[str], joined: IntArray, lone: IntArray, edges: IntArray, seed: int
) -> tuple[Array, tuple[float, float]]:
    """The centre of every box, and the size of the page."""
    width = np.array([len(label) * _CHARACTER + _PAD for label in labels])
    place = np.zeros((len(labels), 2))
    if len(joined):
        number = np.full(len(labels), -1)
        number[joined] = np.arange(len(joined))
        place[joined] = layout(len(joined), number[edges], seed=seed)
        lengths = np.sqrt(((place[edges[:, 0]] - place[edges[:, 1]]) ** 2).sum(axis=1))
        place[joined] *= (_EDGE + float(width[joined].mean())) / float(np.median(lengths))
        place[joined] = without_overlaps(place[joined], width[joined] + _GAP, _BOX + _GAP)
        place[joined, 0] -= (place[joined, 0] - width[joined] / 2).min()
        place[joined, 1] -= place[joined, 1].min()
    across = max(float((place[joined, 0] + width[joined] / 2).max()) if len(joined) else 0.0, 5.0)
    rows = _in_rows(lone, width, across)
    for row, members in enumerate(rows):
        ends = np.cumsum(width[members] + _GAP)
        place[members, 0] = ends - _GAP - width[members] / 2
        place[members, 1] = -(row + 2.0) * (_BOX + _GAP)
    place[:, 0] += _MARGIN
    place[:, 1] += _MARGIN + _BOX / 2 - place[:, 1].min(initial=0.0)
    height = float(place[:, 1].max()) + _BOX / 2 + 2 * _MARGIN
    return place, (across + 2 * _MARGIN, height)


def _in_rows(members: IntArray, width: Array, across: float) -> list[IntArray]:
    """Boxes in rows that are at most as wide as the page."""
    rows: list[list[int]] = []
    end = np.inf
    for v in members.tolist():
        if end + width[v] > across:
            rows.append([])
            end = 0.0
        rows[-1].append(v)
        end += width[v] + _GAP
    return [np.array(row) for row in rows]


def without_overlaps(place: Array, width: Array, height: float) -> Array:
    """Move boxes apart, in the direction with the smaller overlap, until none overlap."""
    place = place.copy()
    for _ in range(500):
        apart = place[:, None] - place
        over_x = (width[:, None] + width) / 2 - np.abs(apart[:, :, 0])
        over_y = height - np.abs(apart[:, :, 1])
        meet = (over_x > 1e-9) & (over_y > 1e-9)
        np.fill_diagonal(meet, False)
        if not meet.any():
            break
        # Of two boxes in the same position, the one with the smaller number moves left or down.
        side = np.sign(np.arange(len(place))[:, None] - np.arange(len(place)))
        direction = np.where(apart != 0, np.sign(apart), side[:, :, None])
        sideways = over_x < over_y
        place[:, 0] += 0.5 * np.where(meet & sideways, over_x * direction[:, :, 0], 0.0).sum(axis=1)
        place[:, 1] += 0.5 * np.where(meet & ~sideways, over_y * direction[:, :, 1], 0.0).sum(axis=1)
    return place


def _draw_edges(axes: Any, place: Array, edges: IntArray, strengths: Array, signed: BoolArray) -> None:
    if not len(edges):
        return
    collections = import_module("matplotlib.collections")
    share = np.abs(strengths) / max(float(np.abs(strengths).max(initial=0.0)), 1e-300)
    order = np.argsort(share, kind="stable")  # strong edges on top of weak ones
    colours = [_colour(float(strengths[e]), bool(signed[e])) for e in order]
    lines = collections.LineCollection(
        list(place[edges[order]]),
        linewidths=0.9 + 4.6 * share[order],
        colors=colours,
        alpha=0.5 + 0.4 * share[order],
        capstyle="round",
        zorder=1,
    )
    axes.add_collection(lines)


def _colour(strength: float, signed: bool) -> str:
    if not signed:
        return DEPEND
    return AGREE if strength > 0 else DIFFER


def _draw_names(axes: Any, place: Array, labels: list[str], lone: IntArray) -> None:
    patches = import_module("matplotlib.patches")
    alone = set(lone.tolist())
    for v, label in enumerate(labels):
        x, y = place[v]
        w = len(label) * _CHARACTER + _PAD
        edge, face, ink = (_GREY, "white", "#606060") if v in alone else (_INK, _PALE, "black")
        box = {"boxstyle": "round,pad=0,rounding_size=0.09", "facecolor": face, "edgecolor": edge}
        axes.add_patch(
            patches.FancyBboxPatch((x - w / 2, y - _BOX / 2), w, _BOX, linewidth=0.7, zorder=2, **box)
        )
        font = {"family": "DejaVu Sans Mono", "size": _FONT, "color": ink}
        axes.text(x, y - 0.008, label, ha="center", va="center", zorder=3, parse_math=False, **font)


def _caption(n: int, strengths: Array, signed: BoolArray) -> str:
    """The numbers of variables and edges, and the meaning of the colours in the figure."""
    m = len(strengths)
    counts = f"{n} variable{'s' * (n != 1)}, {m} edge{'s' * (m != 1)}"
    meanings = [
        ("blue: same", bool(np.any(strengths[signed] > 0))),
        ("red: opposite", bool(np.any(strengths[signed] < 0))),
        ("purple: otherwise", bool(np.any(~signed))),
    ]
    used = [text for text, is_used in meanings if is_used]
    return counts + (f" · {', '.join(used)}" if np.any(signed) else "")
