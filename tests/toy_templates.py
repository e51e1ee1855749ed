"""Labelled sequences in which one template tells the label, and the others are noise."""

from __future__ import annotations

import numpy as np

from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet

# Only the first column tells the label; the others are noise.
TEMPLATES = TemplateSet.parse(
    "U\nU:w=%x[0,0]\nU:n1=%x[0,1]\nU:n2=%x[-1,1]\nU:n3=%x[0,1]/%x[1,1]\nU:n4=%x[1,1]\nB"
)
GOOD = "U:w=%x[0,0]"


def make_data(seed: int = 0, n: int = 60) -> tuple[Columns, Labels]:
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        y = rng.integers(3, size=rng.integers(2, 7))
        rows.append([(f"{'abc'[k]}{rng.integers(4)}", f"n{rng.integers(8)}") for k in y])
        labels.append([f"L{k}" for k in y])
    return Columns.from_sequences(rows), Labels.from_sequences(labels)


def space() -> TemplateFeatures:
    return TemplateFeatures(TEMPLATES)
