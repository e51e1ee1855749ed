"""Reading documents into a corpus, picking documents of it, and the settings of a reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data import load_amazon, load_movie_reviews, load_news20
from parsimon.data.text import Corpus, TextReader
from parsimon.errors import ParsimonError

TEXTS = ["It rains. It pours!\n\nWe stay.", "", "Sun\n\nand more\n\nsun"]


def unpacked(corpus: Corpus) -> list[list[list[str]]]:
    """The tokens of each sentence of each document."""
    tokens = [corpus.words[number] for number in corpus.tokens]
    sentences = [tokens[a:b] for a, b in pairwise(corpus.sentences)]
    return [sentences[a:b] for a, b in pairwise(corpus.documents)]


def test_texts() -> None:
    corpus = TextReader().read(TEXTS)
    assert unpacked(corpus) == [
        [["it", "rains"], ["it", "pours"], ["we", "stay"]],
        [],
        [["sun"], ["and", "more"], ["sun"]],
    ]
    assert corpus.words == ("it", "rains", "pours", "we", "stay", "sun", "and", "more")
    assert corpus.paragraphs.tolist() == [0, 2, 3, 4, 5, 6]
    assert corpus.documents.tolist() == [0, 3, 3, 6]
    assert (len(corpus), corpus.n_sentences, corpus.n_tokens) == (3, 6, 10)
    assert [corpus.sentence_text(s) for s in range(6)] == [
        "It rains.",
        "It pours!",
        "We stay.",
        "Sun",
        "and more",
        "sun",
    ]
    assert (corpus.tokens.dtype, corpus.sentences.dtype) == (np.int32, np.int64)


def test_paragraphs_in_a_quotation() -> None:
    assert TextReader().read(["> one. two.\n> \n> three\nfour"]).paragraphs.tolist() == [0, 2, 4]


def test_sentences_that_are_given() -> None:
    corpus = TextReader().read([["It rains. Or not", "", "Dr. X"], [], ("Go",)])
    assert unpacked(corpus) == [[["it", "rains", "or", "not"], [], ["dr", "x"]], [], [["go"]]]
    assert corpus.paragraphs.tolist() == [0, 3, 4]
    assert [corpus.sentence_text(s) for s in range(4)] == ["It rains. Or not", "", "Dr. X", "Go"]


def test_tokens_that_are_given() -> None:
    corpus = TextReader().read([[], [["It", "rains", "."], ["No", "!"]], [["it"]]])
    assert unpacked(corpus) == [[], [["it", "rains", "."], ["no", "!"]], [["it"]]]
    assert corpus.texts is None
    assert corpus.spans is None
    assert corpus.sentence_text(0) == "it rains ."


def test_case_can_be_kept() -> None:
    assert TextReader(lowercase=False).read(["The the THE"]).words == ("The", "the", "THE")
    assert TextReader().read(["The the THE"]).words == ("the",)


def test_tokens_are_found_before_they_are_made_lower_case() -> None:
    assert TextReader(tokens=r"[A-Zİ]\w*").read(["Ann met bob and İpek."]).words == ("ann", "İpek".lower())


def test_lines_and_functions() -> None:
    assert unpacked(TextReader(sentences="lines").read(["a. b\nc"])) == [[["a", "b"], ["c"]]]
    halves = TextReader(sentences=lambda text: [(0, 3), (3, len(text))], tokens=str.split)
    assert unpacked(halves.read(["ab cd E"])) == [[["ab"], ["cd", "e"]]]


def test_known_words_only() -> None:
    corpus = TextReader().read(TEXTS, words=["sun", "it", "snow"])
    assert corpus.words == ("sun", "it", "snow")
    assert unpacked(corpus) == [[["it"], ["it"], []], [], [["sun"], [], ["sun"]]]
    assert corpus.sentence_text(2) == "We stay."


def test_documents_are_read_one_at_a_time() -> None:
    assert len(TextReader().read(text for text in TEXTS)) == 3
    empty = TextReader().read([])
    assert (len(empty), empty.n_sentences, empty.n_tokens, empty.words) == (0, 0, 0, ())


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("a text", "documents is a single string; give a list"),
        (["a", 3], "document 1 is a int; it should be a text, a list of sentences, or a list of lists"),
        ([b"a"], "document 0 is a bytes"),
        ([["a", ["b"]]], "document 0 has both strings and lists"),
        (["a", [["b"]]], "document 1 consists of tokens, but those before it of text"),
        ([[["b"]], "a"], "document 1 consists of text, but those before it of tokens"),
        ([[["b"], ["c", 3]]], "document 0, sentence 1 has a token that is not a string"),
        ([["a"], [3]], "document 1 consists of tokens"),
        ([[3]], "document 0, sentence 0 has a token that is not a string"),
    ],
)
def test_wrong_documents(documents: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        TextReader().read(documents)


@pytest.mark.parametrize("spans", [[(2, 1)], [(0, 2), (1, 3)], [(0, 9)], [(-1, 2)]])
def test_wrong_offsets(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ParsimonError, match=r"document 0 was split into sentences such as .* 4 characters"):
        TextReader(sentences=lambda text: spans).read(["abcd"])


def test_words_are_given_once() -> None:
    with pytest.raises(ParsimonError, match="words has 'a' twice"):
        TextReader().read([], words=["a", "b", "a"])


@pytest.mark.parametrize("settings", [{"sentences": "punkt"}, {"tokens": "[a"}])
def test_a_reader_is_checked_when_it_is_made(settings: dict[str, str]) -> None:
    with pytest.raises(ParsimonError):
        TextReader(**settings)  # type: ignore[arg-type]


# ---- settings ------------------------------------------------------------------------------------------------


def test_settings_there_and_back() -> None:
    reader = TextReader("lines", r"\w+", False)
    assert TextReader.from_settings(reader.settings()) == reader


@pytest.mark.parametrize("name", ["sentences", "tokens"])
def test_functions_cannot_be_saved(name: str) -> None:
    reader = TextReader(**{name: lambda text: []})  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match=f"a reader that finds {name} with a function cannot be saved"):
        reader.settings()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lowercase": "yes"}, "'yes' for lowercase, which should be a bool"),
        ({"tokens": None}, "None for tokens, which should be a str"),
        ({"stems": True}, "have stems, which this version does not know"),
    ],
)
def test_wrong_settings(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        TextReader.from_settings({**TextReader().settings(), **change})


# ---- picking documents ---------------------------------------------------------------------------------------


DOCUMENTS = st.lists(
    st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=3), min_size=1, max_size=5
)


@given(DOCUMENTS, st.data())
def test_picking_is_like_reading_those_only(documents: list[list[list[str]]], data: st.DataObject) -> None:
    corpus = TextReader().read(documents)
    chosen = data.draw(st.lists(st.integers(0, len(documents) - 1)))
    picked = corpus[np.array(chosen, np.int64)]
    own = TextReader().read([documents[d] for d in chosen], words=corpus.words)
    for name in ("tokens", "sentences", "paragraphs", "documents"):
        assert np.array_equal(getattr(picked, name), getattr(own, name)), name
    assert picked.words == corpus.words


def test_ways_of_picking() -> None:
    corpus = TextReader().read(TEXTS)
    for which in (slice(1, 3), [1, 2], np.array([False, True, True]), np.array([-2, -1])):
        part = corpus[which]
        assert unpacked(part) == unpacked(corpus)[1:]
        assert part.sentence_text(1) == "and more"
        assert part.paragraphs.tolist() == [0, 1, 2, 3]
    assert unpacked(corpus[0]) == unpacked(corpus)[:1]
    assert corpus[0].paragraphs.tolist() == [0, 2, 3]


@pytest.mark.parametrize("which", [5, np.array([0, 3]), np.array([True])])
def test_wrong_picks(which: Any) -> None:
    with pytest.raises(ParsimonError, match="there are 3 documents, which cannot be indexed with"):
        TextReader().read(TEXTS)[which]


def test_wrong_sentence_and_wrong_bounds() -> None:
    corpus = TextReader().read(TEXTS)
    with pytest.raises(ParsimonError, match="no sentence 6; sentences are numbered from 0 to 5"):
        corpus.sentence_text(6)
    with pytest.raises(
        ParsimonError, match="bounds of paragraphs must begin with 0, never decrease, and end with 6"
    ):
        Corpus(corpus.words, corpus.tokens, corpus.sentences, np.array([0, 5]), corpus.documents)


# ---- real data -----------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "published"), [("science", 19075), ("sports", 18861), ("religion", 22297), ("computer", 13969)]
)
def test_about_as_many_sentences_as_published(
    task: Any, published: int, require_data: Callable[[str], None]
) -> None:
    """Yogatama & Smith (2014, table 1) used MxTerminator, which does not know that lines of headers are sentences."""
    require_data("news20")
    messages, _ = load_news20(task)
    corpus = TextReader().read(messages)
    headers = sum(len(re.findall(r"(?m)^\S+:", text.partition("\n\n")[0])) for text in messages)
    assert 0.8 * published < corpus.n_sentences - headers < published < corpus.n_sentences < 1.3 * published


@pytest.mark.data
def test_sentences_of_films_are_those_given(require_data: Callable[[str], None]) -> None:
    require_data("movie_reviews")
    corpus = TextReader(tokens="whitespace").read(load_movie_reviews()[0])
    assert (len(corpus), corpus.n_sentences) == (2000, 64720)
    assert corpus.sentence_text(0).startswith("plot : two teen couples go to a church party")


@pytest.mark.data
def test_titles_are_paragraphs(require_data: Callable[[str], None]) -> None:
    require_data("amazon")
    corpus = TextReader().read(load_amazon("books", "test")[0])
    assert len(corpus) == 200
    assert len(corpus.paragraphs) - 1 >= 2 * len(corpus)
