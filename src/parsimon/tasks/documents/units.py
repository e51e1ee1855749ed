"""Groups of words from the structure of documents: the words of a sentence, a paragraph, a document or a window."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from parsimon.arrays import IntArray
from parsimon.data.text.corpus import Corpus, consecutive
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import FittedBag
from parsimon.penalties.groups import Groups, Rule, bounds, group_weights

__all__ = ["Unit", "unit_bounds", "unit_groups"]

Unit: TypeAlias = Literal["sentence", "paragraph", "document", "window"]

_SLICE = 1 << 22  # tokens that are sorted at a time, so that what sorting needs beside them stays small


def unit_bounds(corpus: Corpus, unit: Unit = "sentence", window: int = 20) -> IntArray:
    """Where each unit begins and ends, in tokens: (G, 2).

    Windows are runs of `window` tokens of a document, each overlapping the one before it by half; the last one ends
    with the document and may be shorter.

    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read([["a b", "c d e"], ["f"]])
    >>> unit_bounds(corpus, "sentence").tolist()
    [[0, 2], [2, 5], [5, 6]]
    >>> unit_bounds(corpus, "window", window=4).tolist()
    [[0, 4], [2, 5], [5, 6]]
    """
    if unit == "window":
        return _windows(corpus.sentences[corpus.documents], window)
    if unit not in get_args(Unit):
        raise ParsimonError(f"there is no unit {unit!r}; choose from {', '.join(get_args(Unit))}.")
    of_unit = corpus.sentences
    if unit != "sentence":
        of_unit = of_unit[corpus.paragraphs if unit == "paragraph" else corpus.documents]
    return np.column_stack([of_unit[:-1], of_unit[1:]]).astype(np.int64)


def _windows(documents: IntArray, window: int) -> IntArray:
    if window < 2:
        raise ParsimonError(f"window is {window}; give at least 2 tokens.")
    step, sizes = window // 2, np.diff(documents)
    counts = np.where(sizes > 0, 1 + np.maximum(-((window - sizes) // step), 0), 0)
    number, _ = consecutive(np.zeros_like(counts), counts)
    begins = np.repeat(documents[:-1], counts) + step * number
    return np.column_stack([begins, np.minimum(begins + window, np.repeat(documents[1:], counts))])


def unit_groups(
    corpus: Corpus, bag: FittedBag, unit: Unit = "sentence", window: int = 20, weight: Rule = "ones"
) -> Groups:
    """The features of each unit as a group, one member a token (Yogatama & Smith 2014, eq. 3).

    A word that a unit has twice is twice a member. Tokens that are no features are left out; a unit of which nothing
    is left stays as an empty group, so that group g is unit g. `weight` is a rule by the number of members.

    >>> from parsimon.features.bag_of_words import BagOfWords
    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read([["b a b", "c"]])
    >>> groups = unit_groups(corpus, BagOfWords().fit(corpus))
    >>> groups.members(0).tolist(), groups.members(1).tolist()
    ([0, 0, 1], [2])
    """
    of_unit = unit_bounds(corpus, unit, window)
    number = bag.numbers(corpus)
    sizes = np.zeros(len(of_unit), np.int64)
    index = [np.zeros(0, np.int64)]
    for first, last in _slices(of_unit):
        tokens, inner = consecutive(of_unit[first:last, 0], of_unit[first:last, 1])
        features = number[corpus.tokens[tokens]].astype(np.int64)
        key = np.repeat(np.arange(last - first), np.diff(inner)) * len(bag.words) + features
        key = np.sort(key[features >= 0])
        sizes[first:last] = np.bincount(key // max(len(bag.words), 1), minlength=last - first)
        index.append(key % max(len(bag.words), 1))
    names = partial("{} {}".format, unit)
    return Groups(bounds(sizes), np.concatenate(index), group_weights(weight, sizes), len(bag.words), names)


def _slices(of_unit: IntArray) -> list[tuple[int, int]]:
    """Runs of units of about `_SLICE` tokens."""
    ends = np.cumsum(of_unit[:, 1] - of_unit[:, 0])
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(_SLICE, total, _SLICE), side="right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(of_unit)]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
