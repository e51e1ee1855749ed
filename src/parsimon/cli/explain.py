"""`parsimon explain`: which sentences of a document speak for its label, and which words in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.options import command, option

if TYPE_CHECKING:
    from parsimon.tasks.documents.explain import ExplainedDocument

LIMIT = 10  # documents

EXAMPLES = """
\b
Examples:
  parsimon explain news.model new.jsonl
  parsimon explain news.model new.jsonl --html why.html --limit 50
  parsimon explain news.model reviews/ --label positive
  parsimon explain news.model new.jsonl --json | jq '.sentences[].log_odds'
"""


@dataclass(frozen=True)
class Explanation:
    """What was asked for."""

    model: str
    file: str
    label: str | None
    limit: int
    html: Path | None
    as_json: bool
    encoding: str


@command("explain", epilog=EXAMPLES, short_help="Show which sentences matter.")
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
    help="Write a page for a browser instead, all in one file.",
)
@option("--json", "as_json", is_flag=True, section="Output", help="Print one JSON object a document instead.")
@option("--encoding", default="utf-8", metavar="NAME", section="Reading", help="Encoding of the data.")
def explain(**options: Any) -> None:
    """Show what every sentence of the documents in FILE does for their labels, by the document model MODEL.

    The number before a sentence is its log-odds: how much smaller the logarithm of the label's
    probability would be without it. Sentences that speak for the label are shaded green and those against it
    red; words that weigh much are bold. Labels in FILE are not needed.
    """
    job = Explanation(**options)
    from parsimon.cli.documents import read
    from parsimon.cli.failures import say
    from parsimon.cli.output import check_writable
    from parsimon.tasks.documents.explain import explain as explanations
    from parsimon.tasks.model_file import load_model

    model = load_model(job.model, "document")
    if job.html is not None:
        check_writable(job.html, "the page")
    documents, gold = read(job.file, job.encoding, labelled=False)
    explained = explanations(model, documents[: job.limit], job.label)
    if job.html is not None:
        _write_page(job, explained, gold[: job.limit])
    elif job.as_json:
        for document in explained:
            click.echo(json.dumps(document.to_dict(), ensure_ascii=False))
    else:
        from parsimon.report.explanation import explanation_text

        click.echo(explanation_text(explained), nl=False, color=True)  # it has looked at the terminal itself
    if len(documents) > job.limit:
        say(f"these are the first {job.limit} of {len(documents):,} documents; --limit says how many")


def _write_page(job: Explanation, explained: list[ExplainedDocument], gold: list[str]) -> None:
    from parsimon.files import write_atomically_or_explain
    from parsimon.report.explanation_page import explanation_page

    assert job.html is not None
    title = f"Which sentences matter: {Path(job.file).name}, {Path(job.model).name}"
    page = explanation_page(explained, title=title, gold=gold or None)
    write_atomically_or_explain(job.html, page.encode("utf-8", "replace"))
    n = len(explained)
    click.echo(f"{n} document{'s' * (n != 1)} explained in {job.html}")
