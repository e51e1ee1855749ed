"""Labelling side by side: tokens a second from a file of columns to a file with labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from measure import Failed
from parsimon.report.markdown import table
from peers import FILE_TO_FILE, WHOLE, Parsimon, Peer, Task
from tables import seconds, times, whole
from template_strings import sentences
from training import without_labels


@dataclass
class Rate:
    """The labellings of one peer with one number of threads: seconds by what they include."""

    peer: Peer
    threads: int
    model: Path
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failure: str | None = None

    def rates(self, tokens: int) -> dict[str, float]:
        """Median tokens a second by what they include; none for times lost in that of starting up."""
        return {what: tokens / median(values) for what, values in self.seconds.items() if median(values) > 0}


def compare(
    peers: Sequence[Peer],
    task: Task,
    test: Path,
    copies: int,
    repeats: int,
    models: dict[str, Path],
    say: Callable[[str], None],
) -> tuple[int, list[Rate]]:
    """Labels the test file, repeated, with all peers in turn; trains those that have no model yet."""
    big = without_labels(test, task.work / "label.columns", copies)
    small = task.work / "label-one.columns"
    first = next(sentences(big))
    small.write_text("".join(" ".join(token) + "\n" for token in first) + "\n", encoding="utf-8")
    tokens = sum(len(sentence) for sentence in sentences(big))
    rates = []
    for peer in peers:
        model = _model(peer, task, models, say)
        if model is not None:
            rates += [Rate(peer, threads, model) for threads in peer.label_threads]
    for repeat in range(repeats):
        for rate in rates:
            if rate.failure is None:
                _label_once(rate, task, big, small)
                title = f"{repeat + 1}/{repeats} {rate.peer.name}, threads: {rate.threads}"
                say(f"{title}: {rate.failure or 'done'}")
    return tokens, rates


def _model(peer: Peer, task: Task, models: dict[str, Path], say: Callable[[str], None]) -> Path | None:
    if reason := peer.available():
        say(f"{peer.name}: skipped, {reason}")
        return None
    if peer.name not in models:
        say(f"{peer.name}: training a model")
        try:
            models[peer.name] = peer.train(task).model
        except Failed as failure:
            say(f"{peer.name}: failed, {failure}")
            return None
    return models[peer.name]


def _label_once(rate: Rate, task: Task, big: Path, small: Path) -> None:
    out = task.work / "labelled"
    try:
        start_up = rate.peer.label(rate.model, task.templates, small, out, rate.threads).seconds[WHOLE]
        labelled = rate.peer.label(rate.model, task.templates, big, out, rate.threads).seconds
    except Failed as failure:
        rate.failure = str(failure)
        return
    # A program that does not time itself is timed as a whole, less what one sentence takes.
    net = {FILE_TO_FILE: labelled[WHOLE] - start_up}
    for what, value in {**net, **labelled, "start-up": start_up}.items():
        rate.seconds.setdefault(what, []).append(value)


def report(tokens: int, rates: Sequence[Rate]) -> str:
    """Rates, and how many times as fast Parsimon is on one thread and on two."""
    ours = {
        rate.threads: rate.rates(tokens).get(FILE_TO_FILE)
        for rate in rates
        if isinstance(rate.peer, Parsimon) and rate.peer.pairs == "all"
    }
    rows = []
    for rate in rates:
        if not rate.seconds:
            continue
        measured = rate.rates(tokens)
        ways = [FILE_TO_FILE, *(what for what in measured if what not in (FILE_TO_FILE, WHOLE, "start-up"))]
        for what in ways:
            own = measured.get(what)
            rows.append(
                [
                    f"{rate.peer.name}" + ("" if what == FILE_TO_FILE else f": {what}"),
                    str(rate.threads),
                    whole(own),
                    whole(measured[WHOLE]) if what == FILE_TO_FILE else "",
                    seconds(median(rate.seconds["start-up"])) if what == FILE_TO_FILE else "",
                    *(times(our / own if (our := ours.get(n)) and own else None) for n in (1, 2)),
                ]
            )
    repeats = max((len(values) for rate in rates for values in rate.seconds.values()), default=0)
    text = (
        f"{tokens:,} tokens, from a file of columns to a file with labels (medians of {repeats}); the last "
    )
    text += "two columns say how many times as fast Parsimon is:\n\n"
    head = [
        "",
        "threads",
        "tokens/s",
        "with start-up",
        "start-up",
        "Parsimon, 1 thread",
        "Parsimon, 2 threads",
    ]
    text += table(head, rows)
    return text + "".join(f"\n{rate.peer.name} failed: {rate.failure}\n" for rate in rates if rate.failure)


def as_json(tokens: int, rates: Sequence[Rate]) -> dict[str, Any]:
    """Everything measured."""
    return {
        "tokens": tokens,
        "rates": [
            {
                "peer": rate.peer.name,
                "threads": rate.threads,
                "seconds": rate.seconds,
                "failure": rate.failure,
            }
            for rate in rates
        ],
    }
