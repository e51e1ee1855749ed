"""Groups of words by units of documents, and by lists of words."""

from __future__ import annotations

import pytest

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features import BagOfWords
from parsimon.tasks.documents.features import ByUnit, DocumentFeatures, OfWords


def features() -> DocumentFeatures:
    corpus = TextReader().read(["it works. it really works.", "no."])
    return DocumentFeatures(corpus, BagOfWords().fit(corpus))


def test_a_group_for_every_sentence() -> None:
    groups = ByUnit("sentence").groups(features())
    assert groups.sizes.tolist() == [2, 3, 1]
    given = features()
    assert ByUnit("sentence").groups(given) is ByUnit("sentence").groups(given)  # made once


def test_lists_of_words() -> None:
    given = features()
    groups = OfWords([["it", "works"], ["no"]], "ones").groups(given)
    members = [[given.bag.words[i] for i in groups.members(g)] for g in range(2)]
    assert [sorted(each) for each in members] == [["it", "works"], ["no"]]


def test_units_need_documents() -> None:
    with pytest.raises(ParsimonError, match="need documents"):
        ByUnit("sentence").groups(object())
