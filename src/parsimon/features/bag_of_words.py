"""Bags of words: choosing the words of a corpus that are features, and their values in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["BagOfWords", "FittedBag", "Values"]

Values: TypeAlias = Literal["counts", "binary", "tf-idf"]

_SLICE = 1 << 22  # tokens counted at a time, to limit the memory needed for counting


@dataclass(frozen=True)
class BagOfWords:
    """Chooses the words that are features. Their values are counts, 0 or 1 ("binary"), or tf-idf.

    A word must occur at least `min_count` times in all and in at least `min_documents` documents, but in no more than
    the share `max_documents` of all documents. Of the words that do, the `max_words` most frequent are features.

    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read(["a rose is a rose", "a daisy"])
    >>> bag = BagOfWords(min_count=2).fit(corpus)
    >>> bag.words
    ('a', 'rose')
    >>> bag.matrix(corpus).toarray()
    array([[2., 2.],
           [1., 0.]])
    """

    values: Values = "counts"
    min_count: int = 1
    min_documents: int = 1
    max_documents: float = 1.0
    max_words: int | None = None

    def __post_init__(self) -> None:
        _check_values(self.values)
        for name in ("min_count", "min_documents"):
            if getattr(self, name) < 1:
                raise ParsimonError(f"{name} is {getattr(self, name)}; give at least 1.")
        if not 0 < self.max_documents <= 1:
            raise ParsimonError(
                f"max_documents is {self.max_documents}; give a share of the documents, above 0 and at most 1."
            )
        if self.max_words is not None and self.max_words < 1:
            raise ParsimonError(f"max_words is {self.max_words}; give at least 1, or None for no limit.")

    def fit(self, corpus: Corpus) -> FittedBag:
        """Choose the words of a corpus that are features; they stay in corpus order."""
        counts = np.bincount(corpus.tokens, minlength=len(corpus.words))
        documents = _document_counts(corpus)
        # A share such as 0.7 of 10 documents is 7, even if 0.7 · 10 is rounded down.
        most = np.floor(self.max_documents * len(corpus) + 1e-9)
        chosen = np.flatnonzero(
            (counts >= self.min_count) & (documents >= self.min_documents) & (documents <= most)
        )
        if self.max_words is not None and self.max_words < len(chosen):
            by_count = np.argsort(-counts[chosen], kind="stable")
            chosen = np.sort(chosen[by_count[: self.max_words]])
        if len(chosen) == 0:
            raise ParsimonError(
                f"none of the {len(corpus.words)} words in the {len(corpus)} documents qualifies as a feature; "
                "lower min_count and min_documents, or raise max_documents."
            )
        idf = None
        if self.values == "tf-idf":
            idf = np.log((1 + len(corpus)) / (1 + documents[chosen])) + 1
        return FittedBag(tuple(corpus.words[word] for word in chosen.tolist()), self.values, idf)


@dataclass(frozen=True, eq=False)
class FittedBag:
    """The words that are features, in order, and the statistics needed to compute their values.

    With tf-idf, the value of a word is its count times its idf, 1 + ln((1 + D) / (1 + its documents)), and the values
    of a document are scaled to norm 1, as in scikit-learn's `TfidfTransformer`.
    """

    words: tuple[str, ...]
    values: Values = "counts"
    idf: Array | None = None  # (V,) with tf-idf

    def __post_init__(self) -> None:
        _check_values(self.values)
        if (self.values == "tf-idf") != (self.idf is not None):
            raise ParsimonError(
                "idf weights are needed if values is tf-idf, and not otherwise; give both or neither."
            )
        if self.idf is not None and len(self.idf) != len(self.words):
            raise ParsimonError(
                f"there are {len(self.words)} words but {len(self.idf)} idf weights; give one per word."
            )

    def matrix(self, corpus: Corpus) -> csr_matrix:
        """The values of all features in each document, a (D, V) matrix of float64."""
        counts: csr_matrix = _counts(corpus, self.numbers(corpus), len(self.words))
        if self.values == "binary":
            counts.data[:] = 1.0
        elif self.idf is not None:
            counts.data *= self.idf[counts.indices]
            squares = np.add.reduceat(np.append(counts.data**2, 0.0), counts.indptr[:-1])
            sizes = np.diff(counts.indptr)
            counts.data /= np.repeat(np.sqrt(squares), sizes)
        return counts

    def numbers(self, corpus: Corpus) -> IntArray:
        """The feature number of each word of the corpus, −1 for words that are not features."""
        number = {word: i for i, word in enumerate(self.words)}
        return np.fromiter((number.get(word, -1) for word in corpus.words), np.int64, len(corpus.words))


def _check_values(values: str) -> None:
    if values not in get_args(Values):
        raise ParsimonError(f"values is {values!r}; choose from {', '.join(get_args(Values))}.")


def _slices(corpus: Corpus) -> list[tuple[int, int]]:
    """Runs of documents with about `_SLICE` tokens each."""
    ends = corpus.sentences[corpus.documents[1:]]
    cuts = np.searchsorted(ends, np.arange(_SLICE, corpus.n_tokens, _SLICE), side="right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(corpus)]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _count_slice(corpus: Corpus, first: int, last: int, number: IntArray, n_features: int) -> Any:
    """The count of each feature in the documents from `first` to `last` − 1, as a csr_matrix."""
    from scipy.sparse import csr_matrix

    tokens = corpus.sentences[corpus.documents[first : last + 1]]
    features = number[corpus.tokens[tokens[0] : tokens[-1]]]
    kept = features >= 0
    ptr = np.concatenate([[0], np.cumsum(kept)])[tokens - tokens[0]]
    features = features[kept]
    counts = csr_matrix((np.ones(len(features)), features, ptr), shape=(last - first, n_features))
    counts.sum_duplicates()  # also sorts the features of each document
    return counts


def _counts(corpus: Corpus, number: IntArray, n_features: int) -> Any:
    from scipy.sparse import csr_matrix, vstack

    parts = [_count_slice(corpus, first, last, number, n_features) for first, last in _slices(corpus)]
    return vstack(parts, format="csr") if parts else csr_matrix((0, n_features))


def _document_counts(corpus: Corpus) -> IntArray:
    """The number of documents that contain each word."""
    number, total = np.arange(len(corpus.words)), np.zeros(len(corpus.words), np.int64)
    for first, last in _slices(corpus):
        counted = _count_slice(corpus, first, last, number, len(corpus.words))
        total += np.bincount(counted.indices, minlength=len(corpus.words))
    return total
