"""Looking into document models."""

from __future__ import annotations

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
