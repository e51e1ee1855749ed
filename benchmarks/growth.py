"""How Parsimon's time and memory grow with sentences, labels and templates."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from measure import Failed, middle
from parsimon.features.ngram_templates import ngrams
from parsimon.features.templates import TemplateSet
from parsimon.report.markdown import table
from peers import Parsimon, Task, Trained
from tables import megabytes, seconds, whole
from template_strings import sentences

SEED = 1


@dataclass
class Case:
    """One size of the problem."""

    name: str
    sentences: int
    labels: int
    templates: int
    task: Task
    runs: list[Trained] = field(default_factory=list)
    failure: str | None = None


def cases(task: Task) -> Iterator[Case]:
    """The problem itself, and larger and smaller ones, one thing changed at a time."""
    data = list(sentences(task.train))
    templates = TemplateSet.load(task.templates)
    labels = len({token[-1] for sentence in data for token in sentence})
    base = Case("as it is", len(data), labels, len(templates), task)
    yield base
    for copies in (0.25, 0.5, 2, 4):
        more = resized(data, copies)
        file = _write(more, task.work / f"sentences-{copies:g}.columns")
        yield replace(
            base, name=f"sentences × {copies:g}", sentences=len(more), task=replace(task, train=file), runs=[]
        )
    for ways in (2, 4):
        split = relabelled(data, ways * labels)
        file = _write(split, task.work / f"labels-{ways}.columns")
        n = len({token[-1] for sentence in split for token in sentence})
        yield replace(base, name=f"labels × {ways}", labels=n, task=replace(task, train=file), runs=[])
    for name, chosen in (
        ("fewer templates", fewer(templates)),
        ("more templates", more_templates(templates)),
    ):
        file = task.work / f"{name.replace(' ', '-')}.tpl"
        file.write_text(chosen.dumps(), encoding="utf-8")
        yield replace(base, name=name, templates=len(chosen), task=replace(task, templates=file), runs=[])


def resized(data: list[list[list[str]]], copies: float) -> list[list[list[str]]]:
    """A sample of the sentences, or all of them several times, shuffled. Copies bring no new attributes."""
    chosen = random.Random(SEED).sample(data, int(len(data) * copies)) if copies < 1 else data * int(copies)
    random.Random(SEED).shuffle(chosen)
    return chosen


def relabelled(data: list[list[list[str]]], n_labels: int) -> list[list[list[str]]]:
    """The same with every label split by the word that bears it, into so many labels in all.

    A label cannot be split further than it has words; what the rare ones lack goes to the one with most words.
    """
    words: dict[str, dict[str, int]] = {}
    for token in (token for sentence in data for token in sentence):
        known = words.setdefault(token[-1], {})
        known.setdefault(token[0], len(known))
    share = {label: min(n_labels // len(words), len(known)) for label, known in words.items()}
    richest = max(words, key=lambda label: len(words[label]))
    share[richest] += n_labels - sum(share.values())
    return [[[*t[:-1], f"{t[-1]}{words[t[-1]][t[0]] % share[t[-1]]}"] for t in sentence] for sentence in data]


def fewer(templates: TemplateSet) -> TemplateSet:
    """Every other node template, and all label pairs."""
    nodes = [t for t in templates if t.kind == "node"][::2]
    return TemplateSet((*nodes, *(t for t in templates if t.kind != "node")), templates.boundary)


def more_templates(templates: TemplateSet) -> TemplateSet:
    """The same and all n-grams of the first two columns in ±3."""
    extra = ngrams(0, n=(1, 2, 3), window=3, name="more0")
    if templates.n_columns > 1:
        extra += ngrams(1, n=(1, 2, 3), window=3, name="more1")
    return templates + TemplateSet(extra.templates, templates.boundary)


def _write(data: list[list[list[str]]], target: Path) -> Path:
    with target.open("w", encoding="utf-8") as file:
        for sentence in data:
            file.write("".join(" ".join(token) + "\n" for token in sentence) + "\n")
    return target


def measure(
    peer: Parsimon, task: Task, repeats: int, once_above: float, say: Callable[[str], None]
) -> list[Case]:
    """Trains all sizes in turn, several times over; those that take longer than so many seconds, once."""
    if reason := peer.available():
        say(f"{peer.name}: skipped, {reason}")
        return []
    measured = list(cases(task))
    for repeat in range(repeats):
        for case in measured:
            if case.failure is None and not any(run.seconds > once_above for run in case.runs):
                try:
                    case.runs.append(peer.train(case.task))
                except Failed as failure:
                    case.failure = str(failure)
                end = case.failure or f"{seconds(case.runs[-1].seconds)}, {megabytes(case.runs[-1].peak_mb)}"
                say(f"{repeat + 1}/{repeats} {case.name}: {end}")
    return measured


def report(measured: Sequence[Case]) -> str:
    """One row a size; time an iteration is all the time after the set-up over the number of iterations."""
    rows = []
    for case in measured:
        if not case.runs:
            continue
        steps = len(case.runs[0].curve) - 1
        start, end = (median(run.curve[i].seconds for run in case.runs) for i in (0, -1))
        rows.append(
            [
                case.name,
                whole(case.sentences),
                str(case.labels),
                str(case.templates),
                whole(case.runs[0].features),
                whole(case.runs[0].curve[-1].active),
                seconds(start),
                str(steps),
                seconds((end - start) / steps if steps else None),
                seconds(end),
                megabytes(middle([run.peak_mb for run in case.runs])),
            ]
        )
    problem = ["", "sentences", "labels", "templates", "features", "left"]
    head = [*problem, "set-up", "iterations", "an iteration", "in all", "peak memory"]
    repeats = max((len(case.runs) for case in measured), default=0)
    text = f"Parsimon to its tolerance (medians of {repeats}); set-up is reading, numbering and the "
    text += "first look at all features:\n\n" + table(head, rows)
    return text + "".join(f"\n{case.name} failed: {case.failure}\n" for case in measured if case.failure)


def as_json(measured: Sequence[Case]) -> list[dict[str, Any]]:
    """Everything measured."""
    return [
        {
            "case": case.name,
            "sentences": case.sentences,
            "labels": case.labels,
            "templates": case.templates,
            "failure": case.failure,
            "runs": [
                {
                    "features": run.features,
                    "active": run.curve[-1].active,
                    "iterations": len(run.curve) - 1,
                    "set_up_seconds": run.curve[0].seconds,
                    "seconds": run.curve[-1].seconds,
                    "peak_mb": run.peak_mb,
                    "ended": run.ended,
                }
                for run in case.runs
            ],
        }
        for case in measured
    ]
