"""Bags of words against scikit-learn's, the cut-offs, and counting in slices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features import bag_of_words
from parsimon.features.bag_of_words import BagOfWords, FittedBag

TEXTS = ["a rose is a rose. a rose!", "the rose", "", "is a daisy the flower? the daisy is", "nothing else"]
NEW = ["a new rose a daisy", "unseen words only", ""]


@pytest.mark.parametrize("values", ["counts", "binary", "tf-idf"])
@pytest.mark.parametrize("tokens_at_a_time", [1, 7, 1 << 22])
def test_values_are_those_of_scikit_learn(
    values: str, tokens_at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bag_of_words, "_SLICE", tokens_at_a_time)
    corpus = TextReader().read(TEXTS)
    bag = BagOfWords(values).fit(corpus)  # type: ignore[arg-type]
    counter = CountVectorizer(vocabulary=list(bag.words), token_pattern=r"\w+", binary=values == "binary")
    theirs, theirs_new = counter.transform(TEXTS), counter.transform(NEW)
    if values == "tf-idf":
        transformer = TfidfTransformer().fit(theirs)
        theirs, theirs_new = transformer.transform(theirs), transformer.transform(theirs_new)
    for corpus_, their in ((corpus, theirs), (TextReader().read(NEW), theirs_new)):
        ours = bag.matrix(corpus_)
        assert ours.dtype == np.float64
        assert ours.format == "csr"
        assert ours.has_sorted_indices
        assert ours.nnz == their.nnz
        np.testing.assert_allclose(ours.toarray(), their.toarray(), rtol=1e-14)


def test_new_documents_may_be_read_with_the_bags_words() -> None:
    corpus = TextReader().read(TEXTS)
    bag = BagOfWords("tf-idf").fit(corpus)
    open_, closed = TextReader().read(NEW), TextReader().read(NEW, words=bag.words)
    assert np.array_equal(bag.matrix(open_).toarray(), bag.matrix(closed).toarray())


@pytest.mark.parametrize(
    ("bag", "words"),
    [
        (BagOfWords(), "a rose is the daisy flower nothing else"),
        (BagOfWords(min_count=2), "a rose is the daisy"),
        (BagOfWords(min_documents=2), "a rose is the"),
        (BagOfWords(max_documents=0.2), "daisy flower nothing else"),
        (BagOfWords(max_documents=0.4), "a rose is the daisy flower nothing else"),
        (BagOfWords(max_words=3), "a rose is"),  # is and the occur three times, is came first
        (BagOfWords(min_count=2, max_documents=0.2), "daisy"),
    ],
)
def test_cut_offs(bag: BagOfWords, words: str) -> None:
    assert bag.fit(TextReader().read(TEXTS)).words == tuple(words.split())


def test_a_share_is_not_lost_to_rounding() -> None:
    corpus = TextReader().read(["x"] * 7 + ["y"] * 3)  # 0.7 · 10 is 7.000000000000001 or 6.999999999999999
    assert BagOfWords(max_documents=0.7).fit(corpus).words == ("x", "y")


def test_numbers_of_features() -> None:
    corpus = TextReader().read(["b c a c"])
    assert FittedBag(("a", "b", "z")).numbers(corpus).tolist() == [1, -1, 0]


def test_no_documents() -> None:
    assert FittedBag(("a", "b")).matrix(TextReader().read([])).shape == (0, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"values": "tfidf"}, "values is 'tfidf'; choose from counts, binary, tf-idf"),
        ({"min_count": 0}, "min_count is 0; give at least 1"),
        ({"min_documents": 0}, "min_documents is 0; give at least 1"),
        ({"max_documents": 2}, "max_documents is 2; give a share"),
        ({"max_words": 0}, "max_words is 0"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        BagOfWords(**settings)  # type: ignore[arg-type]


def test_no_word_is_left() -> None:
    with pytest.raises(ParsimonError, match="none of the 8 words in the 5 documents qualifies"):
        BagOfWords(min_count=9).fit(TextReader().read(TEXTS))


def test_idf_goes_with_tf_idf() -> None:
    with pytest.raises(ParsimonError, match="idf weights are needed if values is tf-idf"):
        FittedBag(("a",), "tf-idf")
    with pytest.raises(ParsimonError, match="there are 1 words but 2 idf"):
        FittedBag(("a",), "tf-idf", np.ones(2))
