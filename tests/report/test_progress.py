"""Progress as plain lines."""

from __future__ import annotations

import io
import time

import pytest

from parsimon.report.progress import Progress, ProgressLines, duration, figures, progress
from parsimon.report.time_left import TimeLeft
from parsimon.solvers.base import Event


def event(seconds: float, dev: float | None = None) -> Event:
    return Event(int(seconds), seconds, objective=12580.25, active=51489, evaluations=1, dev=dev)


def test_a_line_every_few_seconds():
    stream = io.StringIO()
    with ProgressLines(stream, began=time.perf_counter(), time_left=TimeLeft(), every=5) as lines:
        lines.phase("reading")
        for seconds in (0.0, 1.0, 4.9, 5.1, 6.0, 10.2):
            lines(event(seconds))
    shown = stream.getvalue().splitlines()
    assert shown[0].endswith("reading")
    assert [line.split()[0] for line in shown[1:]] == ["0.0", "5.1", "10.2"]
    assert shown[1].endswith("iteration 0: objective 12,580.2, 51,489 active")


def test_the_time_left_is_said_when_it_is_known():
    stream = io.StringIO()
    ProgressLines(stream, began=0.0, time_left=TimeLeft(time_limit=70))(event(5.0))
    assert stream.getvalue().endswith("about 1:05 left\n")


def test_a_development_score_is_shown_as_a_percentage():
    assert figures(event(1.0, dev=0.9371)).endswith("dev 93.71%")
    assert figures(event(1.0), dev=0.5).endswith("dev 50.00%")
    assert "dev" not in figures(event(1.0))


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.7, "1:00"), (61, "1:01"), (3723, "1:02:03")])
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_what_is_shown_where():
    settings = {"began": 0.0, "time_left": TimeLeft()}
    assert type(progress(io.StringIO(), quiet=False, verbose=False, **settings)) is Progress
    assert type(progress(io.StringIO(), quiet=False, verbose=True, **settings)) is ProgressLines
    assert type(progress(io.StringIO(), quiet=True, verbose=True, **settings)) is Progress


def test_names_of_files_do_not_steer_the_terminal():
    stream = io.StringIO()
    ProgressLines(stream, began=time.perf_counter(), time_left=TimeLeft(None)).phase("reading a\x1b[2J\nb")
    assert stream.getvalue().endswith("reading a\\x1b[2J\\nb\n")


def test_names_of_files_are_no_markup():
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    with progress(
        stream, quiet=False, verbose=False, began=time.perf_counter(), time_left=TimeLeft(None)
    ) as bar:
        bar.phase("reading [/nothing].txt")
        bar._bar.refresh()
