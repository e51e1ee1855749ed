"""`parsimon predict`: a column file in, the same lines with labels out; or documents, web pages or sentences in."""

from __future__ import annotations

import os
from typing import Any

import click

from parsimon.cli.kind import asked_of_model
from parsimon.cli.options import (
    command,
    decoding_option,
    lines_option,
    option,
    reading_options,
    threads_option,
)
from parsimon.errors import ParsimonError

EVERYWHERE = frozenset({"model", "input", "output", "encoding", "n_jobs"})

EXAMPLES = """
\b
Examples:
  parsimon predict chunk.model new.txt > labelled.txt
  cut -f1,2 new.txt | parsimon predict chunk.model | head
  parsimon predict chunk.model new.txt --marginals -o labelled.txt
  parsimon predict chunk.model new.txt --kbest 3
  parsimon predict chunk.model half_done.txt --given-labels --scheme iob2
  parsimon predict news.model new.jsonl --format jsonl --marginals
  parsimon predict records.model pages/ > records.tsv
  parsimon predict english.model new.conllu > parsed.conllu
"""


@command("predict", epilog=EXAMPLES, short_help="Label sequences, trees, documents or web pages, or parse.")
@click.argument("model")
@click.argument("input", default="-")
@option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    section="Output",
    show_default="standard output",
    help="Where to write. The file appears only when it is complete.",
)
@option(
    "--marginals",
    is_flag=True,
    section="Output",
    help="Add a column: the probability of the label; for documents, the probabilities of all labels; for parsers, "
    "the probability of every head, as ArcProb=0.98 in the last column.",
)
@option(
    "--format",
    type=click.Choice(["tsv", "jsonl"]),
    section="Output",
    show_default="tsv",
    help="The format of labels of documents and records of web pages: a table, or JSON lines.",
)
@lines_option
@option(
    "--kbest",
    type=click.IntRange(min=1),
    metavar="N",
    section="Output",
    help="Write the N best labellings of every sequence, each after a line '# rank probability'.",
)
@option(
    "--scheme",
    type=click.Choice(["iob2", "iobes", "iob1", "auto"]),
    section="Constraints",
    help="Predict only label sequences that are valid in this scheme. 'auto' recognises the scheme by the labels.",
)
@decoding_option
@option(
    "--given-labels",
    is_flag=True,
    section="Constraints",
    help="The last column holds known labels: keep them, and predict the others. For parsers: keep the heads that "
    "are given.",
)
@option(
    "--unknown",
    multiple=True,
    metavar="TEXT",
    section="Constraints",
    show_default="? _ -",
    help="With --given-labels: the value of the last column that means 'no label given' (may be repeated).",
)
@reading_options
@threads_option
def predict(**options: Any) -> None:
    """Predict the labels of INPUT (default: standard input) with MODEL.

    For sequences and trees, every line is written as it was read, followed by a tab and the label, with an empty line
    after every sequence. INPUT needs the columns that the model's templates use; more columns are fine, so a file with
    labels can be labelled, too. Comment lines are left out. The output has the encoding of the input.

    For documents, INPUT is a text file, a directory of text files (or of such directories), JSON lines with a "text",
    or lines 'label TAB text'. The output has one line per document: the name of its file or its "id" if it has one,
    its label and the probability, separated by tabs.

    For web pages, INPUT is a page or a directory of pages. The output is a table with one line per value: page,
    attribute and value, separated by tabs.

    For parsers, INPUT is in CoNLL-U or CoNLL-X. The output is the same file with heads and relations; those of INPUT
    are ignored, and may be '_'.

    For matrices, INPUT is a table. The output is the table with a column of predictions.
    """
    # Nothing here has work for the threads of a BLAS, which would be started when NumPy is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    kind, model, job = asked_of_model(options, "predict", EVERYWHERE)
    if job["kbest"] is not None and job["decoding"] is not None:
        raise ParsimonError(
            "--kbest gives the best of all, so there is nothing for --decoding; leave one out."
        )
    kind.predict(model, job)
