"""Document models at work: what `predict`, `evaluate` and `inspect` do when they are given one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.failures import say
from parsimon.cli.output import output
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.cli.evaluate import Job
    from parsimon.cli.predict import Prediction
    from parsimon.tasks.documents.model import DocumentModel

AT_ONCE = 4096  # documents
DIGITS = 4  # of a probability in a table
SHOWN = 20  # of the heaviest words
STDIN = "/dev/stdin"


def read(source: str, encoding: str, *, labelled: bool) -> tuple[list[Any], list[str]]:
    """The documents of a file or directory, and their labels, which must be there if `labelled`."""
    from parsimon.data.documents import read_documents

    name = "standard input" if source == "-" else source
    try:
        documents, labels = read_documents(STDIN if source == "-" else source, encoding=encoding)
    except ParsimonError as error:
        raise ParsimonError(str(error).replace(STDIN, name)) from error
    if labelled and labels is None:
        raise ParsimonError(
            f"the documents of {name} have no labels; give a directory of class directories, JSON lines with a "
            "\"label\", or lines 'label TAB text'."
        )
    return documents, labels or []


def refuse(model: str, given: dict[str, Any]) -> None:
    """Refuses options that mean nothing for a document model."""
    for name, value in given.items():
        if value:
            raise ParsimonError(
                f"{model} is a document model, and {name} is for sequence models; leave it out."
            )


# --- Predict ------------------------------------------------------------------------------------------------


def predict(model: DocumentModel, job: Prediction) -> None:
    """A line a document: its label and the label's probability."""
    refuse(
        job.model,
        {
            "--kbest": job.kbest,
            "--given-labels": job.given_labels,
            "--unknown": job.unknown,
            "--scheme": job.scheme,
            "--decoding": job.decoding,
            "--separator": job.separator != "any",
            "--comment": job.comment,
        },
    )
    documents, _ = read(job.input, job.encoding, labelled=False)
    with output(job.output) as write:
        for first in range(0, len(documents), AT_ONCE):
            lines = predicted(model, documents[first : first + AT_ONCE], job.format or "tsv", job.marginals)
            write("".join(lines).encode())


def predicted(model: DocumentModel, documents: list[Any], form: str, marginals: bool) -> Iterator[str]:
    """Labels and probabilities as lines; with `marginals` those of all labels."""
    for row in model.probabilities(model.read(documents)).tolist():
        best = max(range(len(row)), key=row.__getitem__)
        if form == "jsonl":
            record: dict[str, Any] = {"label": model.labels[best], "probability": row[best]}
            if marginals:
                record["probabilities"] = dict(zip(model.labels, row, strict=True))
            yield json.dumps(record, ensure_ascii=False) + "\n"
        else:
            cells = [model.labels[best], f"{row[best]:.{DIGITS}f}"]
            if marginals:
                cells += [f"{label}={p:.{DIGITS}f}" for label, p in zip(model.labels, row, strict=True)]
            yield "\t".join(cells) + "\n"


# --- Evaluate -----------------------------------------------------------------------------------------------


def evaluate(model: DocumentModel, job: Job) -> None:
    """Accuracy, scores by label and what is taken for what."""
    from parsimon.report import document_tables as tables
    from parsimon.tasks.sequences.metrics import evaluate as compare

    refuse(
        job.model,
        {
            "--raw": job.raw,
            "--scheme": job.scheme,
            "--decoding": job.decoding,
            "--separator": job.separator != "any",
            "--comment": job.comment,
        },
    )
    documents, gold = read(job.test, job.encoding, labelled=True)
    mention_unknown(model, gold, job.test)
    predicted = model.predict(model.read(documents))
    evaluation = compare([[y] for y in gold], [[y] for y in predicted])
    if job.as_json:
        click.echo(json.dumps(tables.evaluation_record(evaluation), ensure_ascii=False))
        return
    click.echo(tables.evaluation_text(evaluation), nl=False)
    if job.confusion:
        click.echo("\n" + tables.confusions(evaluation), nl=False)


def mention_unknown(model: DocumentModel, gold: list[str], name: str) -> None:
    """Labels that the model does not know count as wrong."""
    unknown = sorted(set(gold) - set(model.labels))
    if unknown:
        n = sum(label in unknown for label in gold)
        some = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        say(
            f"{name} has {n:,} document{'s' * (n != 1)} with a label that the model does not know ({some}); "
            f"{'they count' if n != 1 else 'it counts'} as wrong"
        )


# --- Inspect ------------------------------------------------------------------------------------------------


def inspect(
    model: DocumentModel,
    name: str,
    *,
    top: int | None,
    label: str | None,
    template: str | None,
    transitions: bool,
    history: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Sizes, how training went, and the heaviest words of each label."""
    from parsimon.report import document_tables as tables
    from parsimon.report.tables import history_table
    from parsimon.tasks.documents import inspect as look

    refuse(name, {"--template": template, "--transitions": transitions, "--html": html})
    if top is None and not as_json:
        top = SHOWN
    labels = model.labels if label is None else (label,)
    heaviest = {y: look.heaviest_words(model, y, top) for y in labels}
    if as_json:
        click.echo(json.dumps(_record(model, heaviest), ensure_ascii=False))
        return
    sections = [tables.summary_text(name, Path(name).stat().st_size, look.summary(model))]
    if label is None:
        sections.append(tables.shares_table(look.shares(model)))
    if top:
        sections.append(tables.words_table(heaviest))
    if history:
        sections.append(history_table(model.info.get("history", [])))
    click.echo("\n".join(sections), nl=False)


def _record(model: DocumentModel, heaviest: dict[str, Any]) -> dict[str, Any]:
    """Everything, ready for JSON: counts at the top, names and lists below."""
    from parsimon.tasks.documents import inspect as look

    return {
        **look.summary(model),
        "labels": model.n_labels,
        "label_names": list(model.labels),
        "reader": model.reader.settings(),
        "per_label": [asdict(share) for share in look.shares(model)],
        "heaviest": {label: [asdict(word) for word in words] for label, words in heaviest.items()},
        "history": model.info.get("history", []),
    }
