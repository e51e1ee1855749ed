"""Models of web pages at work: what `predict` and `evaluate` do when they are given one."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.options import is_minimum_risk
from parsimon.cli.output import output
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.cli.evaluate import Job
    from parsimon.cli.predict import Prediction
    from parsimon.tasks.pages.page import Page
    from parsimon.tasks.sequences.model import SequenceModel

AT_ONCE = 64  # pages
DIGITS = 4  # of a probability


def refuse(model: str, given: dict[str, Any]) -> None:
    """Refuses options that mean nothing for web pages."""
    for name, value in given.items():
        if value:
            raise ParsimonError(
                f"{model} finds the records of web pages, and {name} is for column files; leave it out."
            )


def predict(model: SequenceModel, job: Prediction) -> None:
    """A table of records: a line for every value."""
    refuse(
        job.model,
        {
            "--kbest": job.kbest,
            "--given-labels": job.given_labels,
            "--unknown": job.unknown,
            "--scheme": job.scheme,
            "--separator": job.separator != "any",
            "--comment": job.comment,
        },
    )
    form = _lines if job.format == "jsonl" else _table
    with output(job.output) as write:
        for text in form(found_values(model, _pages(job.input, job.encoding), job), job.marginals):
            write(text.encode())


def evaluate(model: SequenceModel, job: Job) -> None:
    """Average F1 over attributes, F1 of each, and the share of records that are right as wholes."""
    from parsimon.cli.tree_run import with_values
    from parsimon.tasks.pages.metrics import score_records
    from parsimon.tasks.pages.reading import read_values

    refuse(job.model, {"--raw": job.raw, "--scheme": job.scheme, "--confusion": job.confusion})
    if job.values is None:
        raise ParsimonError(
            f"{job.model} finds the records of web pages, so the values on them are needed: --values TABLE, with the "
            "columns page, attribute and value."
        )
    values = read_values(job.values, encoding=job.encoding)
    pages = with_values(_pages(job.test, "utf-8"), values, job.test, job.values)
    found = dict(found_values(model, pages, job))
    predicted = [_record(found[name]) for name in pages]
    scores = score_records([_cleaned(values[name]) for name in pages], predicted)
    if job.as_json:
        told = {
            "average_f1": scores.average_f1,
            "record_accuracy": scores.accuracy,
            "per_attribute": scores.f1,
            "pages": len(pages),
        }
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    from parsimon.report.tables import table

    click.echo(
        f"processed {len(pages)} page{'s' * (len(pages) != 1)}\n"
        f"average F1: {100 * scores.average_f1:6.2f}%; whole records right: {100 * scores.accuracy:6.2f}%\n"
    )
    click.echo(
        table(("attribute", "F1"), [(a, f"{100 * f:.2f}%") for a, f in scores.f1.items()], "<>"), nl=False
    )


Found = list[tuple[str, str, float]]  # attribute, value, and how probable it is that its text has this label


def found_values(
    model: SequenceModel, pages: dict[str, Page], job: Prediction | Job
) -> Iterator[tuple[str, Found]]:
    """The values on every page, each once, in reading order."""
    from parsimon.features.node_kinds import NodeKinds
    from parsimon.features.tree_columns import tree_columns
    from parsimon.tasks.pages.columns import page_tree
    from parsimon.tasks.pages.labels import NONE
    from parsimon.tasks.pages.page import TEXT

    threads, careful = job.threads, is_minimum_risk(job.model, job.decoding, "viterbi")
    kinds = NodeKinds.from_told(model.info["node_kinds"], model.labels)
    names = list(pages)
    for first in range(0, len(names), AT_ONCE):
        some = names[first : first + AT_ONCE]
        observations = model.observe(
            kinds.limit(tree_columns([page_tree(pages[name]) for name in some])), threads
        )
        labels = model.decode(observations, threads=threads, minimum_risk=careful)
        marginals, _ = model.marginals(observations, threads=threads)
        at = 0
        for name in some:
            page, seen = pages[name], dict[tuple[str, str], float]()
            for tag, text in zip(page.tags, page.texts, strict=True):
                label = model.labels[labels[at]]
                if tag == TEXT and label != NONE:
                    probability = float(marginals[at, labels[at]])
                    seen[label, text] = max(probability, seen.get((label, text), 0.0))
                at += 1
            yield name, [(attribute, value, p) for (attribute, value), p in seen.items()]


def _pages(source: str, encoding: str) -> dict[str, Page]:
    """Those of a directory or file; one from standard input is called `-`. What a page says goes before UTF-8."""
    from parsimon.tasks.pages.page import read_page
    from parsimon.tasks.pages.reading import read_pages

    named = None if encoding == "utf-8" else encoding
    if source == "-":
        return {"-": read_page(sys.stdin.buffer.read(), encoding=named)}
    return read_pages(source, encoding=named)


def _record(found: Found) -> dict[str, list[str]]:
    record: dict[str, list[str]] = {}
    for attribute, value, _ in found:
        record.setdefault(attribute, []).append(value)
    return record


def _cleaned(values: dict[str, list[str]]) -> dict[str, list[str]]:
    from parsimon.tasks.pages.page import clean

    return {attribute: [clean(value) for value in found] for attribute, found in values.items()}


def _table(pages: Iterator[tuple[str, Found]], marginals: bool) -> Iterator[str]:
    """Tabs between cells: the table that --values takes, perhaps with probabilities."""
    yield _row(["page", "attribute", "value", *(["probability"] if marginals else [])])
    for name, found in pages:
        for attribute, value, p in found:
            yield _row([name, attribute, value, *([f"{p:.{DIGITS}f}"] if marginals else [])])


def _row(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(cells)
    return text.getvalue()


def _lines(pages: Iterator[tuple[str, Found]], marginals: bool) -> Iterator[str]:
    """An object a page: its name and its record."""
    for name, found in pages:
        told: dict[str, Any] = {"page": name, "record": _record(found)}
        if marginals:
            told["probabilities"] = [
                {"attribute": attribute, "value": value, "probability": round(p, DIGITS)}
                for attribute, value, p in found
            ]
        yield json.dumps(told, ensure_ascii=False) + "\n"
