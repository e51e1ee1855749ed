"""Looking into a model: which templates, attributes and labels are left, and what they weigh."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.weights import Weights


@dataclass(frozen=True)
class Feature:
    """One non-zero weight with its names."""

    weight: float
    template: str
    attribute: str
    label: str
    previous: str | None = None  # the label before, for features of label pairs


@dataclass(frozen=True)
class Share:
    """How much of a model a template or a label has."""

    name: str
    features: int
    attributes: int
    total: float  # Σ |w|


def features(
    model: SequenceModel, *, top: int | None = None, label: str | None = None, template: str | None = None
) -> list[Feature]:
    """The heaviest features, by absolute weight; of one label or one template if given."""
    if label is not None and label not in model.labels:
        raise ParsimonError(f"the model has no label {label!r}; its labels are {', '.join(model.labels)}.")
    if template is not None:
        names = model.space.template_names()
        if template not in names and not any(n.split(":")[0] == template for n in names):
            raise ParsimonError(
                f"the model has no template {template!r}; its templates are {', '.join(names)}."
            )
    order = np.argsort(-np.abs(model.weights), kind="stable")
    found: list[Feature] = []
    for block in _blocks(order):
        for feature in _described(model, block):
            if label is not None and feature.label != label:
                continue
            if (
                template is not None
                and feature.template != template
                and feature.template.split(":")[0] != template
            ):
                continue
            found.append(feature)
            if top is not None and len(found) >= top:
                return found
    return found


def heaviest_by_label(
    model: SequenceModel, top: int, *, label: str | None = None, template: str | None = None
) -> dict[str, list[Feature]]:
    """Of every label the heaviest features, if it has any; of one label or one template if given."""
    if top == 0:
        return {}
    if label is not None or template is not None:
        wanted = model.labels if label is None else [label]
        some = {name: features(model, top=top, label=name, template=template) for name in wanted}
        return {name: found for name, found in some.items() if found}
    _, owner = _owners(model)
    order = np.argsort(-np.abs(model.weights), kind="stable")
    order = order[np.argsort(owner[order], kind="stable")]  # by label, the heaviest of each first
    first = np.searchsorted(owner[order], np.arange(model.n_labels + 1))
    return {
        name: _described(model, order[begin : min(begin + top, end)])
        for name, begin, end in zip(model.labels, first[:-1], first[1:], strict=True)
        if end > begin
    }


def _blocks(order: Any, size: int = 4096) -> Iterator[Any]:
    for first in range(0, len(order), size):
        yield order[first : first + size]


def _described(model: SequenceModel, which: Any) -> list[Feature]:
    cut, Y = model.index.node.n_features, model.n_labels
    space, templates = model.space, model.space.template_names()
    out: dict[int, Feature] = {}
    for numbers, first, rows, names_of, owners_of in (
        (which[which < cut], 0, model.index.node, space.node_names, space.node_templates),
        (which[which >= cut], cut, model.index.pair, space.pair_names, space.pair_templates),
    ):
        attribute, column = rows.describe(np.ascontiguousarray(numbers - first, np.int64))
        owners = owners_of(attribute).tolist()
        for k, name, owner, c in zip(
            numbers.tolist(), names_of(attribute), owners, column.tolist(), strict=True
        ):
            before = model.labels[c // Y] if k >= cut else None
            out[k] = Feature(float(model.weights[k]), templates[owner], name, model.labels[c % Y], before)
    return [out[k] for k in which.tolist()]


def template_shares(model: SequenceModel) -> list[Share]:
    """Every template, with how many of its features and attributes are left."""
    names = model.space.template_names()
    counts = np.zeros(len(names), np.int64)
    attributes = np.zeros(len(names), np.int64)
    totals = np.zeros(len(names))
    cut = model.index.node.n_features
    for rows, weights, owner in (
        (model.index.node, model.weights[:cut], model.space.node_templates),
        (model.index.pair, model.weights[cut:], model.space.pair_templates),
    ):
        everyone = owner(np.arange(rows.n_attributes))
        attributes += np.bincount(everyone, minlength=len(names))
        attribute, _ = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        owners = everyone[attribute] if len(attribute) else np.zeros(0, np.int64)
        counts += np.bincount(owners, minlength=len(names))
        totals += np.bincount(owners, np.abs(weights), minlength=len(names))
    return [
        Share(n, int(c), int(a), float(t))
        for n, c, a, t in zip(names, counts, attributes, totals, strict=True)
    ]


def label_shares(model: SequenceModel) -> list[Share]:
    """Every label, with how many features speak for or against it (label pairs count for the second)."""
    attribute, label = _owners(model)
    out = []
    for y, name in enumerate(model.labels):
        mine = label == y
        total = float(np.abs(model.weights[mine]).sum())
        out.append(Share(name, int(mine.sum()), len(np.unique(attribute[mine])), total))
    return out


def _owners(model: SequenceModel) -> tuple[Any, Any]:
    """The attribute (those of label pairs come last) and the label of every weight; of a pair, the second label."""
    node_attribute, node = model.index.node.describe(np.arange(model.index.node.n_features, dtype=np.int64))
    pair_attribute, pair = model.index.pair.describe(np.arange(model.index.pair.n_features, dtype=np.int64))
    attribute = np.concatenate([node_attribute, pair_attribute + model.index.node.n_attributes])
    return attribute, np.concatenate([node, pair % model.n_labels])


def transitions(model: SequenceModel) -> Any:
    """Weights of plain label bigrams (previous × next), summed over attributes that look at nothing."""
    Y = model.n_labels
    out = np.zeros((Y, Y))
    _, constant = model.space.constant()
    cut = model.index.node.n_features
    attribute, column = model.index.pair.describe(np.arange(model.index.pair.n_features, dtype=np.int64))
    plain = np.isin(attribute, constant)
    np.add.at(out.reshape(-1), column[plain], model.weights[cut:][plain])
    return out


def summary(model: SequenceModel) -> dict[str, Any]:
    """Numbers about a model: features, attributes, templates alive, labels, training."""
    shares = template_shares(model)
    return {
        "features": len(model.weights),
        "attributes": model.index.node.n_attributes + model.index.pair.n_attributes,
        "templates": sum(share.features > 0 for share in shares),
        "labels": list(model.labels),
        "candidate_features": model.info.get("candidate_features"),
        "candidate_attributes": model.info.get("candidate_attributes"),
        "candidate_templates": model.info.get("candidate_templates"),
        "training": {k: v for k, v in model.info.items() if k != "history"},
    }


def pruned(model: SequenceModel, threshold: float) -> SequenceModel:
    """The model without weights of at most `threshold` in absolute value."""
    if not threshold >= 0:
        raise ParsimonError(f"the threshold must be zero or more, not {threshold}.")
    values = np.where(np.abs(model.weights) > threshold, model.weights, 0.0)
    weights = Weights(values, None, len(values))
    small = SequenceModel.from_weights(
        model.labels, model.space, model.index, weights, model.info, model.order
    )
    return replace(model, space=small.space, index=small.index, weights=small.weights)
