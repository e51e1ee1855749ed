"""`parsimon inspect`: what a model has kept, and what it weighs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.options import command, option

if TYPE_CHECKING:
    from parsimon.sequence_model import SequenceModel

SHOWN = 20  # of the heaviest features

EXAMPLES = """
\b
Examples:
  parsimon inspect chunk.model
  parsimon inspect chunk.model --label B-NP --top 10
  parsimon inspect chunk.model --template U05
  parsimon inspect chunk.model --transitions --history
  parsimon inspect chunk.model --json > everything.json
"""


@command("inspect", epilog=EXAMPLES, short_help="Look into a model.")
@click.argument("model", metavar="MODEL")
@option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    section="Features",
    show_default="20; with --json all",
    help="How many of the heaviest features to show.",
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
@option("--json", "as_json", is_flag=True, section="Output", help="Print everything as one JSON object.")
def inspect(
    model: str,
    top: int | None,
    label: str | None,
    template: str | None,
    transitions: bool,
    history: bool,
    as_json: bool,
) -> None:
    """Show what MODEL has kept: how much of what, by template and by label, and the heaviest features."""
    from parsimon import inspect as look
    from parsimon.model_file import load_model
    from parsimon.report import tables

    fitted = load_model(model)
    if top is None and not as_json:
        top = SHOWN
    heaviest = []
    if top != 0:
        heaviest = look.features(fitted, top=top, label=label, template=_template(fitted, template))
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


def _template(model: SequenceModel, name: str | None) -> str | None:
    """A template as it is written, by its short name."""
    from parsimon.features.template_features import TemplateFeatures

    if isinstance(model.space, TemplateFeatures):
        for short, template in zip(model.space.templates.names, model.space.templates, strict=True):
            if name in (short, template.name):
                return template.source
    return name


def _record(model: SequenceModel, heaviest: list[Any]) -> dict[str, Any]:
    """Everything, ready for JSON: counts at the top, names and lists below."""
    from parsimon import inspect as look

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
