"""Small labelled sequences and templates that tests of training share."""

from __future__ import annotations

import numpy as np

from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet

TEMPLATES = TemplateSet.parse("U\nU0:%x[0,0]\nU1:%x[-1,0]\nB\nB0:%x[0,0]")


def make_data(seed: int = 0, n: int = 30) -> tuple[Columns, Labels]:
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for _ in range(n):
        y = rng.integers(3, size=rng.integers(1, 7))
        words.append([f"{'abc'[k]}{rng.integers(3)}" if rng.random() < 0.8 else "z" for k in y])
        labels.append([f"L{k}" for k in y])
    return Columns.from_sequences(words), Labels.from_sequences(labels)


def space() -> TemplateFeatures:
    return TemplateFeatures(TEMPLATES)
