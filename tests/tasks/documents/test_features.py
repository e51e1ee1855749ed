"""Documents as features, and groups of words."""

from __future__ import annotations

import pytest

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords
from parsimon.penalties import SentenceLasso
from parsimon.tasks.documents.features import ByUnit, DocumentFeatures, OfWords


def features() -> DocumentFeatures:
    corpus = TextReader().read([["a b a", "c"], ["b c", "d d d"]])
    return DocumentFeatures(corpus, BagOfWords(min_count=2).fit(corpus))


def test_words_are_features() -> None:
    assert features().n_features == len(features().bag.words) == 4


@pytest.mark.parametrize(
    ("unit", "sizes"), [("sentence", [3, 1, 2, 3]), ("document", [4, 5]), ("window", [4, 4, 3])]
)
def test_units(unit: str, sizes: list[int]) -> None:
    groups = ByUnit(unit, window=4).groups(features())  # type: ignore[arg-type]
    assert groups.n_groups == len(sizes)
    assert groups.sizes.sum() >= features().n_features
    assert groups.sizes.tolist() == sizes


def test_groups_are_made_once() -> None:
    known = features()
    assert ByUnit().groups(known) is ByUnit().groups(known)
    assert ByUnit().groups(known) is not ByUnit("document").groups(known)
    bound = SentenceLasso(1.0, ByUnit()).bind(known)  # type: ignore[arg-type]
    assert bound.groups is ByUnit().groups(known)


def test_lists_of_words() -> None:
    known = features()
    groups = OfWords([["a", "b", "b", "unseen"], [], ["d"]], "sqrt").groups(known)
    assert groups.sizes.tolist() == [2, 0, 1]
    assert [known.bag.words[i] for i in groups.members(0)] == ["a", "b"]
    for wrong in (["ab"], [[1]], [None]):
        with pytest.raises(ParsimonError, match=r"group 0 of words is .*; give a list of words"):
            OfWords(wrong).groups(known)  # type: ignore[arg-type]


def test_groups_need_documents() -> None:
    with pytest.raises(ParsimonError, match="groups by sentence need documents"):
        ByUnit().groups(None)
    with pytest.raises(ParsimonError, match="groups of words need documents"):
        OfWords([["a"]]).groups(object())
