"""What a person sees while a model is trained: a bar in a terminal, plain lines, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TextIO

from parsimon.characters.printable import one_line
from parsimon.report.time_left import TimeLeft

if TYPE_CHECKING:
    from parsimon.solvers.base import Event

LINE_EVERY = 5.0  # seconds between plain lines


class Progress:
    """Told what phase it is and what happens, of which it says nothing; others do.

    It is a context, so that a terminal is left as it was found.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def phase(self, text: str, done: float | None = None) -> None:
        """Something begins; `done` is the share of the training that is done by then, where that can be said."""

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        """A solver begins: after how many iterations it ends, and at which residual, given the first."""

    def __call__(self, event: Event) -> None:
        """A training event."""


class ProgressLines(Progress):
    """A line for every phase, and one every few seconds of training."""

    def __init__(
        self, stream: TextIO, *, began: float, time_left: TimeLeft, every: float = LINE_EVERY
    ) -> None:
        self._stream = stream
        self._began = began
        self._time_left = time_left
        self._every = every
        self._last = self._last_phase = float("-inf")

    def phase(self, text: str, done: float | None = None) -> None:
        """A line, unless many short parts follow each other."""
        now = time.perf_counter() - self._began
        self._time_left.phase(now, done)
        if done is None or now - self._last_phase >= self._every:
            self._last_phase = now
            self._print(now, text)

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        """For the time that is left."""
        self._time_left.fit(max_iter, end)

    def __call__(self, event: Event) -> None:
        """A line, if the last one is some time ago."""
        self._time_left.see(event)
        if event.seconds - self._last >= self._every:
            self._last = event.seconds
            left = left_text(self._time_left.seconds(event.seconds))
            self._print(event.seconds, f"iteration {event.iteration}: {figures(event)}{left and ', '}{left}")

    def _print(self, seconds: float, text: str) -> None:
        print(f"{seconds:8.1f} s  {one_line(text)}", file=self._stream, flush=True)


class ProgressBar(Progress):
    """One line that is drawn again and again, and is gone at the end."""

    def __init__(self, *, began: float, time_left: TimeLeft) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        self._began = began
        self._time_left = time_left
        self._dev: float | None = None
        self._training = False
        clock = self._clock

        class Clock(ProgressColumn):
            """Drawn several times a second, so that time passes between events too."""

            def render(self, task: Any) -> Text:
                return Text(clock())

        console = Console(stderr=True)
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *([BarColumn(bar_width=16)] if console.width >= 100 else []),  # figures matter more
            TextColumn("{task.fields[figures]}"),
            Clock(),
            console=console,
            transient=True,
            refresh_per_second=5,
        )
        self._task = self._bar.add_task("", total=None, figures="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.stop()

    def phase(self, text: str, done: float | None = None) -> None:
        """A name in front of a bar that only shows that there is life."""
        now = time.perf_counter() - self._began
        self._time_left.phase(now, done)
        self._training = done is not None
        self._bar.update(self._task, description=one_line(text), figures="")
        self._move(now)

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        """For the time that is left."""
        self._time_left.fit(max_iter, end)

    def __call__(self, event: Event) -> None:
        """Moves the bar, if it can be said by how much, and shows the figures."""
        self._training = True
        self._time_left.see(event)
        self._dev = event.dev if event.dev is not None else self._dev
        self._bar.update(self._task, figures=figures(event, self._dev))
        self._move(event.seconds)

    def _move(self, now: float) -> None:
        left = self._time_left.seconds(now) if self._training else None
        self._bar.update(self._task, total=None if left is None else max(now + left, 1e-9), completed=now)

    def _clock(self) -> str:
        now = time.perf_counter() - self._began
        left = left_text(self._time_left.seconds(now)) if self._training else ""
        return f"{duration(now)}{left and ', '}{left}"


def progress(stream: TextIO, *, quiet: bool, verbose: bool, began: float, time_left: TimeLeft) -> Progress:
    """A bar if `stream` is a terminal, lines if they were asked for, and otherwise nothing."""
    if quiet:
        return Progress()
    if verbose:
        return ProgressLines(stream, began=began, time_left=time_left)
    return ProgressBar(began=began, time_left=time_left) if stream.isatty() else Progress()


def figures(event: Event, dev: float | None = None) -> str:
    """Objective, active features and development score."""
    parts = [f"objective {event.objective:,.6g}", f"{event.active:,} active"]
    dev = event.dev if event.dev is not None else dev
    if dev is not None:
        parts.append(f"dev {100 * dev:.2f}%")
    return ", ".join(parts)


def left_text(seconds: float | None) -> str:
    """For instance ``about 1:05 left``; nothing when nothing is known."""
    return "" if seconds is None else f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """Minutes and seconds, with hours when there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
