"""Running another program and measuring it: its lines with the time each came, and its peak memory.

Peak memory is what the kernel says of the finished child (`ru_maxrss`). A child starts as a copy of this
process, so the figure is never below what this process itself has used; that is why nothing large is done
here, and why `Run.peak_mb` is None when the child did not need more than that.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

GRACE = 120.0  # seconds that a program has for writing its model after it was interrupted


class Failed(Exception):
    """A program that was measured ended with an error; the message has the last line that it printed."""


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    seconds: float  # from just before it was started to its end
    peak_mb: float | None
    lines: list[tuple[float, str]]  # what it printed, each line with the seconds since it was started
    interrupted: bool = False


def run(
    command: Sequence[str | Path], *, limit: float = 3600.0, enough: Callable[[str], bool] | None = None
) -> Run:
    """Runs a program to its end, or until `enough` says so of a line, or for `limit` seconds.

    It is stopped by the signal of Ctrl-C, at which all programs here that can write their model do so.
    """
    began = time.perf_counter()
    child = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert child.stdout is not None
    lines: list[tuple[float, str]] = []
    with _stopped_after(child.pid, limit) as interrupted:
        try:
            for raw in child.stdout:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                lines.append((time.perf_counter() - began, line))
                if enough is not None and not interrupted.is_set() and enough(line):
                    interrupted.set()
                    os.kill(child.pid, signal.SIGINT)
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # Ctrl-C: the program must not go on alone
            child.kill()
            child.wait()
            raise
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0 and not interrupted.is_set():
        last = next((line.strip() for _, line in reversed(lines) if line.strip()), "it printed nothing")
        raise Failed(f"{Path(command[0]).name} ended with code {child.returncode}: {last}")
    return Run(seconds, _peak_mb(usage), lines, interrupted.is_set())


@contextmanager
def _stopped_after(pid: int, limit: float) -> Iterator[threading.Event]:
    """Interrupts a process after `limit` seconds and kills it if it has not ended `GRACE` seconds later."""
    interrupted = threading.Event()

    def interrupt() -> None:
        interrupted.set()
        os.kill(pid, signal.SIGINT)

    timers = [
        threading.Timer(limit, interrupt),
        threading.Timer(limit + GRACE, os.kill, (pid, signal.SIGKILL)),
    ]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield interrupted
    finally:
        for timer in timers:
            timer.cancel()


def _peak_mb(usage: resource.struct_rusage) -> float | None:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss / 1024 if usage.ru_maxrss > own else None  # Linux counts in KB


def middle(values: Sequence[float | None]) -> float | None:
    """The median, or None when less than half of the repeats have a value."""
    known = [value for value in values if value is not None]
    return median(known) if 2 * len(known) > len(values) else None
