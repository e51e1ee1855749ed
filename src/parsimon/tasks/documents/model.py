"""A fitted document classifier: labels, the words that are left, and their weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.data.text.reader import TextReader
from parsimon.errors import ParsimonError
from parsimon.label_values import LabelValues, labels_of
from parsimon.tasks.matrices.linear import LinearModel, log_softmax

if TYPE_CHECKING:
    from parsimon.features.bag_of_words import FittedBag

VALUES = ("counts", "binary", "tf-idf")


@dataclass(frozen=True, eq=False)
class WordCounts:
    """How often which word is in which unit (a document or a sentence); units ascend, and words within them."""

    unit: IntArray
    word: IntArray
    count: Array


@dataclass(frozen=True, eq=False)
class DocumentModel(LinearModel):
    """The result of training: everything that prediction needs.

    Only words with a weight that is not zero are in `words`. Of two labels the second has the score, and the
    first scores zero; more labels have a column of `weights` each. With tf-idf, words without a weight still
    count for the length by which a document is divided, so `all_words` and `all_idf` keep them.

    >>> model = DocumentModel(("bad", "good"), ("fine", "dull"), [[2.0], [-1.0]], [0.5], TextReader())
    >>> corpus = model.read(["A fine film. Not dull!", "So dull. So very dull."])
    >>> model.scores(corpus)
    array([[ 0. ,  1.5],
           [ 0. , -1.5]])
    >>> model.predict(corpus)
    ['good', 'bad']
    """

    kind: ClassVar[str] = "document"
    labels: tuple[str, ...]
    words: tuple[str, ...]
    weights: Array  # (words, width): width 1 for two labels, else one column a label
    bias: Array  # (width,)
    reader: TextReader = field(default_factory=TextReader)
    values: str = "counts"
    idf: Array | None = None  # of `words`, with tf-idf
    all_words: tuple[str, ...] = ()
    all_idf: Array | None = None
    info: dict[str, Any] = field(default_factory=dict)
    label_values: LabelValues = field(default_factory=dict)  # of labels that are no texts
    spread: Array | None = None  # the standard deviation of each word's values in training, if that is known

    def __post_init__(self) -> None:
        self._set(labels=tuple(self.labels), words=tuple(self.words), all_words=tuple(self.all_words))
        self._set(bias=np.asarray(self.bias, np.float64).reshape(-1))
        weights = np.asarray(self.weights, np.float64)
        self._set(weights=weights.reshape(-1, 1) if weights.ndim == 1 else weights)
        if len(set(self.labels)) != len(self.labels) or not self.labels:
            raise ParsimonError("the labels of a document model must be there, and differ.")
        if self.weights.shape != (len(self.words), self.width) or self.bias.shape != (self.width,):
            raise ParsimonError(
                f"{len(self.words)} words and {len(self.labels)} labels need {len(self.words)} × {self.width} weights "
                f"and {self.width} biases, not {' × '.join(map(str, self.weights.shape))} and {len(self.bias)}."
            )
        if self.spread is not None:
            self._set(spread=np.asarray(self.spread, np.float64).reshape(-1))
            if self.spread.shape != (len(self.words),):
                raise ParsimonError(f"{len(self.words)} words need as many spreads, not {len(self.spread)}.")
        if self.values not in VALUES:
            raise ParsimonError(f"values must be one of {', '.join(VALUES)}, not {self.values!r}.")
        if self.values == "tf-idf":
            self._settle_idf()

    def _settle_idf(self) -> None:
        """`all_words` are `words` if nothing else is said, and `idf` is part of `all_idf`."""
        if self.all_idf is None:
            if self.idf is None or self.all_words:
                raise ParsimonError("a model with tf-idf values needs all_words and all_idf.")
            self._set(all_words=self.words, all_idf=self.idf)
        self._set(all_idf=np.asarray(self.all_idf, np.float64).reshape(-1))
        assert self.all_idf is not None
        if len(self.all_idf) != len(self.all_words) or not set(self.words) <= set(self.all_words):
            raise ParsimonError(
                "all_words must have the model's words among them, and all_idf a number for each."
            )
        self._set(idf=self.all_idf[self.places])

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_weights(
        cls,
        labels: Sequence[str],
        bag: FittedBag,
        weights: Array,
        bias: Array,
        reader: TextReader,
        info: dict[str, Any] | None = None,
        spread: Array | None = None,
    ) -> DocumentModel:
        """Keeps what is not zero of the weights of all words, (words, width) or just (words,), and their spread."""
        weights = np.asarray(weights, np.float64).reshape(len(bag.words), -1)
        kept = np.flatnonzero(weights.any(axis=1))
        scaled = bag.values == "tf-idf"
        return cls(
            tuple(labels),
            tuple(bag.words[i] for i in kept.tolist()),
            weights[kept],
            bias,
            reader,
            bag.values,
            all_words=tuple(bag.words) if scaled else (),
            all_idf=bag.idf if scaled else None,
            info=info or {},
            spread=None if spread is None else spread[kept],
        )

    @property
    def classes(self) -> list[Any]:
        """The labels as they were given in training."""
        return labels_of(self.labels, self.label_values)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @property
    def width(self) -> int:
        """How many columns of weights there are."""
        return 1 if self.n_labels == 2 else self.n_labels

    @property
    def known(self) -> tuple[str, ...]:
        """The words that matter for a score: those with a weight, and with tf-idf all of training."""
        return self.all_words if self.values == "tf-idf" else self.words

    def read(self, documents: Iterable[Any]) -> Corpus:
        """Documents as the model sees them: only the words that it knows."""
        return self.reader.read(documents, words=self.known)

    # --- Scores ---------------------------------------------------------------------------------------------

    def scores(self, corpus: Corpus) -> Array:
        """The score of every label, (documents, labels)."""
        counts = self._counted(corpus, documents_of_tokens(corpus))
        return self._scored(*self._sums(counts, counts.count, np.zeros(len(counts.count)), len(corpus)))

    def scores_without(self, corpus: Corpus) -> Array:
        """The scores of each sentence's document without that sentence, (sentences, labels), in one go.

        A word of a binary bag goes only when it is in no other sentence; with tf-idf, what is left of the
        document is made of unit length again.
        """
        owner = documents_of_sentences(corpus)
        documents = self._counted(corpus, owner[sentences_of_tokens(corpus)])
        sentences = self._counted(corpus, sentences_of_tokens(corpus))
        # Where each word of a sentence stands among those of its document.
        n_words = max(len(self.known), 1)
        place = np.searchsorted(
            documents.unit * n_words + documents.word, owner[sentences.unit] * n_words + sentences.word
        )
        whole = documents.count[place]
        total, length = self._sums(documents, documents.count, np.zeros(len(documents.count)), len(corpus))
        gone, shorter = self._sums(sentences, whole, whole - sentences.count, corpus.n_sentences)
        rest, left = total[owner] - gone, length[owner] - shorter
        # Rounding must not leave a trace of a document of which nothing is left.
        tokens = np.bincount(documents.unit, documents.count, len(corpus))[owner]
        empty = tokens == np.bincount(sentences.unit, sentences.count, corpus.n_sentences)
        rest[empty], left[empty] = 0.0, 0.0
        return self._scored(rest, left)

    def lengths(self, corpus: Corpus) -> Array:
        """What the tf-idf values of each document are divided by; 1 where there is nothing to divide."""
        counts = self._counted(corpus, documents_of_tokens(corpus))
        return _length(self._sums(counts, counts.count, np.zeros(len(counts.count)), len(corpus))[1])

    def predict(self, corpus: Corpus) -> list[str]:
        """The best label of every document."""
        return [self.labels[y] for y in self.scores(corpus).argmax(axis=1).tolist()]

    def probabilities(self, corpus: Corpus) -> Array:
        """P(label | document), (documents, labels): the softmax of the scores."""
        return np.exp(log_softmax(self.scores(corpus)))

    @cached_property
    def _number(self) -> dict[str, int]:
        """Words to their places in `known`."""
        return {word: i for i, word in enumerate(self.known)}

    @cached_property
    def places(self) -> IntArray:
        """Where in `known` each of `words` is."""
        return np.fromiter((self._number[word] for word in self.words), np.int64, len(self.words))

    @cached_property
    def weights_of_known(self) -> Array:
        """The weights of the words in `known`, zeros included, (known, width)."""
        if self.values != "tf-idf":
            return self.weights
        out = np.zeros((len(self.known), self.width))
        out[self.places] = self.weights
        return out

    def numbers(self, corpus: Corpus) -> IntArray:
        """The place in `known` of every word of the corpus, −1 for words that are not there."""
        return np.fromiter((self._number.get(w, -1) for w in corpus.words), np.int64, len(corpus.words))

    def _counted(self, corpus: Corpus, unit: IntArray) -> WordCounts:
        """The tokens of a corpus, counted by the unit that each is in."""
        word = self.numbers(corpus)[corpus.tokens] if len(corpus.words) else np.zeros(0, np.int64)
        n_words = max(len(self.known), 1)
        keys, count = np.unique((unit * n_words + word)[word >= 0], return_counts=True)
        return WordCounts(keys // n_words, keys % n_words, count.astype(np.float64))

    def _sums(self, counts: WordCounts, now: Array, then: Array, n_units: int) -> tuple[Array, Array]:
        """What scores and squared lengths lose when counts fall from `now` to `then`, by unit.

        Lengths are those of tf-idf vectors, before they are made one.
        """
        difference: Array = now - then
        if self.values == "binary":
            difference = (now > 0).astype(np.float64) - (then > 0).astype(np.float64)
        square: Array = np.zeros(n_units)
        if self.all_idf is not None:
            idf = self.all_idf[counts.word]
            difference = difference * idf
            square = np.asarray(np.bincount(counts.unit, (now**2 - then**2) * idf**2, n_units), np.float64)
        columns = [
            np.bincount(counts.unit, difference * column[counts.word], n_units)
            for column in self.weights_of_known.T
        ]
        return np.stack(columns, axis=1), square

    def _scored(self, sums: Array, squares: Array) -> Array:
        """Scores of all labels from weighted sums."""
        if self.values == "tf-idf":
            sums = sums / _length(squares)[:, None]
        sums = sums + self.bias
        return np.concatenate([np.zeros_like(sums), sums], axis=1) if self.n_labels == 2 else sums


def _length(squares: Array) -> Array:
    return np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), 1.0)


def sentences_of_tokens(corpus: Corpus) -> IntArray:
    """The number of each token's sentence."""
    return np.repeat(np.arange(corpus.n_sentences), np.diff(corpus.sentences))


def documents_of_sentences(corpus: Corpus) -> IntArray:
    """The number of each sentence's document."""
    return np.repeat(np.arange(len(corpus)), np.diff(corpus.documents))


def documents_of_tokens(corpus: Corpus) -> IntArray:
    """The number of each token's document."""
    return documents_of_sentences(corpus)[sentences_of_tokens(corpus)]
