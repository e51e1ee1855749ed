"""`parsimon evaluate`: how good a model is on labelled data."""

from __future__ import annotations

from typing import Any

import click

from parsimon.cli.kind import asked_of_model
from parsimon.cli.options import (
    command,
    decoding_option,
    option,
    reading_options,
    skip_bad_option,
    threads_option,
)
from parsimon.cli.output import show, show_record

EVERYWHERE = frozenset({"model", "test", "as_json", "encoding", "n_jobs"})

EXAMPLES = """
\b
Examples:
  parsimon evaluate chunk.model test.txt
  parsimon evaluate chunk.model test.txt --confusion
  parsimon evaluate chunk.model test.txt --json | jq .scores.f1
  parsimon evaluate news.model test.jsonl
  parsimon evaluate records.model test-pages/ --values test-values.csv
  parsimon evaluate english.model test.conllu
"""


@command("evaluate", epilog=EXAMPLES, short_help="Score a model on labelled data.")
@click.argument("model")
@click.argument("test")
@option(
    "--values",
    metavar="TABLE",
    section="Reading",
    help="For web pages: a table of their values, with the columns page, attribute and value.",
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
    "--confusion",
    is_flag=True,
    section="Output",
    help="Also show which labels are mistaken for which others.",
)
@option(
    "--json", "as_json", is_flag=True, section="Output", help="Print one JSON object; scores are fractions."
)
@skip_bad_option
@reading_options
@threads_option
def evaluate(**options: Any) -> None:
    """Label TEST with MODEL, and compare the result with the labels in TEST.

    For sequences and trees, the label is in the last column. If labels mark spans (B-NP, I-NP, O), the report is that
    of conlleval: token accuracy, then precision, recall and F1 of spans, overall and by type. Otherwise it is a table
    with a line for each label. Labels that the model does not know count as errors.

    For documents, TEST has one directory per class, JSON lines, or lines 'label TAB text'. For web pages, it is a
    directory of pages, whose values are in --values TABLE. For parsers, it is a treebank in CoNLL-U or CoNLL-X; the
    report has attachment scores (UAS, LAS) with and without punctuation, and scores by length of arcs and by relation.
    """
    kind, model, job = asked_of_model(options, "evaluate", EVERYWHERE)
    found = kind.evaluate(model, job)
    if job["as_json"]:
        record = {
            "kind": kind.name,
            "model": job.model,
            "data": job["test"],
            "scores": found.scores,
            "details": found.details,
        }
        show_record(record)
    else:
        show(found.text)
