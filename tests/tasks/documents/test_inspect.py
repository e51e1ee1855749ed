"""Looking into document models."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.documents.inspect import heaviest_words, shares, summary
from parsimon.tasks.documents.model import DocumentModel

# --- Looking into it ----------------------------------------------------------------------------------------


def test_words_of_two_labels_mirror_each_other() -> None:
    model = DocumentModel(("bad", "good"), ("fine", "dull", "poor"), [[2.0], [-1.0], [-3.0]], [0.5])  # type: ignore[arg-type]
    assert [(w.word, w.weight) for w in heaviest_words(model, "good")] == [("fine", 2.0)]
    assert [(w.word, w.weight) for w in heaviest_words(model, "bad")] == [("poor", 3.0), ("dull", 1.0)]
    assert [w.word for w in heaviest_words(model, "bad", 1)] == ["poor"]
    bad, good = shares(model)
    assert (bad.words_for, bad.words_against, good.words_for, good.words_against) == (2, 1, 1, 2)
    assert (bad.bias, good.bias, good.total) == (0.0, 0.5, 6.0)
    assert summary(model)["words"] == 3
    with pytest.raises(ParsimonError, match="its labels are bad, good"):
        heaviest_words(model, "ugly")


def test_words_are_ranked_by_what_they_do() -> None:
    """A heavy word that hardly occurs does less than a lighter one that often does."""
    spread = np.array([0.1, 1.0, 0.5])
    model = DocumentModel(
        ("bad", "good"), ("rare", "often", "dull"), [[3.0], [2.0], [-1.0]], [0.0], spread=spread
    )
    words = heaviest_words(model, "good")
    assert [(each.word, each.weight, each.effect) for each in words] == [
        ("often", 2.0, 2.0),
        ("rare", 3.0, pytest.approx(0.3)),
    ]
    assert [each.word for each in heaviest_words(model, "bad")] == ["dull"]
    old = DocumentModel(("bad", "good"), ("rare", "often", "dull"), [[3.0], [2.0], [-1.0]], [0.0])
    assert [each.word for each in heaviest_words(old, "good")] == ["rare", "often"]
    with pytest.raises(ParsimonError, match="3 words need as many spreads, not 2"):
        DocumentModel(("bad", "good"), ("a", "b", "c"), [[3.0], [2.0], [-1.0]], [0.0], spread=spread[:2])
