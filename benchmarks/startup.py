"""How long it takes before anything happens: importing Parsimon, and asking its command line for help."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

from measure import run
from parsimon.report.markdown import table
from peers import found
from tables import seconds


def measure(program: str | None, repeats: int) -> dict[str, list[float]]:
    """Wall-clock seconds, in turn, after a first time that warms the file cache."""
    commands: dict[str, Sequence[str]] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import parsimon'": [sys.executable, "-c", "import parsimon"],
        "python -c 'from parsimon import SequenceLabeler'": [
            sys.executable,
            "-c",
            "from parsimon import SequenceLabeler",
        ],
    }
    if (path := found("parsimon", program)) is not None:
        commands["parsimon --help"] = [path, "--help"]
    measured: dict[str, list[float]] = {name: [] for name in commands}
    for repeat in range(repeats + 1):
        for name, command in commands.items():
            took = run(command).seconds
            if repeat:
                measured[name].append(took)
    return measured


def report(measured: dict[str, list[float]]) -> str:
    """Medians."""
    rows = [[f"`{name}`", seconds(median(values))] for name, values in measured.items()]
    repeats = max(map(len, measured.values()))
    return f"Wall-clock time (medians of {repeats}):\n\n" + table(["", "time"], rows)
