"""`parsimon explain`: why a model predicts what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from parsimon.cli.kind import asked_of_model
from parsimon.cli.options import command, encoding_option, lines_option, option

LIMIT = 10  # documents
EVERYWHERE = frozenset({"model", "file", "label", "limit", "html", "as_json", "encoding", "lines"})

EXAMPLES = """
\b
Examples:
  parsimon explain news.model new.jsonl
  parsimon explain news.model new.jsonl --html why.html --limit 50
  parsimon explain news.model new.txt
  parsimon explain news.model reviews/ --label positive
  parsimon explain news.model new.jsonl --json | jq '.sentences[].log_odds'
"""


@command("explain", epilog=EXAMPLES, short_help="Show which sentences of documents matter.")
@click.argument("model")
@click.argument("file")
@option(
    "--label", metavar="L", section="What", show_default="the predicted one", help="The label to explain."
)
@option(
    "--limit",
    type=click.IntRange(min=1),
    default=LIMIT,
    metavar="N",
    section="What",
    help="Explain the first N documents only.",
)
@option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="PAGE",
    section="Output",
    help="Write a self-contained HTML page instead.",
)
@option(
    "--json", "as_json", is_flag=True, section="Output", help="Print one JSON object per document instead."
)
@lines_option
@encoding_option
def explain(**options: Any) -> None:
    """Show how much each sentence of the documents in FILE contributes to the label, by the document model MODEL.

    FILE is a text, a directory of texts, JSON lines with a "text", or lines 'label TAB text'. It needs no labels.

    The number before a sentence is its log-odds: how much smaller the logarithm of the label's
    probability would be without it. Sentences that support the label are shaded green, and those against it
    red; words with large weights are bold.
    """
    kind, model, job = asked_of_model(options, "explain", EVERYWHERE)
    kind.explain(model, job)
