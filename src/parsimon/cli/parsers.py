"""Parsers at work: what `predict`, `evaluate` and `inspect` do when they are given one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.options import is_minimum_risk
from parsimon.cli.output import output
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.arrays import Array
    from parsimon.cli.evaluate import Job
    from parsimon.cli.predict import Prediction
    from parsimon.data.treebanks import Treebank
    from parsimon.tasks.parsing.model import ParserModel

DIGITS = 4  # of a probability
SHOWN = 20  # of the heaviest features


def refuse(model: str, given: dict[str, Any]) -> None:
    """Refuses options that mean nothing for a parser."""
    for name, value in given.items():
        if value:
            raise ParsimonError(f"{model} is a parser, and {name} is for other models; leave it out.")


# --- Predict ------------------------------------------------------------------------------------------------


def predict(model: ParserModel, job: Prediction) -> None:
    """The treebank that was read, with other heads and relations."""
    from parsimon.data.treebank_files import TreebankFile

    refuse(
        job.model,
        {
            "--unknown": job.unknown,
            "--scheme": job.scheme,
            "--format": job.format,
            "--separator": job.separator != "any",
            "--comment": job.comment,
        },
    )
    file = TreebankFile(job.input, encoding=job.encoding, missing_heads=True)
    is_minimum_risk(job.model, job.decoding, "mst")
    settings: dict[str, Any] = {"given_heads": job.given_labels, "threads": job.threads}
    with output(job.output) as write:
        for treebank in file:
            if treebank.format == "conllx" and (job.marginals or job.kbest):
                raise ParsimonError(
                    f"{treebank.name} is in CoNLL-X format, which has no place for probabilities; "
                    "leave out --marginals and --kbest, or convert it to CoNLL-U."
                )
            if job.kbest is not None:
                write(b"".join(ranked(model, treebank, job)))
                continue
            parsed = model.parse(treebank, decoding=job.decoding or "mst", **settings)
            content = parsed.to_bytes()
            if job.marginals:
                marginals, _ = model.marginals(treebank, **settings)
                content = with_probabilities(parsed, marginals)
            write(content)


def with_probabilities(parsed: Treebank, marginals: list[Array]) -> bytes:
    """The treebank with the probability of every head in the last column, as ArcProb=0.9876."""
    import numpy as np

    heads = np.split(parsed.heads, np.cumsum(parsed.lengths)[:-1])
    values = iter(
        float(table[word, head])
        for table, sentence in zip(marginals, heads, strict=True)
        for word, head in enumerate(sentence.tolist())
    )
    lines = []
    for line in parsed.to_bytes().decode(parsed.encoding).split("\n"):
        if line.partition("\t")[0].isdigit():
            rest, _, misc = line.rstrip("\r").rpartition("\t")
            told = f"ArcProb={next(values):.{DIGITS}f}"
            line = f"{rest}\t{told if misc == '_' else f'{misc}|{told}'}"
        lines.append(line)
    return "\n".join(lines).encode(parsed.encoding)


def ranked(model: ParserModel, treebank: Treebank, job: Prediction) -> Iterator[bytes]:
    """The k best trees of each sentence, best first, each after comments with its rank and probability."""
    import numpy as np

    assert job.kbest is not None
    values, heads = model.kbest(treebank, job.kbest, given_heads=job.given_labels, threads=job.threads)
    ends = np.cumsum(treebank.lengths)
    for i, (end, n) in enumerate(zip(ends.tolist(), treebank.lengths.tolist(), strict=True)):
        one = treebank[i]
        for rank in range(job.kbest):
            if values[rank, i] == -np.inf:
                break
            tree = heads[rank, end - n : end]
            told = f"# rank = {rank + 1}\n# probability = {np.exp(values[rank, i]):.{DIGITS}f}\n"
            yield told.encode(treebank.encoding)
            text = one.with_heads(tree, model.name_relations(one, tree, threads=job.threads)).to_bytes()
            yield text.rstrip(b"\n") + b"\n\n"


# --- Evaluate -----------------------------------------------------------------------------------------------


def evaluate(model: ParserModel, job: Job) -> None:
    """Attachment scores, with and without punctuation."""
    from parsimon.data.treebank_files import read_treebank
    from parsimon.report.parser_tables import parser_scores_text
    from parsimon.tasks.parsing.metrics import compare_treebanks

    refuse(
        job.model,
        {
            "--raw": job.raw,
            "--scheme": job.scheme,
            "--confusion": job.confusion,
            "--separator": job.separator != "any",
            "--comment": job.comment,
        },
    )
    is_minimum_risk(job.model, job.decoding, "mst")
    gold = read_treebank(job.test, encoding=job.encoding)
    scores = compare_treebanks(gold, model.parse(gold, decoding=job.decoding or "mst", threads=job.threads))
    if job.as_json:
        click.echo(json.dumps(scores.to_dict(), ensure_ascii=False))
    else:
        click.echo(parser_scores_text(scores), nl=False)


# --- Inspect ------------------------------------------------------------------------------------------------


def inspect(
    model: ParserModel,
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
    """Sizes, templates and the heaviest features of arcs; `label` names a relation whose features are wanted."""
    from parsimon.cli.inspect import write_page
    from parsimon.report import tables
    from parsimon.tasks.sequences import inspect as look

    refuse(name, {"--transitions": transitions})
    part = model.arcs
    if label is not None:
        if model.relations is None:
            raise ParsimonError(f"{name} was trained without relations; leave out --label.")
        part = model.relations
    record = {**look.summary(model.arcs), "training": {k: v for k, v in model.info.items() if k != "history"}}
    record |= {what: model.info.get(what) for what in ("candidate_features", "candidate_templates")}
    if html is not None:
        from parsimon.report.model_page import Part, scores_of

        arcs = Part("arcs", model.arcs, scores_of(model.info))
        relations = [Part("relations", model.relations)] if model.relations is not None else []
        everything = [arcs, *relations] if template is None else [arcs]
        parts = everything if label is None else relations
        told = model.info.get("history", [])
        facts = _summary_facts(model, name, record)
        write_page(html, name, facts, parts, told, top=top, label=label, template=template)
        return
    if top is None and not as_json:
        top = SHOWN
    heaviest = look.features(part, top=top, label=label, template=template) if top != 0 else []
    shares = sorted(look.template_shares(part), key=lambda share: -share.total)
    if as_json:
        click.echo(
            json.dumps(
                {
                    **record,
                    "labels": [] if model.relations is None else list(model.relations.labels),
                    "projective": model.projective,
                    "single_root": model.single_root,
                    "per_template": [asdict(share) for share in shares],
                    "heaviest": [asdict(feature) for feature in heaviest],
                    "history": model.info.get("history", []),
                },
                ensure_ascii=False,
            )
        )
        return
    sections = [tables.facts(_summary_facts(model, name, record))]
    if template is None:
        sections.append(tables.shares_table("template", shares))
    if top:
        sections.append(tables.features_table(heaviest))
    if history:
        sections.append(tables.history_table(model.info.get("history", [])))
    click.echo("\n".join(sections), nl=False)


def _summary_facts(model: ParserModel, name: str, record: dict[str, Any]) -> list[tuple[str, str]]:
    from parsimon.report.tables import file_size, objective_text, of

    training = record["training"]
    pairs = [
        ("model", f"{name} ({file_size(Path(name).stat().st_size)})"),
        *((what, of(record[what], record[f"candidate_{what}"])) for what in ("features", "templates")),
        ("relations", "none" if model.relations is None else ", ".join(model.relations.labels)),
        (
            "trees",
            f"{'projective' if model.projective else 'arcs may cross'}, "
            f"{'one root' if model.single_root else 'several roots possible'}",
        ),
    ]
    if training.get("tokens"):
        pairs.append(("trained on", f"{training['tokens']:,} words in {training['sentences']:,} sentences"))
        pairs.append(("by", f"{training['loss']} loss, {training['solver']}"))
    if training.get("selection"):
        chosen = training["selection"]
        pairs.append(("templates by", f"{chosen['name']}, {len(chosen['templates'])} with a score"))
    if training.get("objective") is not None:
        pairs.append(("objective", objective_text(training)))
        pairs.append(("status", training["status"]))
    return pairs
