"""Explained documents as a page for a browser, all in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from parsimon.report.explanation import LEAST, heavy_contribution, largest_log_odds
from parsimon.report.page import rendered, signed

if TYPE_CHECKING:
    from parsimon.tasks.documents.explain import ExplainedDocument, ExplainedSentence, ExplainedToken

FAINTEST, STRONGEST = 0.07, 0.5  # opacities of shades: the text on them must stay easy to read
MOST_LABELS = 6  # bars of a document
FAINT = (
    0.2  # of what makes a word heavy: below it, a word is not marked, or a dense model would mark them all
)


def explanation_page(
    documents: Sequence[ExplainedDocument],
    *,
    title: str = "Which sentences matter",
    names: Sequence[str] | None = None,
    gold: Sequence[str] | None = None,
) -> str:
    """An HTML page of explained documents that needs nothing from anywhere else.

    `names` are the documents' names, and `gold` their right labels, if these are known.

    >>> from parsimon.tasks.documents.model import DocumentModel
    >>> from parsimon.tasks.documents.explain import explain
    >>> model = DocumentModel(("bad", "good"), ("fine", "dull"), [[2.0], [-1.0]], [0.0])
    >>> page = explanation_page(explain(model, ["A fine film. But dull in parts."]))
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    return rendered(
        "explanation.html",
        title=title,
        documents=[
            _document(document, names[d] if names else f"Document {d + 1}", gold[d] if gold else None)
            for d, document in enumerate(documents)
        ],
        training=any(s.copies is not None for document in documents for s in document.sentences),
        least=f"{LEAST:g}",
        shades=[_opacity(step / 3) for step in (1, 2, 3)],
    )


def _document(document: ExplainedDocument, name: str, gold: str | None) -> dict[str, Any]:
    """What the template says of a document."""
    ranked = sorted(document.probabilities.items(), key=lambda item: -item[1])
    shown = [item for place, item in enumerate(ranked) if place < MOST_LABELS or item[0] == document.label]
    largest, heavy = largest_log_odds(document), heavy_contribution(document)
    return {
        "name": name,
        "label": document.label,
        "predicted": document.predicted,
        "gold": gold,
        "hidden": len(ranked) - len(shown),
        "bars": [
            {"label": label, "percent": f"{100 * p:.1f}", "explained": label == document.label}
            for label, p in shown
        ],
        "sentences": [_sentence(s, document.label, largest, heavy) for s in document.sentences],
        "relevant": sum(s.relevant is True for s in document.sentences),
        "training": any(s.copies is not None for s in document.sentences),
    }


def _sentence(sentence: ExplainedSentence, label: str, largest: float, heavy: float) -> dict[str, Any]:
    """A sentence: its shade, a bar that is as long as its log-odds are large, and its words."""
    told = abs(sentence.log_odds) >= LEAST
    share = abs(sentence.log_odds) / largest
    about = f"log-odds {signed(sentence.log_odds, 4)}, norm of the weights {sentence.norm:.3g}"
    if sentence.copies is not None:
        about += f", norm of the copies {sentence.copies:.3g}"
    return {
        "side": ("towards" if sentence.log_odds > 0 else "against") if told else "",
        "opacity": _opacity(share),
        "bar": f"{50 * share:.1f}" if told else "0",
        "odds": signed(sentence.log_odds, 3) if told else "",
        "about": about,
        "irrelevant": sentence.relevant is False,
        "paragraph": sentence.starts_paragraph,
        "pieces": list(_pieces(sentence, label, heavy)),
    }


def _pieces(sentence: ExplainedSentence, label: str, heavy: float) -> Iterator[dict[str, Any]]:
    """The text, cut where there is a word with a weight."""
    plain = ""
    for text, token in sentence.pieces():
        if token is None or not token.weight:
            plain += text
            continue
        if plain:
            yield {"text": plain, "side": ""}
        plain = ""
        added = abs(token.contribution)
        yield {
            "text": text,
            "side": "towards" if token.weight > 0 else "against",
            "size": "heavy" if added >= heavy else "faint" if added < FAINT * heavy else "",
            "tip": _tip(token, label),
        }
    if plain:
        yield {"text": plain, "side": ""}


def _tip(token: ExplainedToken, label: str) -> str:
    times = f", {token.count} times here" if token.count > 1 else ""
    return f"{token.word}: weight {signed(token.weight, 3)} for {label}{times}; adds {signed(token.contribution, 3)}"


def _opacity(share: float) -> str:
    return f"{FAINTEST + (STRONGEST - FAINTEST) * share:.3f}"
