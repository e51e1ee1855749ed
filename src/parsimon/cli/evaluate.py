"""`parsimon evaluate`: how good a model is on labelled data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.failures import say
from parsimon.cli.labelling import allowed_transitions, is_tree, parts
from parsimon.cli.model_kinds import commands_of
from parsimon.cli.options import (
    column_file,
    command,
    decoding_option,
    is_minimum_risk,
    option,
    reading_options,
    threads_option,
)
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.arrays import IntArray
    from parsimon.features.columns import ColumnFile, Labels
    from parsimon.tasks.sequences.model import SequenceModel

EXAMPLES = """
\b
Examples:
  parsimon evaluate chunk.model test.txt
  parsimon evaluate chunk.model test.txt --confusion
  parsimon evaluate chunk.model test.txt --json | jq .f1
  parsimon evaluate news.model test.jsonl
  parsimon evaluate records.model test-pages/ --values test-values.csv
  parsimon evaluate english.model test.conllu
"""


@dataclass(frozen=True)
class Job:
    """What was asked for."""

    model: str
    test: str
    values: str | None
    raw: bool
    confusion: bool
    scheme: str | None
    decoding: str | None
    as_json: bool
    threads: int
    encoding: str
    separator: str
    comment: str | None


@command("evaluate", epilog=EXAMPLES, short_help="Score a model on labelled data.")
@click.argument("model")
@click.argument("test")
@option(
    "--values",
    metavar="TABLE",
    section="Reading",
    help="For web pages: their values, a table with the columns page, attribute and value.",
)
@option(
    "--raw",
    is_flag=True,
    section="Scoring",
    help="Score every token but O as a span of its own, as conlleval -r does.",
)
@option(
    "--scheme",
    type=click.Choice(["iob2", "iobes", "iob1", "auto"]),
    section="Scoring",
    help="Predict only label sequences that are valid in this scheme.",
)
@decoding_option
@option(
    "--confusion", is_flag=True, section="Output", help="Also show which labels are taken for which others."
)
@option(
    "--json", "as_json", is_flag=True, section="Output", help="Print one JSON object; scores are fractions."
)
@reading_options
@threads_option
def evaluate(**options: Any) -> None:
    """Label TEST with MODEL and compare with the labels in its last column.

    Where labels mark spans (B-NP, I-NP, O), what is printed is conlleval's report: accuracy of tokens; then
    precision, recall and F1 of spans, in all and by type. Other labels get a table with a line a label.
    Labels that the model does not know count as errors.

    With a document model, TEST is a directory of class directories, JSON lines or lines 'label TAB text'. With a
    model of web pages it is a directory of pages, whose values are in --values TABLE. With a parser it is a treebank in
    CoNLL-U or CoNLL-X, and what is printed are attachment scores (UAS, LAS) over all words and without punctuation, and
    how well arcs of each length and each relation are found.
    """
    job = Job(**options)
    from parsimon.report.tables import confusion_table, evaluation_record, evaluation_text
    from parsimon.tasks.model_file import load_model
    from parsimon.tasks.sequences.metrics import evaluate as compare

    model = load_model(job.model)
    commands = commands_of(model)
    if job.values is not None and model.info.get("input") != "pages":
        raise ParsimonError(f"{job.model} is no model of web pages, and --values is for these; leave it out.")
    if commands is not None:
        commands.evaluate(model, job)
        return
    file = column_file(job.test, job.encoding, job.separator, job.comment)
    gold, predicted = _labels(model, file, job)
    evaluation = compare(gold, predicted, raw=job.raw)  # type: ignore[arg-type]  # no label is None here
    if job.as_json:
        click.echo(json.dumps(evaluation_record(evaluation, raw=job.raw), ensure_ascii=False))
        return
    outputs = "trees" if is_tree(model) else "sequences"
    click.echo(evaluation_text(evaluation, raw=job.raw, outputs=outputs), nl=False)
    if job.confusion:
        click.echo("\n" + confusion_table(evaluation), nl=False)


def _labels(model: SequenceModel, file: ColumnFile, job: Job) -> tuple[Labels, Labels]:
    """The labels of the file, and the model's."""
    import numpy as np

    from parsimon.features.columns import Labels

    settings: dict[str, Any] = {
        "threads": job.threads,
        "allowed": allowed_transitions(model, job.scheme),
        "minimum_risk": is_minimum_risk(job.model, job.decoding, "viterbi"),
    }
    number = {name: y for y, name in enumerate(model.tags)}
    gold: list[IntArray] = []
    predicted: list[IntArray] = []
    lengths: list[IntArray] = []
    for part in parts(model, file, job.threads, labelled=True):
        for name in part.labels():
            number.setdefault(name, len(number))
        gold.append(part.label_ids(number, otherwise=-1))
        predicted.append(model.decode(part.observations, **settings))
        lengths.append(part.columns.lengths)
    if not lengths:
        raise ParsimonError(
            f"{file.name} has no tokens; it should have one token a line, with its label last."
        )
    truth = Labels(np.concatenate(gold), np.concatenate(lengths), list(number))
    _mention_unknown(truth, model, file.name)
    return truth, Labels(np.concatenate(predicted), truth.lengths, truth.names)


def _mention_unknown(truth: Labels, model: SequenceModel, name: str) -> None:
    unknown = truth.names[len(model.tags) :]
    if unknown:
        tokens = int((truth.ids >= len(model.tags)).sum())
        some = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        say(
            f"{name} has {tokens:,} token{'s' * (tokens != 1)} with a label that the model does not know "
            f"({some}); {'they count' if tokens != 1 else 'it counts'} as wrong"
        )
