"""Looking into a document model: how many words are left for each label, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.tasks.documents.explain import contrasts
from parsimon.tasks.documents.model import DocumentModel


@dataclass(frozen=True)
class WordWeight:
    """What a word weighs for a label, and what it does: its weight times the spread of its values in training."""

    word: str
    weight: float
    effect: float | None = None  # None: the spread is not known


@dataclass(frozen=True)
class WordShare:
    """How many words speak for a label, and against it."""

    label: str
    bias: float
    words_for: int
    words_against: int
    total: float  # Σ |w|


def words_by_label(model: DocumentModel) -> Array:
    """Weights towards each label, (words, labels); see `parsimon.tasks.documents.explain.contrasts`."""
    return contrasts(model)[model.places]


def heaviest_words(model: DocumentModel, label: str, top: int | None = None) -> list[WordWeight]:
    """The words that do most for a label: weight times the standard deviation of their values in training.

    A heavy word that hardly occurs does little. Where spreads are not known, the heaviest words come first.

    >>> model = DocumentModel(("bad", "good"), ("fine", "dull", "great"), [[2.0], [-1.0], [3.0]], [0.5])
    >>> [word.word for word in heaviest_words(model, "good")]
    ['great', 'fine']
    """
    if label not in model.labels:
        raise ParsimonError(f"the model has no label {label!r}; its labels are {', '.join(model.labels)}.")
    weights = words_by_label(model)[:, model.labels.index(label)]
    effects = weights if model.spread is None else weights * model.spread
    order = np.argsort(-effects, kind="stable")
    order = order[weights[order] > 0][:top]
    known = model.spread is not None
    return [
        WordWeight(model.words[i], float(weights[i]), float(effects[i]) if known else None)
        for i in order.tolist()
    ]


def shares(model: DocumentModel) -> list[WordShare]:
    """Every label, with how many words speak for it and against it."""
    bias = model.bias if model.n_labels != 2 else np.array([0.0, model.bias[0]])
    return [
        WordShare(label, float(b), int((w > 0).sum()), int((w < 0).sum()), float(np.abs(w).sum()))
        for label, b, w in zip(model.labels, bias, words_by_label(model).T, strict=True)
    ]


def summary(model: DocumentModel) -> dict[str, Any]:
    """Numbers about a model: words, labels, training."""
    return {
        "kind": "document",
        "words": len(model.words),
        "candidate_words": model.info.get("candidate_words"),
        "weights": int(np.count_nonzero(model.weights)),
        "labels": list(model.labels),
        "values": model.values,
        "training": {k: v for k, v in model.info.items() if k != "history"},
    }
