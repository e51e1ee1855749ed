"""Why a document gets its label: what each sentence, and each word in it, does for it.

The *log-odds* of a sentence are log P(label | document) − log P(label | document without that sentence)
(Yogatama & Smith 2014, §5.4): above zero, the sentence speaks for the label. They can be had for any document and
any model. For documents of training, the norms of the copies v that ADMM has made of the weights of a sentence
say more: where they are zero, training found the sentence irrelevant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.errors import ParsimonError
from parsimon.tasks.documents.model import DocumentModel, documents_of_sentences, sentences_of_tokens
from parsimon.tasks.matrices.linear import log_softmax


@dataclass(frozen=True)
class ExplainedToken:
    """A token, and what its word does in its sentence."""

    word: str
    count: int  # how often the word is in the sentence
    weight: float  # of the word, towards the label explained; zero for words that the model has not kept
    contribution: float  # what all of its occurrences in the sentence add to the score


@dataclass(frozen=True)
class ExplainedSentence:
    """A sentence, and what it does for the label explained."""

    text: str
    tokens: tuple[ExplainedToken, ...]
    norm: float  # ‖w_{d,s}‖, one weight a token
    log_odds: float
    copies: float | None = None  # ‖v_{d,s}‖, for documents of training
    starts_paragraph: bool = False

    @property
    def relevant(self) -> bool | None:
        """Whether training found the sentence relevant; ``None`` where that is not known."""
        return None if self.copies is None else self.copies > 0

    def pieces(self) -> Iterator[tuple[str, ExplainedToken | None]]:
        """The text from left to right, cut into words with their tokens and what stands between them."""
        at = 0
        for token in self.tokens:
            found = _word(token.word).search(self.text, at)
            if found is None:  # the tokeniser has changed it beyond recognition
                continue
            if found.start() > at:
                yield self.text[at : found.start()], None
            yield found[0], token
            at = found.end()
        if at < len(self.text):
            yield self.text[at:], None


@dataclass(frozen=True)
class ExplainedDocument:
    """A document, its label, and its sentences."""

    label: str  # the one explained
    predicted: str
    probabilities: dict[str, float]
    sentences: tuple[ExplainedSentence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, lists and numbers, ready for JSON. Only words with a weight are listed."""
        return {
            "label": self.label,
            "predicted": self.predicted,
            "probabilities": self.probabilities,
            "sentences": [
                {
                    "text": sentence.text,
                    "log_odds": sentence.log_odds,
                    "norm": sentence.norm,
                    "copies": sentence.copies,
                    "words": {t.word: t.contribution for t in sentence.tokens if t.weight},
                }
                for sentence in self.sentences
            ],
        }


def explain(
    model: DocumentModel,
    documents: Iterable[Any] | Corpus,
    label: str | Sequence[str] | None = None,
    *,
    copies: Array | None = None,
) -> list[ExplainedDocument]:
    """What each sentence of the documents does for their labels.

    The label explained is the predicted one, or `label`, one for all documents or one for each. `copies` has
    ‖v_{d,s}‖ for every sentence of all documents in turn, when these are the documents of training.

    >>> from parsimon.data.text.reader import TextReader
    >>> model = DocumentModel(("bad", "good"), ("fine", "dull"), [[2.0], [-1.0]], [0.0], TextReader())
    >>> for sentence in explain(model, ["A fine film. But dull in parts."])[0].sentences:
    ...     print(f"{sentence.log_odds:+.3f}  {sentence.text}")
    +1.000  A fine film.
    -0.186  But dull in parts.
    """
    corpus = documents if isinstance(documents, Corpus) else model.reader.read(documents)
    if copies is not None and np.shape(copies) != (corpus.n_sentences,):
        raise ParsimonError(
            f"copies must have one number for each of the {corpus.n_sentences} sentences, not shape {np.shape(copies)}."
        )
    scores = model.scores(corpus)
    chosen = _chosen(model, scores, label)
    odds, norms, tokens = (
        log_odds(model, corpus, scores, chosen),
        _norms(model, corpus),
        _tokens(model, corpus, chosen),
    )
    paragraphs = set(corpus.paragraphs.tolist())
    sentences = [
        ExplainedSentence(
            corpus.sentence_text(s),
            tuple(tokens[begin:end]),
            norms[s],
            odds[s],
            None if copies is None else float(copies[s]),
            s in paragraphs,
        )
        for s, (begin, end) in enumerate(pairwise(corpus.sentences.tolist()))
    ]
    probabilities = np.exp(log_softmax(scores)).tolist()
    return [
        ExplainedDocument(
            model.labels[chosen[d]],
            model.labels[int(scores[d].argmax())],
            dict(zip(model.labels, probabilities[d], strict=True)),
            tuple(sentences[begin:end]),
        )
        for d, (begin, end) in enumerate(pairwise(corpus.documents.tolist()))
    ]


