"""Units and their groups against loops in plain Python."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.text import Corpus, TextReader
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords, FittedBag
from parsimon.tasks.documents import units
from parsimon.tasks.documents.units import unit_bounds, unit_groups

TEXTS = ["a b a! c b!\n\nd e f g h", "", "zz! a c a"]
DOCUMENTS = st.lists(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=4), max_size=5)


def windows(corpus: Corpus, window: int) -> list[list[int]]:
    found = []
    for first, last in pairwise(corpus.documents):
        begin, end = int(corpus.sentences[first]), int(corpus.sentences[last])
        while begin < end:
            found.append([begin, min(begin + window, end)])
            if begin + window >= end:
                break
            begin += window // 2
    return found


def test_units_of_texts() -> None:
    corpus = TextReader().read(TEXTS)
    assert unit_bounds(corpus, "sentence").tolist() == [[0, 3], [3, 5], [5, 10], [10, 11], [11, 14]]
    assert unit_bounds(corpus, "paragraph").tolist() == [[0, 5], [5, 10], [10, 14]]
    assert unit_bounds(corpus, "document").tolist() == [[0, 10], [10, 10], [10, 14]]
    assert unit_bounds(corpus, "window", 6).tolist() == [[0, 6], [3, 9], [6, 10], [10, 14]]
    assert unit_bounds(corpus, "window").tolist() == [[0, 10], [10, 14]]


@given(DOCUMENTS, st.integers(2, 9))
def test_windows(documents: Any, window: int) -> None:
    corpus = TextReader().read(documents)
    assert unit_bounds(corpus, "window", window).tolist() == windows(corpus, window)


@given(
    DOCUMENTS,
    st.sampled_from(["sentence", "paragraph", "document", "window"]),
    st.sampled_from([1, 5, 1 << 22]),
)
def test_groups(documents: Any, unit: Any, tokens_at_a_time: int) -> None:
    """A member a token that is a feature, ascending, and group g is unit g."""
    corpus = TextReader().read(documents)
    bag = FittedBag(("d", "b", "x", "a"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "_SLICE", tokens_at_a_time)
        groups = unit_groups(corpus, bag, unit, window=4)
    bounds = unit_bounds(corpus, unit, window=4)
    assert (groups.n_groups, groups.n_features) == (len(bounds), 4)
    for g, (begin, end) in enumerate(bounds.tolist()):
        words = [corpus.words[number] for number in corpus.tokens[begin:end]]
        assert groups.members(g).tolist() == sorted(bag.words.index(w) for w in words if w in bag.words)
    assert groups.weight.tolist() == [1.0] * len(bounds)


def test_weights_are_by_the_number_of_members() -> None:
    corpus = TextReader().read(TEXTS)
    bag = BagOfWords(min_count=2).fit(corpus)  # a, b and c
    groups = unit_groups(corpus, bag, weight="sqrt")
    assert groups.sizes.tolist() == [3, 2, 0, 0, 3]
    assert groups.weight.tolist() == np.sqrt([3, 2, 0, 0, 3]).tolist()
    assert unit_groups(corpus, bag, weight=[1, 2, 3, 4, 5]).weight.tolist() == [1, 2, 3, 4, 5]
    assert groups.name(2) == "sentence 2"


def test_mistakes() -> None:
    corpus = TextReader().read(TEXTS)
    with pytest.raises(
        ParsimonError, match="no unit 'line'; choose from sentence, paragraph, document, window"
    ):
        unit_bounds(corpus, "line")  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match="window is 1; give at least 2"):
        unit_bounds(corpus, "window", 1)
