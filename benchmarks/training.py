"""Training side by side: time to the same objective, memory, model size, features left, test F1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from measure import Failed, middle
from parsimon.metrics import evaluate
from parsimon.report.markdown import table
from peers import Parsimon, Peer, Task, Trained
from tables import megabytes, seconds, size, times, whole
from template_strings import sentences

Say = Callable[[str], None]


@dataclass
class Record:
    """All trainings of one peer."""

    peer: Peer
    threads: int
    runs: list[Trained] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)
    failure: str | None = None

    def middle_to(self, objective: float) -> float | None:
        """The median time to an objective."""
        return middle([run.seconds_to(objective) for run in self.runs])

    def median(self, of: Callable[[Trained], float | None]) -> float | None:
        """The median of something over the repeats."""
        return middle([of(run) for run in self.runs])


def compare(
    peers: Sequence[Peer], task: Task, test: Path, repeats: int, once_above: float, say: Say
) -> list[Record]:
    """Trains all peers in turn, several times over, so that whatever slows the machine slows them all.

    Those that take longer than so many seconds have one turn.
    """
    records = []
    for peer in peers:
        if reason := peer.available():
            say(f"{peer.name}: skipped, {reason}")
        else:
            records.append(Record(peer, peer.threads(task)))
    for repeat in range(repeats):
        for record in records:
            if record.failure is None and not any(run.seconds > once_above for run in record.runs):
                _train_once(record, task, test, f"{repeat + 1}/{repeats} {record.peer.name}", say)
    return records


def _train_once(record: Record, task: Task, test: Path, title: str, say: Say) -> None:
    try:
        trained = record.peer.train(task)
        f1 = test_f1(record.peer, trained.model, task, test)
    except Failed as failure:
        record.failure = str(failure)
        say(f"{title}: failed, {failure}")
        return
    record.runs.append(trained)
    record.f1.append(f1)
    end = trained.curve[-1]
    say(
        f"{title}: {end.objective:,.1f} after {seconds(end.seconds)}, {trained.ended}, "
        f"{megabytes(trained.peak_mb)}, {end.active:,} active, F1 {100 * f1:.2f}"
    )


def without_labels(source: Path, target: Path, copies: int = 1) -> Path:
    """A labelled column file without its last column, several times over."""
    text = "".join(
        "".join(" ".join(token[:-1]) + "\n" for token in sentence) + "\n" for sentence in sentences(source)
    )
    with target.open("w", encoding="utf-8") as file:
        for _ in range(copies):
            file.write(text)
    return target


def test_f1(peer: Peer, model: Path, task: Task, test: Path) -> float:
    """Span F1 of the labels that a peer itself gives to the test file."""
    bare = without_labels(test, task.work / "test.columns")
    out = task.work / "test.labelled"
    peer.label(model, task.templates, bare, out, 1)
    gold = [[token[-1] for token in sentence] for sentence in sentences(test)]
    return evaluate(gold, [[token[-1] for token in sentence] for sentence in sentences(out)]).f1


def reference(records: Sequence[Record], record: Record) -> Record | None:
    """Parsimon on the same features with all threads: what a peer is compared with."""
    for other in records:
        full = isinstance(other.peer, Parsimon) and other.peer.most_threads is None
        if full and other.runs and other.peer.pairs == record.peer.pairs:
            return other
    return None


def time_table(records: Sequence[Record], targets: Sequence[float]) -> str:
    """Median seconds to each objective, and how many times Parsimon's that is."""
    rows = []
    for record in records:
        base = reference(records, record)
        cells = [record.peer.name, str(record.threads), whole(record.median(lambda run: run.features))]
        for target in targets:
            mine, ours = record.middle_to(target), base.middle_to(target) if base else None
            ratio = f" ({times(mine / ours)})" if mine is not None and ours and record is not base else ""
            cells.append(seconds(mine) + ratio)
        rows.append(cells)
    return table(["", "threads", "features", *(f"to {target:,.0f}" for target in targets)], rows)


