"""Labels that hardly come twice are probably no labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from parsimon.errors import ParsimonWarning
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.label_counts import OF_ROWS, OF_TOKENS, check_label_counts
from parsimon.tasks.matrices.training import MatrixTraining
from parsimon.tasks.sequences.training import SequenceTraining


@pytest.mark.parametrize(
    ("labels", "of", "plausible", "warned"),
    [
        (300, 300, OF_ROWS, True),
        (9, 9, OF_ROWS, False),
        (300, 400, OF_ROWS, False),
        (60, 500, OF_TOKENS, True),
        (60, 5000, OF_TOKENS, False),
        (20, 20, OF_TOKENS, False),
    ],
)
def test_what_is_plausible(labels, of, plausible, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_label_counts(labels, of, "rows", plausible)
    assert bool(caught) is warned


def test_documents_with_a_label_each():
    texts = [f"text {i % 3}" for i in range(12)]
    with pytest.warns(ParsimonWarning, match="there are 12 labels for 12 documents"):
        DocumentTraining(max_iter=1).fit(texts, [f"id{i}" for i in range(12)])


def test_rows_with_a_measurement_for_a_class():
    X = np.eye(12)
    with pytest.warns(ParsimonWarning, match="there are 12 labels for 12 rows"):
        MatrixTraining(max_iter=1).fit(X, np.arange(12))


def test_tokens_with_words_for_labels():
    words = [[f"w{i}{j}" for j in range(10)] for i in range(6)]
    space = TemplateFeatures(TemplateSet.parse("U:%x[0,0]"))
    tags = Columns.from_sequences([["N"] * 10] * 6)
    with pytest.warns(ParsimonWarning, match="there are 60 labels for 60 tokens"):
        SequenceTraining(l1=1.0, max_iter=1).fit(space, tags, Labels.from_sequences(words))
