"""Documents as features: words, and what groups them: sentences, paragraphs, windows, or lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsimon.arrays import Array
from parsimon.data.text.corpus import Corpus
from parsimon.data.text.reader import TextReader
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import FittedBag
from parsimon.penalties.groups import RULES, Groups, Rule
from parsimon.tasks.documents.units import Unit, unit_groups
from parsimon.tasks.matrices.column_groups import is_list


@dataclass(frozen=True, eq=False)
class DocumentFeatures:
    """The training documents and which of their words are features: what groupings of words look at."""

    corpus: Corpus
    bag: FittedBag
    _made: dict[Any, Groups] = field(default_factory=dict, repr=False)  # groups that were asked for before

    @property
    def n_features(self) -> int:
        """How many words are features."""
        return len(self.bag.words)

    @property
    def counts(self) -> Array:
        """How often each of them occurs."""
        of_corpus = np.bincount(self.corpus.tokens, minlength=len(self.corpus.words))
        number = self.bag.numbers(self.corpus)
        counts = np.zeros(self.n_features)
        counts[number[number >= 0]] = of_corpus[number >= 0]
        return counts


@dataclass(frozen=True)
class ByUnit:
    """One group for every sentence, paragraph, document, or window of so many tokens, of the training documents.

    >>> from parsimon.tasks.documents.features import ByUnit, DocumentFeatures
    >>> from parsimon.features.bag_of_words import BagOfWords
    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read(["It works. It really works."])
    >>> groups = ByUnit("sentence").groups(DocumentFeatures(corpus, BagOfWords().fit(corpus)))
    >>> groups.n_groups, groups.sizes.tolist()
    (2, [2, 3])
    """

    unit: Unit = "sentence"
    window: int = 20
    weight: Rule = "ones"

    def groups(self, features: Any) -> Groups:
        """The groups."""
        if not isinstance(features, DocumentFeatures):
            raise ParsimonError(f"groups by {self.unit} need documents, not sequences or matrices.")
        if not isinstance(self.weight, str):
            raise ParsimonError(f"the weights of groups by {self.unit} must be one of {', '.join(RULES)}.")
        if self not in features._made:
            made = unit_groups(features.corpus, features.bag, self.unit, self.window, self.weight)
            features._made[self] = made
        return features._made[self]


@dataclass(frozen=True)
class OfWords:
    """Groups of words, given by hand: topics, a thesaurus. Words that are no features are left out.

    >>> from parsimon.tasks.documents.features import DocumentFeatures, OfWords
    >>> from parsimon.features.bag_of_words import BagOfWords
    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read(["A dog and a cat."])
    >>> groups = OfWords([["cat", "dog", "cow"], ["car"]]).groups(DocumentFeatures(corpus, BagOfWords().fit(corpus)))
    >>> groups.sizes.tolist()
    [2, 0]
    """

    lists: Sequence[Sequence[str]]
    weight: Rule = "ones"

    def groups(self, features: Any) -> Groups:
        """The groups among the words that are features."""
        if not isinstance(features, DocumentFeatures):
            raise ParsimonError("groups of words need documents, not sequences or matrices.")
        number = {word: i for i, word in enumerate(features.bag.words)}
        if not is_list(self.lists):
            raise ParsimonError(f"groups must be a unit of text or lists of words, not {self.lists!r}.")
        for m, each in enumerate(self.lists):
            if not is_list(each) or not all(isinstance(word, str) for word in each):
                raise ParsimonError(f"group {m} of words is {each!r}; give a list of words.")
        lists = [sorted({number[word] for word in each if word in number}) for each in self.lists]
        return Groups.from_lists(lists, len(number), weight=self.weight)


def corpus_of(documents: Sequence[Any] | Corpus, reader: TextReader) -> Corpus:
    """Documents that have been read, or are now."""
    return documents if isinstance(documents, Corpus) else reader.read(documents)


def spread_of(matrix: Any) -> Array:
    """The standard deviation of every column."""
    mean = np.asarray(matrix.mean(axis=0)).reshape(-1)
    squares = np.asarray(matrix.multiply(matrix).mean(axis=0)).reshape(-1)
    return np.asarray(np.sqrt(np.maximum(squares - mean**2, 0.0)), np.float64)


def bend_by_count(counts: Array, power: float) -> Array:
    """b_k ∝ n_kᵖ, of mean one: how much stronger the ridge of a word is that occurs n_k times.

    ADMM that is stopped early shrinks weights like this (docs/results/yogatama2014.md): its first round has a ridge of
    strength ρ n_k and a threshold λ.
    """
    bend = np.maximum(counts, 1.0) ** power
    return np.asarray(bend / bend.mean(), np.float64)
