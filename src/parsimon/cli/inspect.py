"""`parsimon inspect`: what a model has kept, and what it weighs."""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.model_kinds import commands_of
from parsimon.cli.options import command, option
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.report.model_page import Part
    from parsimon.tasks.sequences.model import SequenceModel

SHOWN = 20  # of the heaviest features
ON_A_PAGE = 15  # of every label

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


@command("inspect", epilog=EXAMPLES, short_help="Look into a model.")
@click.argument("model", metavar="MODEL")
@option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    section="Features",
    show_default="20; with --html 15; with --json all",
    help="How many of the heaviest features to show; with --html, of every label.",
)
@option("--label", metavar="L", section="Features", help="Only features of this label.")
@option(
    "--template",
    metavar="T",
    section="Features",
    help="Only features of this template, by its name (U05) or as it is written.",
)
@option(
    "--transitions",
    is_flag=True,
    section="Output",
    help="Also show what it weighs that one label follows another.",
)
@option("--history", is_flag=True, section="Output", help="Also show how training went.")
@option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="PAGE",
    section="Output",
    help="Write a page for a browser instead, all in one file: templates by weight, the heaviest features of every "
    "label, label pairs, and how training went.",
)
@option("--json", "as_json", is_flag=True, section="Output", help="Print everything as one JSON object.")
def inspect(
    model: str,
    top: int | None,
    label: str | None,
    template: str | None,
    transitions: bool,
    history: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show what MODEL has kept: how much of what, by template and by label, and the heaviest features.

    Of a document model: how many words, and for each label those that speak most for it. Of a Markov network: the
    strongest edges; --label names a variable whose edges are wanted. Of a parser: the features of arcs; --label names a
    relation whose features are wanted.
    """
    from parsimon.report import tables
    from parsimon.tasks.model_file import load_model
    from parsimon.tasks.sequences import inspect as look
    from parsimon.tasks.sequences.model import SequenceModel

    if html is not None and as_json:
        raise ParsimonError("--html and --json are two ways to have the same; leave one out.")
    fitted = load_model(model)
    if not isinstance(fitted, SequenceModel):
        commands_of(fitted).inspect(
            fitted,
            model,
            top=top,
            label=label,
            template=template,
            transitions=transitions,
            history=history,
            html=html,
            as_json=as_json,
        )
        return
    template = _template(fitted, template)
    if html is not None:
        from parsimon.report.model_page import Part, scores_of

        facts = tables.summary_facts(model, Path(model).stat().st_size, look.summary(fitted), scores=False)
        parts = [Part("", fitted, scores_of(fitted.info))]
        told = fitted.info.get("history", [])
        write_page(html, model, facts, parts, told, top=top, label=label, template=template)
        return
    if top is None and not as_json:
        top = SHOWN
    heaviest = []
    if top != 0:
        heaviest = look.features(fitted, top=top, label=label, template=template)
    if as_json:
        click.echo(json.dumps(_record(fitted, heaviest), ensure_ascii=False))
        return
    sections = [tables.summary_text(model, Path(model).stat().st_size, look.summary(fitted))]
    if label is None and template is None:
        sections.append(tables.shares_table("template", look.template_shares(fitted)))
        sections.append(tables.shares_table("label", look.label_shares(fitted)))
    if top:
        sections.append(tables.features_table(heaviest))
    if transitions:
        sections.append(tables.transitions_table(fitted.labels, look.transitions(fitted)))
    if history:
        sections.append(tables.history_table(fitted.info.get("history", [])))
    click.echo("\n".join(sections), nl=False)


def write_page(
    page: Path,
    model: str,
    facts: list[tuple[str, str]],
    parts: list[Part],
    history: list[dict[str, Any]],
    *,
    top: int | None,
    label: str | None,
    template: str | None,
) -> None:
    """Writes a model as a page, and says where it is."""
    from parsimon.cli.output import check_writable
    from parsimon.files import write_atomically_or_explain
    from parsimon.report.model_page import model_page

    check_writable(page, "the page")
    text = model_page(
        f"What {Path(model).name} has learnt",
        facts,
        parts,
        top=ON_A_PAGE if top is None else top,
        label=label,
        template=template,
        history=history,
    )
    write_atomically_or_explain(page, text.encode("utf-8", "replace"))
    click.echo(f"{model} is shown in {page}")


def _template(model: SequenceModel, name: str | None) -> str | None:
    """A template as the model has it, by its name (U05; word[0] or U:word[0]) or as it is written."""
    from parsimon.features.template_features import TemplateFeatures

    if name is None or not isinstance(model.space, TemplateFeatures):
        return name
    templates = list(zip(model.space.templates.names, model.space.templates, strict=True))
    known = set(model.space.template_names())  # of templates that share their attributes, one stands for all
    for short, template in templates:
        if name in (short, short.removeprefix("U:"), template.source):
            return next(
                t.source for _, t in templates if t.skeleton == template.skeleton and t.source in known
            )
    close = get_close_matches(
        name, [n for short, _ in templates for n in (short, short.removeprefix("U:"))], n=1
    )
    hint = f"did you mean {close[0]!r}?" if close else "'parsimon inspect MODEL' lists its templates."
    raise ParsimonError(f"the model has no template {name!r}; {hint}")


def _record(model: SequenceModel, heaviest: list[Any]) -> dict[str, Any]:
    """Everything, ready for JSON: counts at the top, names and lists below."""
    from parsimon.tasks.sequences import inspect as look

    summary = look.summary(model)
    weights = look.transitions(model)
    return {
        **summary,
        "labels": model.n_labels,
        "label_names": list(model.labels),
        "per_template": [asdict(share) for share in look.template_shares(model)],
        "per_label": [asdict(share) for share in look.label_shares(model)],
        "heaviest": [asdict(feature) for feature in heaviest],
        "transitions": [
            {"previous": model.labels[x], "label": model.labels[y], "weight": float(weights[x, y])}
            for x, y in zip(*weights.nonzero(), strict=True)
        ],
        "history": model.info.get("history", []),
    }
