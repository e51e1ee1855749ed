"""Evaluations and models as plain text tables and as JSON records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parsimon.characters.printable import one_line

if TYPE_CHECKING:
    from parsimon.arrays import Array
    from parsimon.tasks.sequences.inspect import Feature, Share
    from parsimon.tasks.sequences.metrics import Evaluation, LabelScore

MATRIX = 12  # the largest number of labels for which a matrix fits in a terminal
LISTED = 20  # the number of entries that are listed instead of a larger matrix


def table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Rows under a header; `align` has one ``<`` or ``>`` per column.

    >>> print(table(("label", "tokens"), [("NN", "120"), ("VB", "7")], "<>"), end="")
    label  tokens
    NN        120
    VB          7
    """
    lines = [tuple(map(one_line, line)) for line in (header, *rows)]
    width = [max(map(len, column)) for column in zip(*lines, strict=True)]
    out = (
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(line, align, width, strict=True)) for line in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in out)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Pairs of a name and a value, one per line."""
    pairs = [(one_line(name), one_line(value)) for name, value in pairs]
    width = max(len(name) for name, _ in pairs)
    return "".join(f"{name:<{width}}  {value}\n" for name, value in pairs)


# --- Evaluation ---------------------------------------------------------------------------------------------


def evaluation_text(evaluation: Evaluation, *, raw: bool = False, outputs: str = "sequences") -> str:
    """conlleval's report if there are spans to score, otherwise a table with one line per label.

    `outputs` is the word for what the tokens make up.
    """
    from parsimon.tasks.sequences.metrics import has_spans

    if raw or has_spans(evaluation.labels):
        return evaluation.conlleval()
    head = (
        f"processed {evaluation.tokens} tokens in {evaluation.sequences} {outputs}\n"
        f"accuracy: {100 * evaluation.accuracy:6.2f}%; "
        f"{outputs} without an error: {100 * evaluation.sequence_accuracy:6.2f}%\n\n"
    )
    ordered = sorted(evaluation.per_label.items(), key=lambda item: -item[1].support)
    return head + labels_table(evaluation, ordered, "tokens")


def labels_table(evaluation: Evaluation, scores: Iterable[tuple[str, LabelScore]], what: str) -> str:
    """The scores of each label, and their means; `what` are the things that have labels."""
    rows = [(n, percent(s.precision), percent(s.recall), percent(s.f1), f"{s.support}") for n, s in scores]
    means = ("mean of labels", *map(percent, label_means(evaluation).values()), "")
    return table(("label", "precision", "recall", "F1", what), [*rows, means], "<>>>>")


def evaluation_record(evaluation: Evaluation, *, raw: bool = False) -> dict[str, Any]:
    """The evaluation as a JSON record. `scored` names the unit of precision, recall and F1.

    The unit is spans (pooled over types, as in conlleval) if labels mark spans. Otherwise it is labels, and the scores
    are unweighted means over labels.
    """
    from parsimon.tasks.sequences.metrics import has_spans

    record = evaluation.to_dict()
    if raw or has_spans(evaluation.labels):
        return {"scored": "spans", **record}
    del record["per_type"]
    return {"scored": "labels", **record, **label_means(evaluation)}


def label_means(evaluation: Evaluation) -> dict[str, float]:
    """Precision, recall and F1 averaged over the labels that occur in the gold standard or the predictions."""
    scores = list(evaluation.per_label.values())
    names = ("precision", "recall", "f1")
    return {name: sum(getattr(s, name) for s in scores) / max(len(scores), 1) for name in names}


def confusion_table(evaluation: Evaluation) -> str:
    """Confusions between labels: a matrix if it fits, and the most frequent confusions."""
    matrix = confusion_matrix(evaluation) + "\n" if len(evaluation.labels) <= MATRIX else ""
    return matrix + frequent_confusions(evaluation, "token")


def confusion_matrix(evaluation: Evaluation) -> str:
    """The number of tokens or documents for each pair of gold and predicted label."""
    labels = evaluation.labels
    rows = [(name, *map(str, row)) for name, row in zip(labels, evaluation.confusion.tolist(), strict=True)]
    return table(("gold \\ predicted", *labels), rows, "<" + ">" * len(labels))


def frequent_confusions(evaluation: Evaluation, what: str) -> str:
    """The most frequent errors; `what` is the labelled unit, token or document."""
    labels = evaluation.labels
    cells = [
        (int(count), labels[g], labels[p])
        for g, row in enumerate(evaluation.confusion)
        for p, count in enumerate(row)
        if g != p and count
    ]
    cells.sort(key=lambda cell: -cell[0])
    wrong = evaluation.tokens - evaluation.correct_tokens
    rows = [(f"{n}", percent(n / wrong), gold, predicted) for n, gold, predicted in cells[:LISTED]]
    if not rows:
        return f"no {what} has a wrong label\n"
    return table((f"{what}s", "of errors", "gold", "predicted"), rows, ">><<")


def percent(fraction: float) -> str:
    """For instance ``98.20%``."""
    return f"{100 * fraction:.2f}%"


# --- Models -------------------------------------------------------------------------------------------------


def summary_text(name: str, size: int, summary: dict[str, Any]) -> str:
    """A summary of a model: how many of the candidate features it has, and how it was trained."""
    return facts(summary_facts(name, size, summary))


def summary_facts(
    name: str, size: int, summary: dict[str, Any], *, scores: bool = True
) -> list[tuple[str, str]]:
    """The summary as pairs of a name and a value; `scores` includes the scores by which templates were ranked."""
    training = summary["training"]
    pairs = [
        ("model", f"{name} ({file_size(size)})"),
        *(
            (what, of(summary[what], summary.get(f"candidate_{what}")))
            for what in ("features", "attributes", "templates")
        ),
        ("labels", f"{len(summary['labels'])}"),
    ]
    if training.get("tokens") and training.get("sequences"):
        pairs.append(("trained on", f"{training['tokens']:,} tokens in {training['sequences']:,} sequences"))
    if training.get("loss"):
        strengths = ", ".join(f"{k} {training[k]:g}" for k in ("l1", "l2") if training.get(k) is not None)
        pairs.append(("by", f"{training['loss']} loss, {strengths}"))
    if training.get("selection"):
        pairs.append(("templates by", training["selection"]["name"] + (", best first:" if scores else "")))
        if scores:
            pairs += [("", f"{score:10.4g}  {name}") for name, score in training["selection"]["templates"]]
        pairs += selection_facts(training["selection"])
    if training.get("growth"):
        from parsimon.selection.growth import GrownStage

        stages = enumerate(training["growth"]["stages"], start=1)
        pairs += [(f"stage {n}", str(GrownStage(**stage))) for n, stage in stages]
    pairs += weights_facts(training)
    if training.get("objective") is not None:
        pairs.append(("objective", objective_text(training)))
    if training.get("support"):
        pairs.append(("support", f"{training['support']:,} support outputs"))
    if training.get("status"):
        pairs.append(("status", training["status"]))
    return pairs


def selection_facts(selection: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a first stage has left, and how its budget was chosen."""
    pairs = []
    if selection.get("tried"):
        tried = (
            f"{each['budget']}: {each['mistakes']:,.0f} (± {each['error']:,.0f})"
            for each in selection["tried"]
        )
        pairs.append(("budgets tried", f"held-out mistakes {', '.join(tried)}"))
    if selection.get("features") is not None:
        pairs.append(("second stage", f"with the {selection['features']:,} features that the first one left"))
    return pairs


