"""What `SequenceLabeler` takes: every kind of input gives the same model, and what is wrong is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelled_words import DICTS, LABELS, TEMPLATES, WORDS, dense_words, fitted, sparse_list, sparse_words
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns, SparseSequences, TemplateSet


def test_every_kind_of_input_gives_the_same_model() -> None:
    """A word as a column, a dict, a string and a column of a matrix: the same problem each time."""
    pandas = pytest.importorskip("pandas")
    matrix, lengths = sparse_words()
    frame = pandas.DataFrame(
        [{"word": w, "sentence": i} for i, s in enumerate(WORDS) for w in s], columns=["sentence", "word"]
    )
    words = TemplateSet.parse("U:%x[0,0]\nB")
    settings = {"l1": 0.2, "l2": 0.01, "tol": 1e-7}
    fits = {
        "lists": SequenceLabeler(words, **settings).fit(WORDS, LABELS),
        "tuples": SequenceLabeler(words, **settings).fit([[(w,) for w in s] for s in WORDS], LABELS),
        "columns": SequenceLabeler(words, **settings).fit(Columns.from_sequences(WORDS), LABELS),
        "frame": SequenceLabeler(words, **settings).fit(Columns.from_frame(frame, "sentence"), LABELS),
        "dicts": SequenceLabeler(**settings).fit([[{"w": w} for w in s] for s in WORDS], LABELS),
        "strings": SequenceLabeler(**settings).fit([[[f"w={w}"] for w in s] for s in WORDS], LABELS),
        "sparse": SequenceLabeler(**settings).fit(matrix, LABELS, lengths=lengths),
        "sparse sequences": SequenceLabeler(**settings).fit(SparseSequences(matrix, lengths), LABELS),
        "dense": SequenceLabeler(**settings).fit(matrix.toarray(), LABELS, lengths=lengths),
        "arrays": SequenceLabeler(**settings).fit(dense_words(), LABELS),
        "sparse list": SequenceLabeler(**settings).fit(sparse_list(), LABELS),
    }
    for name, labeler in fits.items():
        assert labeler.objective_ == pytest.approx(fits["lists"].objective_, rel=1e-6), name
        assert labeler.n_features_ == fits["lists"].n_features_, name
    assert fits["sparse"].predict(matrix, lengths=lengths) == fits["lists"].predict(WORDS)
    assert fits["sparse"].score(matrix, LABELS, lengths=lengths) == fits["lists"].score(WORDS, LABELS)


def test_templates_by_file_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "patterns.txt"
    path.write_text(TEMPLATES.dumps())
    for templates in (path, str(path)):
        assert SequenceLabeler(templates, l1=0.1, l2=0.01).fit(WORDS, LABELS).predict(
            WORDS
        ) == fitted().predict(WORDS)
    assert SequenceLabeler("words", l1=0.1).fit(WORDS, LABELS).score(WORDS, LABELS) > 0.8
    with pytest.raises(
        ParsimonError, match="no template file 'wrods' and no preset with that name; presets are"
    ):
        SequenceLabeler("wrods").fit(WORDS, LABELS)


@pytest.mark.parametrize(
    ("X", "templates", "message"),
    [
        ("the dog", None, "X must be a list of sequences"),
        (5, None, "X must be a list of sequences"),
        (Columns.from_sequences(WORDS), None, "columns need templates"),
        ([[1, 2]], None, "a token's features must be a dict"),
        ([["a"], "b"], TEMPLATES, "sequence 1 is a single string"),
        ([[("a", "b")], ["c"]], TEMPLATES, "sequence 1, token 0 has 1 columns"),
    ],
)
def test_wrong_inputs(X: Any, templates: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(templates).fit(X, LABELS)


def test_a_matrix_needs_lengths() -> None:
    with pytest.raises(ParsimonError, match="a matrix needs lengths"):
        SequenceLabeler().fit(sparse_words()[0], LABELS)
    with pytest.raises(
        ParsimonError, match=r"a matrix needs lengths.* or give a list with a matrix for every"
    ):
        SequenceLabeler().fit(sparse_words()[0].toarray(), LABELS)
    for X in (dense_words(), WORDS, SparseSequences(*sparse_words())):
        with pytest.raises(ParsimonError, match="lengths are for one matrix of all tokens"):
            SequenceLabeler().fit(X, LABELS, lengths=sparse_words()[1])


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
@pytest.mark.parametrize("X", [[], [[]], [[], []]], ids=["no sequence", "an empty one", "two empty ones"])
def test_predicting_nothing(templates: Any, X: Any) -> None:
    labeler = SequenceLabeler(templates, l1=0.1).fit(WORDS if templates else DICTS, LABELS)
    assert labeler.predict(X) == X
    assert [m.shape for m in labeler.predict_marginals(X)] == [(0, 3)] * len(X)
    assert [[labels for _, labels in best] for best in labeler.predict_kbest(X, 2)] == [[[]] for _ in X]


def test_empty_sequences_among_others(labeler: SequenceLabeler) -> None:
    mixed = [[], WORDS[0], [], WORDS[1], []]
    assert labeler.predict(mixed) == [[], *labeler.predict(WORDS[:1]), [], *labeler.predict(WORDS[1:2]), []]
    with_gaps = SequenceLabeler(TEMPLATES, l1=0.1, l2=0.01).fit([[], *WORDS], [[], *LABELS])
    assert with_gaps.objective_ == pytest.approx(labeler.objective_, rel=1e-6)


def test_words_never_seen_are_passed_over(labeler: SequenceLabeler) -> None:
    assert len(labeler.predict([["never", "seen", "before"]])[0]) == 3


def test_a_model_of_nothing_predicts_all_the_same() -> None:
    labeler = fitted(l1=1e6)
    assert labeler.n_features_ == 0
    np.testing.assert_allclose(np.concatenate(labeler.predict_marginals(WORDS)), 1 / 3)
    assert [len(s) for s in labeler.predict(WORDS)] == [len(s) for s in WORDS]
