"""Explanations in a terminal: shades, bold words, and neither where they are not wanted."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from parsimon.report.explanation import AGAINST, TOWARDS, explanation_text, print_explanations, shade
from parsimon.tasks.documents.explain import ExplainedDocument, explain
from parsimon.tasks.documents.model import DocumentModel

MODEL = DocumentModel(
    ("bad", "good"), ("fine", "dull", "film"), np.array([[2.0], [-1.0], [0.01]]), np.array([0.3])
)
TEXT = "A fine film [bold] indeed. It is dull\nin parts. The end."


def explained(copies: list[float] | None = None) -> list[ExplainedDocument]:
    return explain(MODEL, [TEXT], copies=None if copies is None else np.array(copies))


def printed(documents: list[ExplainedDocument], **options: object) -> str:
    stream = io.StringIO()
    settings: dict[str, object] = {
        "force_terminal": True,
        "color_system": "truecolor",
        "width": 80,
        **options,
    }
    print_explanations(documents, Console(file=stream, **settings))  # type: ignore[arg-type]
    return stream.getvalue()


def background(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"48;2;{red};{green};{blue}"


def test_plain_text_where_there_is_no_terminal() -> None:
    (document,) = explained()
    odds = [f"{s.log_odds:+.3f}" for s in document.sentences[:2]]
    percent = 100 * document.probabilities["good"]
    assert explanation_text([document]) == (
        f"document 1: good {percent:.1f}%, bad {100 - percent:.1f}%\n"
        f"1 {odds[0]} A fine film [bold] indeed.\n"
        f"2 {odds[1]} It is dull in parts.\n"
        "3      · The end.\n"
        "\n"
    )


def test_green_for_sentences_for_the_label_and_red_for_those_against_it() -> None:
    lines = printed(explained()).splitlines()
    assert background(TOWARDS[-1]) in lines[1]
    assert any(background(colour) in lines[2] for colour in AGAINST)
    assert "48;2" not in lines[3]
    against = printed(explain(MODEL, [TEXT], "bad")).splitlines()
    assert "about bad" in against[0]
    assert background(AGAINST[-1]) in against[1]


def test_heavy_words_are_bold() -> None:
    line = printed(explained()).splitlines()[1]
    before, after = line.split("fine")
    assert before.endswith("m")
    assert "1;" in before.rsplit("\x1b[", 1)[1]
    assert "film" in after
    assert "1;" not in after.split("film")[0].rsplit("\x1b[", 1)[1]


def test_irrelevant_sentences_are_struck_through() -> None:
    lines = printed(explained([0.5, 0.0, 0.0])).splitlines()
    struck = [
        any("9" in part.split("m")[0].split(";") for part in line.split("\x1b[")) for line in lines[1:4]
    ]
    assert struck == [False, True, True]


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(explained())
    assert "48;2" not in text
    assert "fine" in text


def test_long_sentences_are_wrapped_under_their_beginning() -> None:
    text = printed(explain(MODEL, ["very " * 40 + "fine."]), color_system=None, width=60)
    lines = text.splitlines()[1:]
    assert len(lines) > 3
    assert all(len(line) <= 60 for line in lines)
    assert all(line.startswith(" " * 9) for line in lines[1:] if line.strip())


@pytest.mark.parametrize(
    ("log_odds", "colour"),
    [(1.0, TOWARDS[3]), (0.6, TOWARDS[2]), (0.01, TOWARDS[0]), (-1.0, AGAINST[3]), (-0.3, AGAINST[1])],
)
def test_shades_grow(log_odds: float, colour: str) -> None:
    assert shade(log_odds, 1.0) == f"black on {colour}"
    assert shade(0.0, 1.0) == ""


def test_many_labels_are_not_all_listed() -> None:
    labels = tuple(f"label{i}" for i in range(9))
    model = DocumentModel(labels, ("x",), np.arange(9.0)[None], np.zeros(9))
    text = explanation_text(explain(model, ["x", ""]))
    assert "label8" in text.splitlines()[0]
    assert "and 5 more" in text.splitlines()[0]
    assert "document 2: " in text


def test_texts_and_labels_do_not_steer_the_terminal() -> None:
    model = DocumentModel(("bad\x1b[2J", "good\n"), ("fine",), np.array([[2.0]]), np.array([0.3]))
    text = printed(explain(model, ["A fine\x9b film\u202e.\n\nNo \x1b]0;x\x07 end."]), color_system=None)
    assert r"fine\x9b film\u202e." in text
    assert r"\x1b]0;x\x07" in text
    assert r"bad\x1b[2J" in text
    assert r"good\n" in text
    assert not set(text) & set("\x9b\u202e\x07")
