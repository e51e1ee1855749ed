"""Document models: scores are those of training's matrix, and files keep everything."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords, FittedBag
from parsimon.tasks.documents.model import DocumentModel

TEXTS = [
    "The launch was late. The rocket flew, and flew well! Élan.",
    "A doctor came.\n\nShe said: rest, rest and rest.",
    "The doctor flew to the launch of a rocket.",
    "",
    "Nothing known here?",
]


VALUES = ["counts", "binary", "tf-idf"]


LABELS = {1: ("med",), 2: ("med", "space"), 3: ("med", "space", "é")}


@cache
def model_of(values: str, n_labels: int = 2) -> DocumentModel:
    """A model of the first three texts in which about a third of the words have no weight."""
    reader = TextReader()
    bag = BagOfWords(values).fit(reader.read(TEXTS[:3]))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    width = 1 if n_labels == 2 else n_labels
    weights = rng.normal(size=(len(bag.words), width)) * (rng.random((len(bag.words), 1)) < 0.67)
    bias = rng.normal(size=width)
    return DocumentModel.from_weights(LABELS[n_labels], bag, weights, bias, reader, {"loss": "log", "n": [1]})


def expected_scores(model: DocumentModel) -> Any:
    """By the matrix that training would see."""
    bag = FittedBag(model.known, model.values, model.all_idf)  # type: ignore[arg-type]
    scores = bag.matrix(model.reader.read(TEXTS)) @ model.weights_of_known + model.bias
    return np.hstack([np.zeros_like(scores), scores]) if model.n_labels == 2 else scores


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("values", VALUES)
def test_scores_are_those_of_the_matrix(values: str, n_labels: int) -> None:
    model = model_of(values, n_labels)
    expected = expected_scores(model)
    for corpus in (model.read(TEXTS), model.reader.read(TEXTS)):  # only the words it knows, or all of them
        np.testing.assert_allclose(model.scores(corpus), expected, atol=1e-14)
    probabilities = model.probabilities(model.read(TEXTS))
    np.testing.assert_allclose(
        probabilities, np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True), atol=1e-14
    )
    assert model.predict(model.read(TEXTS)) == [model.labels[y] for y in expected.argmax(axis=1)]


@pytest.mark.parametrize("values", VALUES)
def test_only_words_with_a_weight_are_kept(values: str) -> None:
    model = model_of(values)
    assert 0 < len(model.words) < len(TextReader().read(TEXTS[:3]).words)
    assert model.weights.all()
    assert (len(model.all_words) > len(model.words)) == (values == "tf-idf")


def test_scores_of_any_size_are_probabilities() -> None:
    model = DocumentModel(("a", "b", "c"), ("x",), [[1e4, -1e4, 0]], [0.0, 0.0, 0.0])  # type: ignore[arg-type]
    assert model.probabilities(model.read(["x x x"])).tolist() == [[1.0, 0.0, 0.0]]


def test_no_documents_and_no_words() -> None:
    model = DocumentModel(("a", "b"), (), np.zeros((0, 1)), np.array([0.5]))
    assert model.scores(model.read([])).shape == (0, 2)
    assert model.scores(model.read(["Some words.", ""])).tolist() == [[0.0, 0.5]] * 2
    assert model.scores_without(model.read(["One. Two."])).tolist() == [[0.0, 0.5]] * 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"weights": np.zeros((2, 2))}, "2 × 1 weights"),
        ({"bias": np.zeros(2)}, "1 biases"),
        ({"labels": ("a", "a")}, "differ"),
        ({"labels": ()}, "must be there"),
        ({"values": "tfidf"}, "counts, binary, tf-idf"),
        ({"values": "tf-idf"}, "needs all_words and all_idf"),
        ({"values": "tf-idf", "all_words": ("x",), "all_idf": np.ones(1)}, "model's words among them"),
        ({"values": "tf-idf", "all_words": ("x", "y"), "all_idf": np.ones(1)}, "a number for each"),
    ],
)
def test_parts_that_do_not_fit_together(wrong: dict[str, Any], said: str) -> None:
    right: dict[str, Any] = {
        "labels": ("a", "b"),
        "words": ("x", "y"),
        "weights": np.ones((2, 1)),
        "bias": np.zeros(1),
    }
    DocumentModel(**right)
    with pytest.raises(ParsimonError, match=said):
        DocumentModel(**{**right, **wrong})
