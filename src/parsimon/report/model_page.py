"""A model as an HTML page: the weights of its templates, features and label pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon.report.page import rendered, signed
from parsimon.tasks.sequences import inspect as look

if TYPE_CHECKING:
    from parsimon.arrays import Array
    from parsimon.tasks.sequences.model import SequenceModel

MATRIX = 48  # the largest number of labels for which a matrix of label pairs fits on a screen
LISTED = 40  # the number of label pairs that are listed otherwise
MIN_OPACITY, MAX_OPACITY = 0.06, 0.6  # of shades; the numbers on top of them must stay readable
CURVE_WIDTH, CURVE_HEIGHT = 640, 120
HISTORY = {
    "objective": "objective",
    "active": "nonzero weights",
    "dev": "score on the development set",
}


@dataclass(frozen=True)
class Part:
    """Weights that are shown together: all weights of a labeller, or those of a parser for arcs or for relations."""

    name: str
    model: SequenceModel
    scores: Mapping[str, float] = field(default_factory=dict)  # by which its templates were selected


def scores_of(info: Mapping[str, Any]) -> dict[str, float]:
    """The scores by which templates were selected, from the training information; empty without selection."""
    return dict((info.get("selection") or {}).get("templates", ()))


def model_page(
    title: str,
    facts: Sequence[tuple[str, str]],
    parts: Sequence[Part],
    *,
    top: int = 15,
    label: str | None = None,
    template: str | None = None,
    history: Sequence[dict[str, Any]] = (),
) -> str:
    """A self-contained HTML page with the `top` features of every label, optionally of a single template.

    >>> from parsimon import SequenceLabeler
    >>> labeler = SequenceLabeler(l1=0.1).fit([[{"w": "a"}, {"w": "b"}]] * 3, [["A", "B"]] * 3)
    >>> page = model_page("Letters", [("model", "a small one")], [Part("", labeler.model_)])
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    return rendered(
        "model.html",
        title=title,
        facts=facts,
        parts=[_part(part, top, label, template) for part in parts],
        curves=_curves(history),
    )


def _part(part: Part, top: int, label: str | None, template: str | None) -> dict[str, Any]:
    model = part.model
    shares = sorted(look.template_shares(model), key=lambda share: -share.total)
    total = sum(share.total for share in shares) or 1.0
    largest = max((share.total for share in shares), default=0.0) or 1.0
    heaviest = look.heaviest_by_label(model, top, label=label, template=template)
    most = max((abs(f.weight) for found in heaviest.values() for f in found), default=0.0) or 1.0
    labels = {share.name: share for share in look.label_shares(model)}
    return {
        "name": part.name,
        "templates": [
            {
                "name": share.name,
                "width": f"{100 * share.total / largest:.1f}",
                "percent": f"{100 * share.total / total:.1f}",
                "features": f"{share.features:,}",
                "attributes": f"{share.attributes:,}",
                "score": f"{part.scores[share.name]:.3g}" if share.name in part.scores else "",
            }
            for share in shares
            if share.features
        ],
        "ranked": bool(part.scores),
        "without": [share.name for share in shares if not share.features],
        "labels": [
            {
                "name": name,
                "features": f"{labels[name].features:,}",
                "rows": [_feature(feature, most) for feature in found],
            }
            for name, found in heaviest.items()
        ],
        "pairs": _pairs(model) if label is None and template is None else None,
    }


def _feature(feature: look.Feature, most: float) -> dict[str, str]:
    """The values of a feature for the template: what it tests, and a bar with the length of its weight."""
    return {
        "side": "towards" if feature.weight > 0 else "against",
        "bar": f"{50 * abs(feature.weight) / most:.1f}",
        "weight": signed(feature.weight, 2),
        "attribute": feature.attribute,
        "previous": feature.previous or "",
    }


def _pairs(model: SequenceModel) -> dict[str, Any] | None:
    """The weights of label pairs: a shaded matrix, or a list if there are many labels."""
    weights: Array = look.transitions(model)
    if not weights.any():
        return None
    largest = float(np.abs(weights).max())
    if len(model.labels) > MATRIX:
        cells = sorted(zip(*weights.nonzero(), strict=True), key=lambda cell: -abs(weights[cell]))
        listed = [(model.labels[x], model.labels[y], signed(weights[x, y], 2)) for x, y in cells[:LISTED]]
        return {"listed": listed, "hidden": len(cells) - len(listed)}
    rows = [
        (name, [_cell(float(w), largest) for w in row])
        for name, row in zip(model.labels, weights, strict=True)
    ]
    return {"labels": model.labels, "rows": rows}


def _cell(weight: float, largest: float) -> dict[str, str]:
    if not weight:
        return {"side": "", "text": "", "opacity": "0"}
    opacity = MIN_OPACITY + (MAX_OPACITY - MIN_OPACITY) * abs(weight) / largest
    side = "towards" if weight > 0 else "against"
    return {"side": side, "text": signed(weight, 1), "opacity": f"{opacity:.3f}"}


def _curves(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Curves of the training history over iterations, one per recorded quantity."""
    found = {
        name: [(event["iteration"], event[key]) for event in history if event.get(key) is not None]
        for key, name in HISTORY.items()
    }
    return [_curve(name, points) for name, points in found.items() if len(points) > 1]


def _curve(name: str, history: list[tuple[int, float]]) -> dict[str, Any]:
    x, y = (np.array(values, float) for values in zip(*history, strict=True))
    caption = f"{_number(y[0])} → {_number(y[-1])} over {int(x[-1]):,} iterations"
    if y.max() > max(y[0], y[-1]):
        caption += f", at most {_number(y.max())}"
    if y.min() > 0 and y.max() > 10 * y.min():
        y, caption = np.log(y), f"{caption} (log scale)"
    across = CURVE_WIDTH * (x - x[0]) / max(x[-1] - x[0], 1)
    down = CURVE_HEIGHT * (y.max() - y) / (np.ptp(y) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return {"name": name, "caption": caption, "points": points, "width": CURVE_WIDTH, "height": CURVE_HEIGHT}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
