"""Markov networks at work: what `inspect`, `predict` and `evaluate` do when they are given one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.tasks.networks.model import NetworkModel

SHOWN = 20  # of the strongest edges


def predict(model: NetworkModel, job: Any) -> None:
    """Refused: a network has no labels."""
    raise ParsimonError(
        f"{job.model} is a Markov network, which has no label to predict; 'parsimon sample {job.model}' draws rows "
        "from it, and MarkovNetwork.load(...).conditional(...) gives the probabilities of some columns given others."
    )


def evaluate(model: NetworkModel, job: Any) -> None:
    """Refused: a network has no labels."""
    raise ParsimonError(
        f"{job.model} is a Markov network, which has no labels to compare; MarkovNetwork.load(...).score(...) "
        "gives the log-likelihood of other rows."
    )


def inspect(
    model: NetworkModel,
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
    """Sizes, how learning went, and the strongest edges; `label` names a variable whose edges are shown."""
    from parsimon.report.network_tables import edges_table, summary_text
    from parsimon.report.tables import history_table

    for option, given in (("--template", template), ("--transitions", transitions), ("--html", html)):
        if given:
            raise ParsimonError(
                f"{name} is a Markov network, and {option} is for sequence models; leave it out."
            )
    edges = model.strongest(variable=label)
    record = {"model": name, "bytes": Path(name).stat().st_size, **model.summary()}
    if as_json:
        click.echo(json.dumps(_record(model, record, edges[:top]), ensure_ascii=False))
        return
    sections = [summary_text(record)]
    if top != 0:
        sections.append(edges_table(edges, SHOWN if top is None else top))
    if history:
        sections.append(history_table(model.info.get("history", [])))
    click.echo("\n".join(sections), nl=False)


def _record(model: NetworkModel, record: dict[str, Any], edges: list[Any]) -> dict[str, Any]:
    """Everything, ready for JSON: counts at the top, names and lists below."""
    return {
        **record,
        "states": {name: list(states) for name, states in zip(model.names, model.categories, strict=True)},
        "strongest": [asdict(edge) for edge in edges],
        "path": model.info.get("path"),
        "history": model.info.get("history", []),
    }
