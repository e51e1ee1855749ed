"""Explanations: the log-odds of a sentence are what a model says with and without it, one document at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords
from parsimon.tasks.documents.explain import contrasts, explain
from parsimon.tasks.documents.model import DocumentModel

VALUES = ["counts", "binary", "tf-idf"]
WORDS = [f"w{i}" for i in range(6)]

# Documents as lists of sentences of tokens; w5 never has a weight, and u is in no model.
DOCUMENTS = st.lists(
    st.lists(st.lists(st.sampled_from([*WORDS, "u"]), max_size=4), max_size=4), min_size=1, max_size=4
)


def model_of(values: str, n_labels: int, seed: int) -> DocumentModel:
    rng = np.random.default_rng(seed)
    bag = BagOfWords(values).fit(TextReader().read([[WORDS], [WORDS[:2]], [WORDS[1:4]]]))  # type: ignore[arg-type]
    width = 1 if n_labels == 2 else n_labels
    weights = rng.normal(size=(len(WORDS), width)) * 2
    weights[-1] = 0
    labels = tuple("abcd"[:n_labels])
    return DocumentModel.from_weights(labels, bag, weights, rng.normal(size=width), TextReader())


def log_probability(model: DocumentModel, document: Any, label: str) -> float:
    row = model.probabilities(model.reader.read([document]))[0]
    return math.log(row[model.labels.index(label)])


@pytest.mark.parametrize("n_labels", [2, 3, 4])
@pytest.mark.parametrize("values", VALUES)
@settings(deadline=None, max_examples=60)
@given(documents=DOCUMENTS, seed=st.integers(0, 5), data=st.data())
def test_log_odds_are_those_of_leaving_out(
    values: str, n_labels: int, documents: Any, seed: int, data: Any
) -> None:
    model = model_of(values, n_labels, seed)
    label = data.draw(st.sampled_from([None, *model.labels]))
    explained = explain(model, documents, label)
    assert len(explained) == len(documents)
    for document, answer in zip(documents, explained, strict=True):
        assert answer.predicted == max(answer.probabilities, key=answer.probabilities.__getitem__)
        assert answer.label == (answer.predicted if label is None else label)
        assert math.log(answer.probabilities[answer.label]) == pytest.approx(
            log_probability(model, document, answer.label)
        )
        whole = log_probability(model, document, answer.label)
        for s, sentence in enumerate(answer.sentences):
            rest = [*document[:s], *document[s + 1 :]]
            assert sentence.log_odds == pytest.approx(
                whole - log_probability(model, rest, answer.label), abs=1e-9
            )


@pytest.mark.parametrize("values", VALUES)
def test_contributions_make_the_score(values: str) -> None:
    """Where no word is in two sentences, what the words add, each once a sentence, is the score without the bias."""
    model = model_of(values, 2, 1)
    document = [["w0", "w0", "w1", "u"], ["w2", "w5", "w3", "w3"], []]
    (answer,) = explain(model, [document], "b")
    added = {(s, t.word): t.contribution for s, x in enumerate(answer.sentences) for t in x.tokens}
    score = model.scores(model.reader.read([document]))[0, 1] - model.bias[0]
    assert sum(added.values()) == pytest.approx(score)
    tokens = answer.sentences[0].tokens
    assert [(t.word, t.count) for t in tokens] == [("w0", 2), ("w0", 2), ("w1", 1), ("u", 1)]
    assert tokens[0].weight == model.weights[model.words.index("w0"), 0]
    assert (tokens[3].weight, tokens[3].contribution) == (0.0, 0.0)
    (other,) = explain(model, [document], "a")
    assert [t.weight for t in other.sentences[0].tokens] == [-t.weight for t in tokens]


def test_the_norm_counts_tokens() -> None:
    model = DocumentModel(("a", "b"), ("x", "y"), np.array([[3.0], [4.0]]), np.zeros(1))
    (answer,) = explain(model, [[["x", "y"], ["x", "x"], ["z"], []]])
    assert [s.norm for s in answer.sentences] == pytest.approx([5.0, 18**0.5, 0.0, 0.0])


def test_weights_towards_a_label_do_not_change_when_all_labels_get_the_same() -> None:
    model = model_of("counts", 3, 2)
    shifted = DocumentModel(model.labels, model.words, model.weights + 7.0, model.bias, model.reader)
    np.testing.assert_allclose(contrasts(shifted), contrasts(model), atol=1e-12)
    np.testing.assert_allclose(contrasts(model).sum(axis=1), 0, atol=1e-12)


def test_a_sentence_that_is_all_of_a_document() -> None:
    """Without it only the bias is left, exactly: no rounding is blown up by dividing by a tiny length."""
    for values in VALUES:
        model = model_of(values, 2, 3)
        (answer,) = explain(model, [[["w1", "w2", "w2"], ["u"]]], "b")
        bias = model.bias[0]
        score = model.scores(model.reader.read([[["w1", "w2", "w2"]]]))[0, 1]
        expected = math.log1p(math.exp(-bias)) - math.log1p(math.exp(-score))
        assert answer.sentences[0].log_odds == pytest.approx(expected, abs=1e-12)
        assert answer.sentences[1].log_odds == 0.0


def test_copies_say_which_sentences_training_found_relevant() -> None:
    model = model_of("counts", 2, 0)
    texts = ["W0 came. W1 went.", "W2!"]
    assert all(s.relevant is None for d in explain(model, texts) for s in d.sentences)
    one, two = explain(model, texts, copies=np.array([0.0, 0.5, 1.5]))
    assert [s.relevant for s in (*one.sentences, *two.sentences)] == [False, True, True]
    assert two.sentences[0].copies == 1.5
    with pytest.raises(ParsimonError, match="each of the 3 sentences"):
        explain(model, texts, copies=np.zeros(2))


def test_labels_one_for_all_or_one_for_each() -> None:
    model = model_of("counts", 3, 0)
    texts = ["W0 came.", "W2!"]
    assert [d.label for d in explain(model, texts, "c")] == ["c", "c"]
    assert [d.label for d in explain(model, texts, ["c", "a"])] == ["c", "a"]
    with pytest.raises(ParsimonError, match="no label 'z'; its labels are a, b, c"):
        explain(model, texts, "z")
    with pytest.raises(ParsimonError, match="2 documents but 1 labels"):
        explain(model, texts, ["a"])


def test_a_corpus_will_do_and_so_will_nothing() -> None:
    model = model_of("tf-idf", 2, 0)
    texts = ["W0 came. W1 went.\n\nW2!", ""]
    corpus = model.reader.read(texts)
    assert [d.to_dict() for d in explain(model, corpus)] == [d.to_dict() for d in explain(model, texts)]
    one, two = explain(model, corpus)
    assert [s.starts_paragraph for s in one.sentences] == [True, False, True]
    assert [s.text for s in one.sentences] == ["W0 came.", "W1 went.", "W2!"]
    assert two.sentences == ()
    assert explain(model, []) == []


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("The  Cat's out!", ["the", "cat's", "out"], ["The", "  ", "Cat's", " ", "out", "!"]),
        ("cat concat cat", ["cat", "concat", "cat"], ["cat", " ", "concat", " ", "cat"]),
        ("Mark_T (Mark)", ["mark", "t", "mark"], ["Mark", "_", "T", " (", "Mark", ")"]),
        ("no such thing", ["no", "thyng"], ["no", " such thing"]),
        ("(a) [b]*", ["(a)", "[b]*"], ["(a)", " ", "[b]*"]),
        ("", [], []),
    ],
)
def test_pieces_are_the_text_again(text: str, tokens: list[str], expected: list[str]) -> None:
    from parsimon.tasks.documents.explain import ExplainedSentence, ExplainedToken

    explained = tuple(ExplainedToken(word, 1, 1.0, 1.0) for word in tokens)
    pieces = list(ExplainedSentence(text, explained, 0.0, 0.0).pieces())
    assert [piece for piece, _ in pieces] == expected
    for piece, token in pieces:
        assert token is None or piece.lower() == token.word