def end_table(records: Sequence[Record]) -> str:
    """Where each peer ends, and when Parsimon was there; ratios are taken within each repeat."""
    rows = []
    for record in records:
        base = reference(records, record)
        if base is None or base is record:
            continue
        ends = [run.curve[-1] for run in record.runs]
        ours = [run.seconds_to(end.objective) for run, end in zip(base.runs, ends, strict=False)]
        ratios = [end.seconds / t if t else None for end, t in zip(ends, ours, strict=False)]
        rows.append(
            [
                record.peer.name,
                f"{median(end.objective for end in ends):,.1f}",
                whole(median(len(run.curve) for run in record.runs)),
                seconds(median(end.seconds for end in ends)),
                seconds(middle(ours)),
                times(middle(ratios)),
                record.runs[-1].ended,
            ]
        )
    return table(["", "objective", "iterations", "its time", "Parsimon's", "ratio", "it stopped"], rows)


def rest_table(records: Sequence[Record]) -> str:
    """What a training costs besides time, and what it leaves."""
    rows = []
    for record in records:
        rows.append(
            [
                record.peer.name,
                f"{median(run.curve[-1].objective for run in record.runs):,.1f}",
                seconds(record.median(lambda run: run.seconds)),
                megabytes(record.median(lambda run: run.peak_mb)),
                size(median(run.model_bytes for run in record.runs)),
                whole(record.median(lambda run: run.curve[-1].active)),
                f"{100 * median(record.f1):.2f}",
            ]
        )
    head = ["", "objective", "whole process", "peak memory", "model file", "active features", "test F1"]
    return table(head, rows)


def certificates(records: Sequence[Record]) -> str:
    """How near to the optimum Parsimon ends: the worst violated optimality condition, and the duality gap."""
    lines = []
    for record in records:
        if isinstance(record.peer, Parsimon):
            run, took = record.runs[-1], record.median(lambda run: run.curve[-1].seconds)
            kkt, gap, objective = run.details["kkt"], run.details["gap"], run.curve[-1].objective
            text = f"- {record.peer.name}: {run.ended} after {seconds(took)}, objective {objective:,.4f}"
            if kkt is not None:
                text += f", largest violation of the optimality conditions {kkt:.2e}"
            if gap is not None:
                text += f", duality gap {gap:.2e} ({gap / objective:.1e} of the objective)"
            lines.append(text + ".\n")
    return "".join(lines)


def report(records: Sequence[Record], task: Task) -> str:
    """All tables."""
    ran = [record for record in records if record.runs]
    text = (
        "Seconds since the training file was opened to an objective, in brackets how many times Parsimon's "
    )
    repeats = max((len(record.runs) for record in ran), default=0)
    once = [record.peer.name for record in ran if len(record.runs) < repeats]
    text += f"(ρ1 = {task.rho1:g}, ρ2 = {task.rho2:g}; medians of {repeats}"
    text += f"; run once: {', '.join(once)}" if once else ""
    text += "):\n\n"
    text += time_table(ran, task.targets)
    if any(reference(ran, record) not in (None, record) for record in ran):
        text += "\nEach to the objective where it ends:\n\n" + end_table(ran)
    text += "\nWhat it costs and what is left:\n\n" + rest_table(ran)
    if any(isinstance(record.peer, Parsimon) for record in ran):
        text += "\nWhere Parsimon ends:\n\n" + certificates(ran)
    text += "".join(
        f"\n{record.peer.name} failed: {record.failure}\n" for record in records if record.failure
    )
    return text


def as_json(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Everything measured, curves included."""
    return [
        {
            "peer": record.peer.name,
            "pairs": record.peer.pairs,
            "threads": record.threads,
            "failure": record.failure,
            "f1": record.f1,
            "runs": [
                {
                    "features": run.features,
                    "seconds": run.seconds,
                    "peak_mb": run.peak_mb,
                    "model_bytes": run.model_bytes,
                    "ended": run.ended,
                    "curve": [[p.seconds, p.objective, p.active] for p in run.curve],
                    **run.details,
                }
                for run in record.runs
            ],
        }
        for record in records
    ]
