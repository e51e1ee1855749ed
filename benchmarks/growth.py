"""How Parsimon's time and memory grow with sentences, labels and templates, and what threads are worth."""

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
CORES = 16  # for which the speed-up is worked out from the serial share


@dataclass
class Case:
    """One size of the problem."""

    name: str
    sentences: int
    labels: int
    templates: int
    task: Task
    runs: list[Trained] = field(default_factory=list)  # with all threads
    alone: list[Trained] = field(default_factory=list)  # with one
    failure: str | None = None

    @property
    def seconds(self) -> float:
        """From opening the file to the last iteration, with all threads."""
        return median(run.curve[-1].seconds for run in self.runs)

    @property
    def seconds_alone(self) -> float:
        """The same with one thread."""
        return median(run.curve[-1].seconds for run in self.alone)

    @property
    def serial_share(self) -> float:
        """What part of the time with one thread no further thread makes shorter."""
        return serial_share(self.seconds_alone, self.seconds, self.task.threads)


def serial_share(one: float, many: float, threads: int) -> float:
    """Amdahl's law solved for s: T(n) = T(1) · (s + (1 − s) / n)."""
    return (many / one - 1 / threads) / (1 - 1 / threads)


def speed_up(serial: float, threads: int) -> float:
    """By Amdahl's law: T(1) / T(n)."""
    return 1 / (serial + (1 - serial) / threads)


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
        changed = replace(task, train=file)
        yield replace(base, name=f"labels × {ways}", labels=n, task=changed, runs=[], alone=[])
    for name, chosen in (
        ("fewer templates", fewer(templates)),
        ("more templates", more_templates(templates)),
    ):
        file = task.work / f"{name.replace(' ', '-')}.tpl"
        file.write_text(chosen.dumps(), encoding="utf-8")
        changed = replace(task, templates=file)
        yield replace(base, name=name, templates=len(chosen), task=changed, runs=[], alone=[])


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
    """Trains all sizes in turn, several times over, with one thread and with all; the slow ones once."""
    if reason := peer.available():
        say(f"{peer.name}: skipped, {reason}")
        return []
    single = replace(peer, most_threads=1)
    measured = list(cases(task))
    for repeat in range(repeats):
        for case in measured:
            if case.failure is None and not any(run.seconds > once_above for run in case.runs):
                try:
                    case.alone.append(single.train(case.task))
                    case.runs.append(peer.train(case.task))
                except Failed as failure:
                    case.failure = str(failure)
            end = case.failure
            if end is None:
                one, all_threads = case.alone[-1], case.runs[-1]
                end = f"{seconds(one.seconds)} and {seconds(all_threads.seconds)}, {megabytes(all_threads.peak_mb)}"
            say(f"{repeat + 1}/{repeats} {case.name}: {end}")
    return measured


def report(measured: Sequence[Case]) -> str:
    """A table of sizes, and one of threads."""
    done = [case for case in measured if case.runs]
    if not done:
        return "".join(f"{case.name} failed: {case.failure}\n" for case in measured)
    threads, repeats = done[0].task.threads, max(len(case.runs) for case in done)
    text = f"Parsimon with {threads} threads (medians of {repeats}); set-up is reading, numbering and the "
    text += "first look at all features, and × is how many times the first row's time that is:\n\n"
    text += _sizes(done) + "\n" + _threads(done)
    return text + "".join(f"\n{case.name} failed: {case.failure}\n" for case in measured if case.failure)


def _sizes(done: Sequence[Case]) -> str:
    """One row a size; time an iteration is all the time after the set-up over the number of iterations."""
    rows = []
    for case in done:
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
                f"{end / done[0].seconds:.2f}",
                megabytes(middle([run.peak_mb for run in case.runs])),
            ]
        )
    problem = ["", "sentences", "labels", "templates", "features", "left"]
    head = [*problem, "set-up", "iterations", "an iteration", "in all", "×", "peak memory"]
    return table(head, rows)


def _threads(done: Sequence[Case]) -> str:
    """One row a size: time and memory with one thread and with several, and what Amdahl's law makes of that."""
    threads, rows = done[0].task.threads, []
    if threads < 2:
        return "With a single thread there is nothing to compare.\n"
    for case in done:
        ratio, serial = case.seconds_alone / case.seconds, case.serial_share
        rows.append(
            [
                case.name,
                seconds(case.seconds_alone),
                seconds(case.seconds),
                f"{ratio:.2f}",
                f"{100 * serial:.1f} %",
                f"{speed_up(max(serial, 0.0), CORES):.1f}",
                megabytes(middle([run.peak_mb for run in case.alone])),
                megabytes(middle([run.peak_mb for run in case.runs])),
            ]
        )
    times = ["1 thread", f"{threads} threads", "times as fast", "serial share", f"with {CORES} cores"]
    text = "What threads are worth: the serial share is what Amdahl's law makes of the two times, and with it, how "
    text += f"many times as fast {CORES} cores would be.\n\n"
    return text + table(["", *times, "memory, 1 thread", f"memory, {threads} threads"], rows)


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
                    "threads": threads,
                }
                for threads, runs in ((1, case.alone), (case.task.threads, case.runs))
                for run in runs
            ],
        }
        for case in measured
    ]
