"""The scores of a parser as plain text tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from parsimon.report.tables import percent, table

if TYPE_CHECKING:
    from parsimon.tasks.parsing.metrics import ArcCounts, AttachmentScores, ParserScores


def parser_scores_text(scores: ParserScores, *, details: bool = True) -> str:
    """Attachment scores with and without punctuation; with `details`, also by arc length and by relation."""
    both = (scores.all_words, scores.without_punctuation)
    text = f"compared {both[0].words} words in {both[0].sentences} sentences\n\n"
    text += table(
        ("", "all words", "without punctuation"),
        [(name, *(percent(getattr(s, attribute)) for s in both)) for name, attribute in SCORES.items()],
        "<>>",
    )
    if details:
        text += "\n" + arcs_table("arc length", "heads of all words", both[0].by_length)
        text += "\n" + relations_table(both[0])
    return text


SCORES = {
    "UAS": "uas",
    "LAS": "las",
    "label accuracy": "label_accuracy",
    "complete match": "complete_match",
    "labelled complete match": "labelled_complete_match",
    "root accuracy": "root_accuracy",
}
"""The names of scores in tables, and in `AttachmentScores`."""


def relations_table(scores: AttachmentScores) -> str:
    """Precision and recall of each relation, including its head, the most frequent first."""
    ordered = sorted(scores.by_relation.items(), key=lambda item: -item[1].gold)
    return arcs_table("relation", "heads and relations of all words", dict(ordered))


def arcs_table(kind: str, what: str, arcs: Mapping[str, ArcCounts]) -> str:
    """Precision and recall of groups of arcs."""
    rows = [
        (name, percent(a.precision), percent(a.recall), percent(a.f1), f"{a.gold}", f"{a.predicted}")
        for name, a in arcs.items()
    ]
    return f"{what}\n" + table((kind, "precision", "recall", "F1", "gold", "predicted"), rows, "<>>>>>")