def log_odds(model: DocumentModel, corpus: Corpus, scores: Array, chosen: IntArray) -> list[float]:
    """log P(label | document) − log P(label | document without the sentence), for all sentences at once.

    `scores` are the model's of the documents, `chosen` the number of each document's label.
    """
    owner = documents_of_sentences(corpus)
    label = chosen[owner][:, None]
    whole = np.take_along_axis(log_softmax(scores)[owner], label, axis=1)
    rest = np.take_along_axis(log_softmax(model.scores_without(corpus)), label, axis=1)
    out: list[float] = (whole - rest)[:, 0].tolist()
    return out


def _chosen(model: DocumentModel, scores: Array, label: str | Sequence[str] | None) -> IntArray:
    """The number of the label to explain, for each document."""
    if label is None:
        return np.asarray(scores.argmax(axis=1))
    labels = [label] * len(scores) if isinstance(label, str) else [str(y) for y in label]
    if len(labels) != len(scores):
        raise ParsimonError(
            f"there are {len(scores)} documents but {len(labels)} labels; give one, or one for each."
        )
    number = {name: y for y, name in enumerate(model.labels)}
    for name in labels:
        if name not in number:
            raise ParsimonError(f"the model has no label {name!r}; its labels are {', '.join(model.labels)}.")
    return np.array([number[name] for name in labels], np.int64)


def _norms(model: DocumentModel, corpus: Corpus) -> list[float]:
    """‖w_{d,s}‖ of every sentence; a word that is there twice counts twice, as its copies would."""
    squares = np.append((model.weights_of_known**2).sum(axis=1), 0.0)  # words that are not there are −1
    by_token = squares[model.numbers(corpus)[corpus.tokens]] if corpus.n_tokens else np.zeros(0)
    out: list[float] = np.sqrt(
        np.bincount(sentences_of_tokens(corpus), by_token, corpus.n_sentences)
    ).tolist()
    return out


def _tokens(model: DocumentModel, corpus: Corpus, chosen: IntArray) -> list[ExplainedToken]:
    """All tokens, with what their words do for the label of their document."""
    if not corpus.n_tokens:
        return []
    sentence = sentences_of_tokens(corpus)
    document = documents_of_sentences(corpus)[sentence]
    _, place, times = np.unique(
        sentence * len(corpus.words) + corpus.tokens, return_inverse=True, return_counts=True
    )
    count = times[place]
    towards = np.vstack([contrasts(model), np.zeros(model.n_labels)])  # words that are not there are −1
    number = model.numbers(corpus)[corpus.tokens]
    weight = towards[number, chosen[document]]
    contribution = weight * (count if model.values != "binary" else 1)
    if model.all_idf is not None:
        contribution *= np.append(model.all_idf, 0.0)[number] / model.lengths(corpus)[document]
    columns = (corpus.tokens.tolist(), count.tolist(), weight.tolist(), contribution.tolist())
    return [ExplainedToken(corpus.words[w], n, x, c) for w, n, x, c in zip(*columns, strict=True)]


def contrasts(model: DocumentModel) -> Array:
    """Weights towards each label, (known words, labels): a label's weights minus the mean of the other labels'.

    A softmax does not change when all labels get the same, so only differences mean something. Of two labels,
    the second has the weight of the model and the first its opposite.
    """
    w = model.weights_of_known
    if model.n_labels == 2:
        return np.concatenate([-w, w], axis=1)
    others: Array = (w.sum(axis=1, keepdims=True) - w) / max(model.n_labels - 1, 1)
    return w - others


@lru_cache(maxsize=4096)
def _word(word: str) -> re.Pattern[str]:
    """Finds a word in a text, in upper or lower case, and not within another word (`_` is no part of one)."""
    before = r"(?<![^\W_])" if word[:1].isalnum() else ""
    after = r"(?![^\W_])" if word[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(word)}{after}", re.IGNORECASE)
