"""From texts to a classifier, and strengths chosen on a development set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import GroupLasso, SentenceLasso
from parsimon.tasks.documents.features import ByUnit
from parsimon.tasks.documents.options import STRENGTHS
from parsimon.tasks.documents.training import DocumentTraining

GOOD = ["fine", "great", "lovely", "superb"]


BAD = ["dull", "awful", "boring", "poor"]


REST = ["film", "story", "actor", "music", "scene", "plot", "light", "sound", "end", "start"]


def made_up(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Reviews of a few sentences, of which one or two say something."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        label = rng.choice(["bad", "good"])
        sentences = []
        for _ in range(rng.integers(3, 7)):
            words = list(rng.choice(REST, rng.integers(3, 7)))
            if rng.random() < 0.35:
                words.insert(1, str(rng.choice(GOOD if label == "good" else BAD)))
            sentences.append(" ".join(words).capitalize() + ".")
        texts.append(" ".join(sentences))
        labels.append(str(label))
    return texts, labels


@pytest.mark.parametrize(
    "settings",
    [
        {"penalty": "ridge"},
        {"penalty": "lasso"},
        {"penalty": "elastic-net"},
        {"penalty": "sentence"},
        {"penalty": "sentence", "stopping": "paper", "rho": 1.0, "max_iter": 10},
        {"penalty": "sentence", "groups": "document", "group_weight": "sqrt"},
        {"penalty": "sentence", "groups": "window", "window": 6},
        {"penalty": SentenceLasso(0.05, ByUnit("paragraph"), l1=0.1)},
        {"penalty": "sentence", "loss": "hinge", "tol": 0.05, "sentence": 0.1},
        {"penalty": "lasso", "values": "tf-idf", "l1": 0.1},
    ],
    ids=str,
)
def test_it_learns(settings: dict[str, Any]) -> None:
    model = DocumentTraining(**settings).fit(*made_up(150, 0))
    texts, labels = made_up(100, 1)
    predicted = model.predict(model.read(texts))
    assert np.mean(np.array(predicted) == np.array(labels)) > 0.8
    assert model.info["candidate_words"] == len({*GOOD, *BAD, *REST})


def test_irrelevant_sentences_are_told_apart() -> None:
    training = DocumentTraining(sentence=0.1, l1=1.0)
    texts, labels = made_up(150, 0)
    task = training.prepare(texts, labels)
    result = training.solve(task)
    assert result.relevance is not None
    says = [
        any(word in (*GOOD, *BAD) for word in task.corpus.sentence_text(s).lower().strip(".").split())
        for s in range(task.corpus.n_sentences)
    ]
    assert not np.any(result.relevance[~np.array(says)] > 1e-6)
    assert np.mean(result.relevance[says] > 0) > 0.6


def test_a_development_set_keeps_the_best_iterate() -> None:
    training = DocumentTraining(stopping="paper", rho=0.5, sentence=0.01, l1=0.01)
    train, dev = made_up(60, 2), made_up(60, 3)
    seen: list[Any] = []
    model = replace(training, callback=seen.append).fit(*train, dev=dev)
    predicted = np.array(model.predict(model.read(dev[0])))
    assert np.mean(predicted == np.array(dev[1])) == pytest.approx(max(event.dev for event in seen))


def test_more_than_two_labels() -> None:
    texts, labels = made_up(150, 4)
    labels = ["long" if len(text.split()) > 25 else label for text, label in zip(texts, labels, strict=True)]
    model = DocumentTraining(sentence=0.02, l1=0.05).fit(texts, labels)
    assert model.labels == ("bad", "good", "long")
    assert model.weights.shape[1] == 3
    assert np.mean(np.array(model.predict(model.read(texts))) == np.array(labels)) > 0.8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": "bridge"}, f"penalty must be one of {', '.join(('auto', *STRENGTHS))}, not 'bridge'"),
        ({"penalty": "lasso", "stopping": "paper"}, "the paper's stopping is ADMM's"),
        ({"stopping": "paper", "solver": "fista"}, "the paper's stopping is ADMM's"),
        ({"stopping": "paper", "loss": "hinge"}, "is for the log loss"),
        ({"stopping": "never"}, "stopping must be one of certified, paper, not 'never'"),
        ({"groups": "chapter"}, "groups must be one of sentence, paragraph, document, window"),
        ({"values": "many"}, "values must be one of auto, counts, binary, tf-idf"),
        ({"l1": -1.0}, "l1 must be a number, zero or more, not -1.0"),
        ({"rho": 0}, "rho must be a number above zero, not 0"),
        ({"max_documents": 1.5}, "max_documents must be a number above zero and up to 1, not 1.5"),
        ({"min_count": 0.5}, "min_count must be a whole number, 1 or more"),
        ({"window": 1}, "window must be a whole number, 2 or more"),
        ({"n_jobs": 0}, "n_jobs must be a whole number and not 0"),
        ({"resume": True}, "there is no checkpoint to resume from"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParsimonError, match=message) as caught:
        DocumentTraining(**settings).fit(["a", "b"], ["x", "y"])
    assert ". " not in str(caught.value)


def test_bad_labels_are_refused() -> None:
    with pytest.raises(ParsimonError, match="2 documents and 1 labels"):
        DocumentTraining().fit(["a", "b"], ["x"])
    with pytest.raises(ParsimonError, match="all documents have the label 'x'"):
        DocumentTraining().fit(["a", "b"], ["x", "x"])
    with pytest.raises(ParsimonError, match="there are no documents"):
        DocumentTraining().fit([], [])
    with pytest.raises(ParsimonError, match="development documents need a label each"):
        DocumentTraining().fit(["a", "b"], ["x", "y"], dev=(["a"], None))
    with pytest.raises(ParsimonError, match="groups by sentence need documents"):
        ByUnit().groups("something else")


def test_group_lasso_over_documents_words() -> None:
    """Any group penalty of the library works on documents, if its groups fit."""
    with pytest.raises(ParsimonError, match="have features in common"):
        DocumentTraining(penalty=GroupLasso(0.1, ByUnit("document"))).fit(*made_up(20, 0))
