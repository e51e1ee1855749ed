"""Explanations as a page: whole, escaped, and in need of nothing else."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from pages import Page
from parsimon.errors import ParsimonError
from parsimon.report.explanation_page import explanation_page
from parsimon.tasks.documents.explain import explain
from parsimon.tasks.documents.model import DocumentModel

MODEL = DocumentModel(
    ("<bad>", "good & fair"), ("fine", "dull", "film"), np.array([[2.0], [-1.0], [0.01]]), np.array([0.3])
)
TEXT = 'A fine <script>alert("film")</script>. It is dull & dull.\n\nThe end.'


def test_what_is_on_the_page() -> None:
    (document,) = explained = explain(MODEL, [TEXT], copies=np.array([0.7, 0.2, 0.0]))
    page = Page(explanation_page(explained, title="Why <this>?", names=["a.txt"], gold=["<bad>"]))
    assert [text for tag, _, text in page.found if tag in ("h1", "h2")] == ["Why <this>?", "a.txt"]
    shown = [text for attributes, text in page.of("shade")]
    assert shown == [s.text for s in document.sentences]
    assert [("towards" in a["class"], "against" in a["class"]) for a, _ in page.of("shade")] == [  # type: ignore[operator]
        (True, False),
        (False, True),
        (False, False),
    ]
    assert [text for _, text in page.of("odds")] == [
        f"{s.log_odds:+.3f}".replace("-", "−") if s.log_odds else "" for s in document.sentences
    ]
    assert [text for _, text in page.of("irrelevant")] == [
        "sentence",
        "The end.",
    ]  # the legend, and one sentence
    percent = 100 * document.probabilities["good & fair"]
    assert [text for _, text in page.of("percent")] == [f"{percent:.1f}%", f"{100 - percent:.1f}%"]
    assert "2 found relevant" in page.of("facts")[0][1]


def test_word_weights_are_there_on_hover() -> None:
    page = Page(explanation_page(explain(MODEL, [TEXT])))
    tips = {text: attributes.get("title") for attributes, text in page.of("word") if "title" in attributes}
    assert tips == {
        "fine": "fine: weight +2.000 for good & fair; adds +2.000",
        "film": "film: weight +0.010 for good & fair; adds +0.010",
        "dull": "dull: weight −1.000 for good & fair, 2 times here; adds −2.000",
    }
    heavy = {text for attributes, text in page.of("heavy") if "title" in attributes}
    assert heavy == {"fine", "dull"}
    assert [text for _, text in page.of("faint")] == ["film"]


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = explanation_page(explain(MODEL, [TEXT]), names=['"><img alt=x>'])
    assert "<script" not in text.lower()
    assert "<img" not in text
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", text)
    assert "prefers-color-scheme: dark" in text


def test_shades_grow_with_the_log_odds() -> None:
    model = DocumentModel(("a", "b"), ("x", "y"), np.array([[1.0], [0.2]]), np.zeros(1))
    page = Page(explanation_page(explain(model, ["X here. Y here. Nothing here."], "b")))
    strong, weak, none = (float(str(a["style"]).split(":")[1]) for a, _ in page.of("shade"))
    assert 1 > strong > weak > none > 0


def test_no_sentences_and_no_documents() -> None:
    assert "The document has no sentences." in explanation_page(explain(MODEL, [""]))
    assert "There are no documents." in explanation_page([])


def test_many_labels() -> None:
    labels = tuple(f"label{i}" for i in range(20))
    model = DocumentModel(labels, ("x",), np.arange(20.0)[None], np.zeros(20))
    page = Page(explanation_page(explain(model, ["x"], "label0")))
    names = [text for tag, attributes, text in page.found if tag == "th"]
    assert names == ["label19", "label18", "label17", "label16", "label15", "label14", "label0"]
    assert "and 13 less probable labels" in explanation_page(explain(model, ["x"], "label0"))


def test_without_jinja2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ParsimonError, match="needs jinja2"):
        explanation_page([])
