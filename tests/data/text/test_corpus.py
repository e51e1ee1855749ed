"""Corpora: selecting documents, the text of sentences, and bounds that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.text.corpus import Corpus, consecutive
from parsimon.data.text.reader import TextReader
from parsimon.errors import ParsimonError

TEXTS = ["One two. Three!\n\nFour.", "", "Five six."]


def test_consecutive_ranges() -> None:
    numbers, bounds = consecutive(np.array([5, 2, 0]), np.array([7, 2, 3]))
    assert (numbers.tolist(), bounds.tolist()) == ([5, 6, 0, 1, 2], [0, 2, 2, 5])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_consecutive_ranges_are_those_of_python(ranges: list[tuple[int, int]]) -> None:
    begins = np.array([begin for begin, _ in ranges], np.int64)
    sizes = np.array([size for _, size in ranges], np.int64)
    numbers, bounds = consecutive(begins, begins + sizes)
    assert numbers.tolist() == [i for begin, size in ranges for i in range(begin, begin + size)]
    assert np.diff(bounds).tolist() == sizes.tolist()


def test_selected_documents_are_what_they_would_be_on_their_own() -> None:
    corpus = TextReader().read(TEXTS)
    for chosen in ([2, 0], [1], [], [0, 0]):
        some = corpus[np.array(chosen, int)]
        alone = TextReader().read([TEXTS[d] for d in chosen], words=corpus.words)
        assert some.words == corpus.words
        for name in ("tokens", "sentences", "paragraphs", "documents"):
            assert getattr(some, name).tolist() == getattr(alone, name).tolist(), (chosen, name)
        assert [some.sentence_text(s) for s in range(some.n_sentences)] == [
            alone.sentence_text(s) for s in range(alone.n_sentences)
        ]


def test_sizes() -> None:
    corpus = TextReader().read(TEXTS)
    assert (len(corpus), corpus.n_documents, corpus.n_sentences, corpus.n_tokens) == (3, 3, 4, 6)
    assert repr(corpus) == "Corpus(3 documents, 4 sentences, 6 tokens, 6 words)"
    assert corpus.paragraphs.tolist() == [0, 2, 3, 4]


def test_sentences_without_a_text_are_their_tokens() -> None:
    corpus = TextReader().read([[["Go", "on"], ["!"]]])
    assert [corpus.sentence_text(s) for s in range(2)] == ["go on", "!"]


@pytest.mark.parametrize(
    ("sentences", "paragraphs", "documents", "message"),
    [
        ([0, 1], [0, 1], [0, 1], "the bounds of sentences must begin with 0, never decrease, and end with 2"),
        ([0, 2], [1, 1], [0, 1], "the bounds of paragraphs must begin with 0"),
        (
            [0, 2],
            [0, 1],
            [0, 2, 1],
            "the bounds of documents must begin with 0, never decrease, and end with 1",
        ),
        ([0, 2], [0, 1], [], "the bounds of documents"),
    ],
)
def test_bounds_must_fit(
    sentences: list[int], paragraphs: list[int], documents: list[int], message: str
) -> None:
    bounds = (np.array(each, np.int64) for each in (sentences, paragraphs, documents))
    with pytest.raises(ParsimonError, match=message):
        Corpus(("a",), np.zeros(2, np.int32), *bounds)
