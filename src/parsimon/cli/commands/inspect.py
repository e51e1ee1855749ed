"""`parsimon inspect`: what a model has kept, and what it weighs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.characters.printable import one_line
from parsimon.cli.kind import Kind, asked_of_model
from parsimon.cli.options import Asked, command, option
from parsimon.cli.output import show, show_record
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.tasks.model_file import Model

SHOWN, ON_A_PAGE = 20, 15  # of the heaviest features; on a page, of every label
EVERYWHERE = frozenset({"model", "history", "as_json", "top"})

EXAMPLES = """
\b
Examples:
  parsimon inspect chunk.model
  parsimon inspect chunk.model --label B-NP --top 10
  parsimon inspect chunk.model --template U05
  parsimon inspect chunk.model --transitions --history
  parsimon inspect chunk.model --html chunk.html
  parsimon inspect chunk.model --json > everything.json
  parsimon inspect news.model --label sci.space --top 10
  parsimon inspect survey.model --label smoker
"""


@command("inspect", epilog=EXAMPLES, short_help="Show what a model has learned.")
@click.argument("model", metavar="MODEL")
@option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    section="Features",
    show_default="20; with --html 15; with --json all",
    help="The number of features to show, those with the largest weights first; with --html, for each label.",
)
@option("--label", metavar="L", section="Features", help="Only features of this label.")
@option(
    "--template",
    metavar="T",
    section="Features",
    help="Only features of this template, given by its name (U05) or its text.",
)
@option(
    "--transitions",
    is_flag=True,
    section="Output",
    help="Also show the weights of label transitions.",
)
@option("--history", is_flag=True, section="Output", help="Also show how training went.")
@option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="PAGE",
    section="Output",
    help="Write a self-contained HTML page instead: templates by weight, the features of each label with the largest "
    "weights, label pairs, and how training went.",
)
@option("--json", "as_json", is_flag=True, section="Output", help="Print everything as one JSON object.")
def inspect(**options: Any) -> None:
    """Show what MODEL has learned: its features by template and by label, and those with the largest weights.

    For documents: how many words, and the words with the largest weights for each label. For Markov networks: the
    strongest edges; --label selects the edges of one variable. For parsers: the features of arcs; --label selects the
    features of one relation.
    """
    html, as_json = options["html"] is not None, options["as_json"]
    if html and as_json:
        raise ParsimonError("--html and --json cannot be combined; leave one out.")
    if options["top"] is None and not as_json:
        options["top"] = ON_A_PAGE if html else SHOWN
    kind, model, job = asked_of_model(options, "inspect", EVERYWHERE)
    if job["html"] is not None:
        write_page(kind, model, job)
        return
    found = kind.inspect(model, job)
    history = model.info.get("history", [])
    if job["as_json"]:
        record = {
            "kind": kind.name,
            "model": job.model,
            "bytes": Path(job.model).stat().st_size,
            "size": found.size,
            "training": {name: value for name, value in model.info.items() if name != "history"},
            "details": found.details,
            "history": history,
        }
        show_record(record)
        return
    show(found.text)
    show_tuning(model.info)
    if job["history"]:
        from parsimon.report.tables import history_table

        show("\n" + history_table(history))


def show_tuning(info: Mapping[str, Any]) -> None:
    """How the strengths were chosen, if they were."""
    if info.get("tuning"):
        from parsimon.report.tables import facts
        from parsimon.report.tuning_tables import tuning_facts, tuning_table

        show("\n" + facts(tuning_facts(info)) + tuning_table(info))


def write_page(kind: Kind[Any], model: Model, job: Asked) -> None:
    """Writes a model as a page, and says where it is."""
    from parsimon.cli.output import check_writable
    from parsimon.files import write_file
    from parsimon.report.model_page import model_page

    page = job["html"]
    check_writable(page, "the page")
    shown = kind.page(model, job)
    text = model_page(
        f"What {Path(job.model).name} has learnt",
        shown.facts,
        shown.parts,
        top=job["top"],
        label=job["label"],
        template=shown.template,
        history=model.info.get("history", []),
    )
    write_file(page, text.encode("utf-8", "replace"))
    show(f"{one_line(job.model)} is shown in {one_line(str(page))}\n")