def ending_facts(training: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a training ended, from what a model remembers of it."""
    pairs = weights_facts(training)
    if training.get("objective") is not None:
        pairs.append(("objective", objective_text(training)))
    if training.get("status"):
        pairs.append(("status", training["status"]))
    return pairs


def weights_facts(training: Mapping[str, Any]) -> list[tuple[str, str]]:
    """In which type the file has its weights, if they have lost digits by it."""
    return [("weights", f"kept as {training['weights']}")] if training.get("weights") else []


def objective_text(result: Mapping[str, Any]) -> str:
    """The objective, with what is known about its distance from the optimum.

    >>> from parsimon.report.tables import objective_text
    >>> objective_text({"objective": 11181.05, "gap": 0.49, "kkt": 0.0018, "threshold": 0.5})
    '11,181.0500 (within 0.0044% of the optimum, violations 0.36% of the strength)'
    """
    objective, gap, kkt, rho = (
        result["objective"],
        result.get("gap"),
        result.get("kkt"),
        result.get("threshold"),
    )
    known = []
    if gap is not None and 0 <= gap < 0.1 * objective:
        known.append(f"within {100 * gap / objective:.2g}% of the optimum")
    if kkt is not None:
        known.append(
            f"violations {100 * kkt / rho:.2g}% of the strength" if rho else f"KKT residual {kkt:.3g}"
        )
    return f"{objective:,.4f} ({', '.join(known) or 'not certified'})"


def of(part: int, whole: int | None) -> str:
    """For instance ``12 of 1,200 (1.0%)``."""
    if not whole:
        return f"{part:,}"
    percent = 100 * part / whole
    return (
        f"{part:,} of {whole:,} ({percent:.1f}%)"
        if percent >= 1
        else f"{part:,} of {whole:,} ({percent:.2g}%)"
    )


def file_size(n_bytes: int) -> str:
    """For instance ``640 kB``."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1000:,.0f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1e6:,.1f} MB"


def shares_table(what: str, shares: Iterable[Share]) -> str:
    """The share of each template or label in a model."""
    rows = [(s.name, f"{s.features:,}", f"{s.attributes:,}", f"{s.total:,.2f}") for s in shares]
    return table((what, "features", "attributes", "sum of |weight|"), rows, "<>>>")


def features_table(features: Sequence[Feature]) -> str:
    """Features with their weights and names."""
    rows = [
        (f"{f.weight:+.4f}", f.label if f.previous is None else f"{f.previous} → {f.label}", f.attribute)
        for f in features
    ]
    return table(("weight", "label", "attribute"), rows, "><<") if rows else "no such feature\n"


def transitions_table(labels: Sequence[str], weights: Array, hint: str = "") -> str:
    """The weights of label bigrams: a matrix if it fits, otherwise the largest ones."""
    if not weights.any():
        return "no weights for label pairs\n"
    if len(labels) <= MATRIX:
        rows = [
            (x, *(f"{w:+.3f}" if w else "." for w in row))
            for x, row in zip(labels, weights.tolist(), strict=True)
        ]
        return table(("from \\ to", *labels), rows, "<" + ">" * len(labels))
    cells = [(float(weights[x, y]), x, y) for x, y in zip(*weights.nonzero(), strict=True)]
    cells.sort(key=lambda cell: -abs(cell[0]))
    rows = [(f"{w:+.4f}", labels[x], labels[y]) for w, x, y in cells[:LISTED]]
    more = f"and {len(cells) - LISTED:,} more{hint}\n" if len(cells) > LISTED else ""
    return table(("weight", "from", "to"), rows, "><<") + more


def history_table(history: Sequence[dict[str, Any]]) -> str:
    """The training history that is stored in a model."""
    if not history:
        return "the model has no training history\n"
    rows = [
        (
            f"{event['iteration']}",
            f"{event['objective']:,.4f}",
            f"{event['active']:,}",
            f"{event['kkt']:.3g}" if "kkt" in event else "",
            percent(event["dev"]) if "dev" in event else "",
            event.get("phase", ""),
        )
        for event in history
    ]
    return table(("iteration", "objective", "active", "KKT residual", "dev", "phase"), rows, ">>>>><")
