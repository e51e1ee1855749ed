"""Explained documents as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from parsimon.report.explanation import MIN_LOG_ODDS, heavy_contribution, largest_log_odds
from parsimon.report.page import rendered, signed

if TYPE_CHECKING:
    from parsimon.tasks.documents.explain import ExplainedDocument, ExplainedSentence, ExplainedToken

MIN_OPACITY, MAX_OPACITY = 0.07, 0.5  # of shades; the text on top of them must stay readable
MAX_LABELS = 6  # with a bar, per document
# Words below this share of a heavy contribution are not marked, because a dense model would mark every word.
FAINT = 0.2


def explanation_page(
    documents: Sequence[ExplainedDocument],
    *,
    title: str = "Which sentences matter",
    names: Sequence[str] | None = None,
    gold: Sequence[str] | None = None,
) -> str:
    """A self-contained HTML page of explained documents.

    `names` are the names of the documents, and `gold` their correct labels, if known.

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
        least=f"{MIN_LOG_ODDS:g}",
        shades=[_opacity(step / 3) for step in (1, 2, 3)],
    )


def _document(document: ExplainedDocument, name: str, gold: str | None) -> dict[str, Any]:
    """The values of a document for the template."""
    ranked = sorted(document.probabilities.items(), key=lambda item: -item[1])
    shown = [item for rank, item in enumerate(ranked) if rank < MAX_LABELS or item[0] == document.label]
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
    """The values of a sentence for the template: its shade, a bar with the length of its log-odds, and its words."""
    shown = abs(sentence.log_odds) >= MIN_LOG_ODDS
    share = abs(sentence.log_odds) / largest
    about = f"log-odds {signed(sentence.log_odds, 4)}, norm of the weights {sentence.norm:.3g}"
    if sentence.copies is not None:
        about += f", norm of the copies {sentence.copies:.3g}"
    return {
        "side": ("towards" if sentence.log_odds > 0 else "against") if shown else "",
        "opacity": _opacity(share),
        "bar": f"{50 * share:.1f}" if shown else "0",
        "odds": signed(sentence.log_odds, 3) if shown else "",
        "about": about,
        "irrelevant": sentence.relevant is False,
        "paragraph": sentence.starts_paragraph,
        "pieces": list(_pieces(sentence, label, heavy)),
    }


def _pieces(sentence: ExplainedSentence, label: str, heavy: float) -> Iterator[dict[str, Any]]:
    """The text of a sentence, split around words with a weight."""
    plain = ""
    for text, token in sentence.pieces():
        if token is None or not token.weight:
            plain += text
            continue
        if plain:
            yield {"text": plain, "side": ""}
        plain = ""
        contribution = abs(token.contribution)
        yield {
            "text": text,
            "side": "towards" if token.weight > 0 else "against",
            "size": "heavy" if contribution >= heavy else "faint" if contribution < FAINT * heavy else "",
            "tip": _tooltip(token, label),
        }
    if plain:
        yield {"text": plain, "side": ""}


def _tooltip(token: ExplainedToken, label: str) -> str:
    times = f", {token.count} times here" if token.count > 1 else ""
    return f"{token.word}: weight {signed(token.weight, 3)} for {label}{times}; adds {signed(token.contribution, 3)}"


def _opacity(share: float) -> str:
    return f"{MIN_OPACITY + (MAX_OPACITY - MIN_OPACITY) * share:.3f}"
