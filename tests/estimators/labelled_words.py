"""Words with labels, as every kind of input that `SequenceLabeler` takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon import SequenceLabeler
from parsimon.features import TemplateSet

TEMPLATES = TemplateSet.parse("U\nU0:%x[0,0]\nU1:%x[-1,0]\nB")


def make_data(seed: int = 0, n: int = 24) -> tuple[list[list[str]], list[list[str]]]:
    """Words and IOB2 labels of sequences of different lengths."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels: list[str] = []
        for _ in range(rng.integers(1, 7)):
            inside = labels and labels[-1] != "O"
            labels.append(str(rng.choice(["O", "B-X", "I-X"] if inside else ["O", "B-X"])))
        X.append([f"{label[0].lower()}{rng.integers(4)}" if rng.random() < 0.75 else "z" for label in labels])
        y.append(labels)
    return X, y


WORDS, LABELS = make_data()
DICTS = [[{"w": w, "n": len(w)} for w in s] for s in WORDS]


def fitted(**parameters: Any) -> SequenceLabeler:
    return SequenceLabeler(TEMPLATES, **{"l1": 0.1, "l2": 0.01, **parameters}).fit(WORDS, LABELS)


def sparse_words() -> tuple[Any, list[int]]:
    from scipy.sparse import csr_matrix

    vocabulary = {w: i for i, w in enumerate(sorted({w for s in WORDS for w in s}))}
    ids = [vocabulary[w] for s in WORDS for w in s]
    matrix = csr_matrix((np.ones(len(ids)), (np.arange(len(ids)), ids)), shape=(len(ids), len(vocabulary)))
    return matrix, [len(s) for s in WORDS]


def dense_words() -> list[Any]:
    matrix, lengths = sparse_words()
    return np.split(matrix.toarray(), np.cumsum(lengths)[:-1])


def sparse_list() -> list[Any]:
    from scipy.sparse import csr_matrix

    return [csr_matrix(array) for array in dense_words()]
