"""How long it takes before anything happens: importing Parsimon, asking for help, and labelling one sentence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

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
    with TemporaryDirectory() as folder:
        if (path := found("parsimon", program)) is not None:
            commands["parsimon --help"] = [path, "--help"]
            commands["parsimon predict MODEL SENTENCE"] = _predict(path, Path(folder))
        measured: dict[str, list[float]] = {name: [] for name in commands}
        for repeat in range(repeats + 1):
            for name, command in commands.items():
                took = run(command).seconds
                if repeat:
                    measured[name].append(took)
    return measured


def _predict(parsimon: str, folder: Path) -> list[str]:
    """The command that labels one sentence, with a small model that it needs."""
    data, templates, model = (str(folder / name) for name in ("data", "templates", "model"))
    Path(data).write_text("the DT\ndog NN\nbarks VB\n", encoding="utf-8")
    Path(templates).write_text("U0:%x[0,0]\nB\n", encoding="utf-8")
    run([parsimon, "train", "sequence", data, "-t", templates, "-m", model, "--quiet"])
    return [parsimon, "predict", model, data, "-o", str(folder / "labelled")]


def report(measured: dict[str, list[float]]) -> str:
    """Medians."""
    rows = [[f"`{name}`", seconds(median(values))] for name, values in measured.items()]
    repeats = max(map(len, measured.values()))
    return f"Wall-clock time (medians of {repeats}):\n\n" + table(["", "time"], rows)
