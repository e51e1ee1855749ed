"""What came of a command that was given a damaged file: it worked, was refused in one sentence, or misbehaved."""

from __future__ import annotations

import json
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from click.testing import CliRunner, Result

from parsimon.cli import program

SECONDS = 60  # that no command on these small data needs


class Hang(BaseException):
    """A command did not end."""


@contextmanager
def bounded(seconds: int = SECONDS) -> Iterator[None]:
    """Within it, a command that runs for longer raises `Hang`."""

    def expired(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(arguments: Sequence[str], *, seconds: int = SECONDS) -> tuple[str, str]:
    """What a command did: `worked`, `refused`, or a word for what it must not do; and details."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with bounded(seconds):
                result = CliRunner().invoke(program, list(arguments))
        except Hang:
            return "hang", " ".join(arguments)
    return judged(result, "--json" in arguments)


def judged(result: Result, as_json: bool = False) -> tuple[str, str]:
    """A result of a command in a word, and details."""
    error = result.exception
    if isinstance(error, Hang):
        return "hang", ""
    if error is not None and not isinstance(error, SystemExit):
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {last.filename.rpartition('/')[2]}:{last.lineno}"
        return f"traceback {place}", "".join(traceback.format_exception(error))
    said = result.stderr.splitlines()
    if result.exit_code == 2:
        sentences = said and all(line.startswith("parsimon: ") for line in said)
        return ("refused" if sentences else "several lines"), result.stderr
    if result.exit_code != 0:
        return f"exit code {result.exit_code}", result.stderr
    return ("not a number" if _has_nan(result.stdout, as_json) else "worked"), result.stdout


def _has_nan(text: str, as_json: bool) -> bool:
    """Whether a number in the output is none."""
    if as_json:
        found: list[str] = []
        for line in text.splitlines():
            if line.startswith("{"):
                json.loads(line, parse_constant=found.append)
        return bool(found)
    return bool(
        {"nan", "inf", "-inf", "+nan", "+inf"} & {word.strip("(),:%") for word in text.lower().split()}
    )


class Tally:
    """How often each thing happened, with an example of each that must not happen."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.bad: dict[str, Any] = {}

    def add(self, name: str, word: str, example: Any) -> bool:
        """Counts it; whether it is a finding."""
        wrong = word not in ("worked", "refused")
        self.counts[name, "FINDING" if wrong else word] += 1
        if wrong:
            self.bad.setdefault(f"{name}: {word}", example)
        return wrong

    def table(self) -> str:
        """A line for each name."""
        names = sorted({name for name, _ in self.counts})
        words = ("worked", "refused", "FINDING")
        rows = [f"{n:24}" + "".join(f"{self.counts[n, w]:10}" for w in words) for n in names]
        total = f"{'all':24}" + "".join(f"{sum(self.counts[n, w] for n in names):10}" for w in words)
        return "\n".join([f"{'':24}" + "".join(f"{w:>10}" for w in words), *rows, total])
