"""Tokenised documents as arrays: word numbers, and the bounds of sentences, paragraphs and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError

__all__ = ["Corpus", "consecutive"]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents whose tokens are word numbers; sentences, paragraphs and documents are given by their bounds.

    A sentence is a run of tokens, a paragraph a run of sentences, and a document a run of paragraphs (any of them may
    be empty). ``len`` counts documents, and indexing selects documents.

    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read(["It rains. It pours.", "Sun!"])
    >>> corpus
    Corpus(2 documents, 3 sentences, 5 tokens, 4 words)
    >>> corpus.words, corpus.tokens.tolist(), corpus.sentences.tolist()
    (('it', 'rains', 'pours', 'sun'), [0, 1, 0, 2, 3], [0, 2, 4, 5])
    >>> corpus[1:].sentence_text(0)
    'Sun!'
    """

    words: Sequence[str]  # the vocabulary, by default in order of first appearance
    tokens: IntArray  # (N,) int32, indices into words
    sentences: IntArray  # (S + 1,) int64, bounds in tokens
    paragraphs: IntArray  # (P + 1,) int64, bounds in sentences
    documents: IntArray  # (D + 1,) int64, bounds in sentences
    texts: Sequence[str] | None = None  # of each document, if documents were given as text
    spans: IntArray | None = None  # (S, 2) begin and end of each sentence in the text of its document

    def __post_init__(self) -> None:
        parts = (
            ("sentences", self.sentences, len(self.tokens)),
            ("paragraphs", self.paragraphs, self.n_sentences),
            ("documents", self.documents, self.n_sentences),
        )
        for name, bounds, end in parts:
            if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != end or np.any(np.diff(bounds) < 0):
                raise ParsimonError(
                    f"the bounds of {name} must begin with 0, never decrease, and end with {end}."
                )

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return (
            f"Corpus({self.n_documents:,} documents, {self.n_sentences:,} sentences, {self.n_tokens:,} tokens, "
            f"{len(self.words):,} words)"
        )

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.documents) - 1

    @property
    def n_sentences(self) -> int:
        """The number of sentences in all documents."""
        return len(self.sentences) - 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all documents."""
        return len(self.tokens)

    def __getitem__(self, which: int | slice | IntArray | BoolArray | Sequence[int]) -> Corpus:
        """Select documents, in the given order, with the same vocabulary; an integer gives a corpus of one document."""
        try:
            chosen = np.atleast_1d(np.arange(self.n_documents)[which])
        except IndexError as error:
            raise ParsimonError(
                f"there are {self.n_documents} documents, which cannot be indexed with {which!r}; give numbers from "
                f"0 to {self.n_documents - 1}, or True or False for each."
            ) from error
        # A paragraph lies within one document, so its beginning determines its document.
        first = np.searchsorted(self.paragraphs[:-1], self.documents)
        sentences, documents = _selected(self.documents, chosen)
        paragraphs, _ = _selected(first, chosen)
        tokens, sentence_bounds = _selected(self.sentences, sentences)
        return replace(
            self,
            tokens=self.tokens[tokens],
            sentences=sentence_bounds,
            paragraphs=_selected(self.paragraphs, paragraphs)[1],
            documents=documents,
            texts=None if self.texts is None else [self.texts[d] for d in chosen.tolist()],
            spans=None if self.spans is None else self.spans[sentences],
        )

    def sentence_text(self, s: int) -> str:
        """A sentence as it was written, or its tokens joined by spaces if there is no text."""
        if not 0 <= s < self.n_sentences:
            raise ParsimonError(
                f"there is no sentence {s}; sentences are numbered from 0 to {self.n_sentences - 1}."
            )
        if self.texts is None or self.spans is None:
            return " ".join(
                self.words[number]
                for number in self.tokens[self.sentences[s] : self.sentences[s + 1]].tolist()
            )
        begin, end = self.spans[s].tolist()
        return self.texts[int(np.searchsorted(self.documents, s, side="right")) - 1][begin:end]


def _selected(bounds: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """The elements of the chosen ranges, and the bounds of those ranges once they are concatenated."""
    return consecutive(bounds[chosen], bounds[chosen + 1])


def consecutive(begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Concatenated ranges, each from a begin to its end, and the bounds of the ranges in the result.

    >>> consecutive(np.array([5, 0]), np.array([7, 3]))
    (array([5, 6, 0, 1, 2]), array([0, 2, 5]))
    """
    sizes = ends - begins
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.repeat(begins - bounds[:-1], sizes) + np.arange(bounds[-1]), bounds
