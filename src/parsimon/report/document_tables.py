"""Document models and evaluations of document classifiers as plain text tables and as JSON records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from parsimon.report.tables import (
    MATRIX,
    confusion_matrix,
    ending_facts,
    facts,
    file_size,
    label_means,
    labels_table,
    of,
    percent,
    table,
)

if TYPE_CHECKING:
    from parsimon.tasks.documents.inspect import WordShare, WordWeight
    from parsimon.tasks.sequences.metrics import Evaluation


def evaluation_text(evaluation: Evaluation, rows: str = "documents") -> str:
    """Accuracy, one line per label, and the confusion matrix if it fits in a terminal.

    Every document is a sequence with one label.
    """
    head = (
        f"processed {evaluation.tokens} {rows}\n"
        f"accuracy: {percent(evaluation.accuracy)} ({evaluation.correct_tokens} of {evaluation.tokens})\n\n"
    )
    text = head + labels_table(evaluation, evaluation.per_label.items(), rows)
    return text + ("\n" + confusion_matrix(evaluation) if len(evaluation.labels) <= MATRIX else "")


def evaluation_record(evaluation: Evaluation, rows: str = "documents") -> dict[str, Any]:
    """The evaluation of documents, or other rows, as JSON; precision, recall and F1 are means over labels."""
    return {
        "scored": rows,
        rows: evaluation.tokens,
        "correct": evaluation.correct_tokens,
        "accuracy": evaluation.accuracy,
        **label_means(evaluation),
        "per_label": {name: asdict(score) for name, score in evaluation.per_label.items()},
        "labels": list(evaluation.labels),
        "confusion": evaluation.confusion.tolist(),
    }


def summary_text(name: str, size: int, summary: Mapping[str, Any]) -> str:
    """A summary of a model: how many words have a weight, and how it was trained."""
    training = summary["training"]
    pairs = [
        ("model", f"{name} ({file_size(size)})"),
        ("words", of(summary["words"], summary["candidate_words"])),
        ("labels", f"{len(summary['labels'])}"),
        ("values", summary["values"]),
    ]
    if training.get("documents"):
        counts = [
            f"{training[what]:,} {what}"
            for what in ("documents", "sentences", "tokens")
            if training.get(what)
        ]
        pairs.append(("trained on", ", ".join(counts)))
    if training.get("loss"):
        pairs.append(("by", settings_text(training)))
    if training.get("relevant_groups") is not None and training.get("groups"):
        relevant = of(training["relevant_groups"], training.get("groups_in_all"))
        pairs.append((f"{training['groups']}s", f"{relevant} found relevant"))
    return facts([*pairs, *ending_facts(training)])


def settings_text(training: Mapping[str, Any]) -> str:
    """For instance ``log loss, penalty sentence, l1 0.1, sentence 0.5``."""
    settings = [f"{training['loss']} loss"]
    if training.get("penalty"):
        settings.append(f"penalty {training['penalty']}")
    settings += [f"{k} {training[k]:g}" for k in ("l1", "l2", "sentence", "rho") if training.get(k)]
    if training.get("sentence") is not None:  # without groups of words these say nothing
        settings += [f"{k} {training[k]}" for k in ("groups", "group_weight", "stopping") if training.get(k)]
    return ", ".join(settings).replace("_", " ")


def shares_table(shares: Sequence[WordShare]) -> str:
    """The number of words for and against each label."""
    rows = [
        (s.label, f"{s.bias:+.4f}", f"{s.words_for:,}", f"{s.words_against:,}", f"{s.total:,.2f}")
        for s in shares
    ]
    return table(("label", "bias", "words for", "words against", "sum of |weight|"), rows, "<>>>>")


def words_table(heaviest: Mapping[str, Sequence[WordWeight]]) -> str:
    """The words with the largest weights for each label, side by side if there are at most four labels."""
    blocks = list(heaviest.items())
    at_once = 4 if len(blocks) <= 4 else 1
    parts = []
    for first in range(0, len(blocks), at_once):
        some = blocks[first : first + at_once]
        depth = max((len(words) for _, words in some), default=0)
        header = [cell for label, _ in some for cell in ("weight", label)]
        rows = [
            [
                cell
                for _, words in some
                for cell in ((f"{words[i].weight:+.4f}", words[i].word) if i < len(words) else ("", ""))
            ]
            for i in range(depth)
        ]
        parts.append(table(header, rows, "><" * len(some)))
    return "\n".join(parts)
