"""Looking into a matrix model: which columns and groups are left, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.arrays import Array, BoolArray
from parsimon.errors import ParsimonError
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.model import MatrixModel


@dataclass(frozen=True)
class ColumnWeight:
    """What a column weighs."""

    column: int
    weight: float


@dataclass(frozen=True)
class GroupNorm:
    """The norm of the weights of a group, over all classes."""

    name: str
    columns: int
    norm: float


def heaviest_columns(model: MatrixModel, of: str | None = None, top: int | None = None) -> list[ColumnWeight]:
    """The columns with the largest weights, whatever their sign; for one class with `of`.

    Without `of`, a column weighs as much as the norm of its weights for all classes; where there is one weight a
    column, it is that weight. Of two classes, what speaks for one speaks against the other.

    >>> model = MatrixModel(4, [0, 2, 3], [[1.0], [-3.0], [2.0]], [0.0], ("no", "yes"))
    >>> [(each.column, each.weight) for each in heaviest_columns(model, top=2)]
    [(2, -3.0), (3, 2.0)]
    >>> heaviest_columns(model, "no", 1)
    [ColumnWeight(column=2, weight=3.0)]
    """
    weights = _weights_of(model, of)
    order = np.argsort(-np.abs(weights), kind="stable")[:top]
    return [ColumnWeight(int(model.columns[i]), float(weights[i])) for i in order.tolist()]


def _weights_of(model: MatrixModel, of: str | None) -> Array:
    if of is None:
        one = model.width == 1
        return model.weights[:, 0] if one else np.linalg.norm(model.weights, axis=1)
    classes = model.classes or ()
    if of not in classes:
        known = f"its classes are {', '.join(classes)}" if classes else "it predicts numbers"
        raise ParsimonError(f"the model has no class {of!r}; {known}.")
    place = classes.index(of)
    if model.width > 1:
        return model.weights[:, place]
    return model.weights[:, 0] if place else -model.weights[:, 0]


def active_groups(groups: Groups, coef: Array) -> BoolArray:
    """Which groups have a weight other than zero, for any class."""
    used = np.any(np.atleast_2d(coef) != 0, axis=0)
    return groups.reduce(used.astype(np.float64)) > 0


def group_norms(model: MatrixModel) -> list[GroupNorm]:
    """The groups that are not zero, the heaviest first; none if columns have no groups."""
    if model.groups is None:
        return []
    groups = model.groups
    norms = np.sqrt(groups.reduce(np.sum(model.coef**2, axis=0)))
    order = np.argsort(-norms, kind="stable")[: int(np.count_nonzero(norms))]
    return [GroupNorm(groups.name(m), int(groups.sizes[m]), float(norms[m])) for m in order.tolist()]


def summary(model: MatrixModel) -> dict[str, Any]:
    """Numbers about a model: columns, groups, classes, training."""
    groups = model.groups
    return {
        "kind": "matrix",
        "columns": len(model.columns),
        "candidate_columns": model.n_columns,
        "weights": int(np.count_nonzero(model.weights)),
        "groups": None if groups is None else groups.n_groups,
        "active_groups": None if groups is None else int(active_groups(groups, model.coef).sum()),
        "classes": None if model.classes is None else list(model.classes),
        "intercepts": model.intercepts.tolist(),
        "heaviest_columns": [[each.column, each.weight] for each in heaviest_columns(model, top=10)],
        "training": {k: v for k, v in model.info.items() if k != "history"},
    }
