"""A run of `parsimon learn network`: what is its own in the frame of learning."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from parsimon.cli.learn import NetworkJob
from parsimon.cli.output import check_writable
from parsimon.cli.training_run import Callbacks, LearningRun, everything
from parsimon.data.csv_tables import SEPARATORS, CsvTable, read_table
from parsimon.data.discrete_table import DiscreteTable
from parsimon.errors import ParsimonError
from parsimon.files import write_atomically_or_explain
from parsimon.report.figure_file import check_ending, save_figure
from parsimon.report.network_drawing import draw_model
from parsimon.report.network_tables import edges_table, summary_text
from parsimon.report.progress import Progress
from parsimon.report.time_left import TimeLeft
from parsimon.tasks.model_file import save_model
from parsimon.tasks.networks.model import NetworkModel
from parsimon.tasks.networks.training import NetworkTraining


def run(job: NetworkJob) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    check_files(job)
    NetworkRun(job, began=began).carry_out()


@dataclass
class NetworkRun(LearningRun[NetworkModel]):
    """A table in, a network out, and perhaps a drawing and a list of edges."""

    job: NetworkJob
    nothing_left = "nothing was written"
    best_left = "this is the best network so far"

    def time_left(self) -> TimeLeft:
        """The limits that were asked for."""
        return TimeLeft(self.job.max_iter, self.job.time_limit)

    def asked(self) -> dict[str, Any]:
        """Everything."""
        return everything(self.job)

    def learn(self, watch: Progress, callbacks: Callbacks) -> NetworkModel:
        """Reads and learns."""
        return fit(self.job, watch, callbacks)

    def write(self, learnt: NetworkModel, watch: Progress) -> None:
        """The files that were asked for."""
        watch.phase("writing")
        write(self.job, learnt)

    def info(self, learnt: NetworkModel) -> Mapping[str, Any]:
        """What the model remembers."""
        return learnt.info

    def record(self, learnt: NetworkModel, seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON."""
        return summary(self.job, learnt, len(self.events), seconds)

    def text(self, learnt: NetworkModel, record: dict[str, Any]) -> str:
        """The same for people, and the strongest edges."""
        text = summary_text(record)
        if self.job.top:
            text += "\n" + edges_table(learnt.strongest(), self.job.top)
        return text


def check_files(job: NetworkJob) -> None:
    """Refuses what could not be written at the end, and what would be lost by writing."""
    targets = {"the model": job.model, "the drawing": job.draw, "the edges": job.edges, "the log": job.log}
    if job.draw is not None:
        check_ending(job.draw)
    for what, target in targets.items():
        if target is None:
            continue
        if str(target) == "-":
            raise ParsimonError(f"{what} must be a file; {target} is standard output.")
        check_writable(target, what)
        if job.table != "-" and target.exists() and Path(job.table).exists() and target.samefile(job.table):
            raise ParsimonError(f"{job.table} would be overwritten by {what}; name another file.")


def fit(job: NetworkJob, watch: Progress, callbacks: Callbacks) -> NetworkModel:
    """Reads and learns."""
    watch.phase(f"reading {'standard input' if job.table == '-' else Path(job.table).name}")
    csv = read_table(
        job.table,
        separator=None if job.separator is None else SEPARATORS[job.separator],
        header=job.header,
        missing=job.missing,  # type: ignore[arg-type]
        encoding=job.encoding,
    )
    watch.phase("learning")
    training = NetworkTraining(
        alpha=job.alpha,
        loss=job.loss,
        inference=job.inference,
        stability=job.stability,
        stability_threshold=job.threshold,
        tol=job.tol,
        max_iter=job.max_iter,
        time_limit=job.time_limit,
        threads=job.threads,
        seed=job.seed,
        callbacks=callbacks,
    )
    if job.solver is not None:
        training = replace(training, solver=job.solver)
    model = training.fit(discrete(csv, job)).model
    return replace(model, info={**model.info, "dropped": csv.dropped})


def discrete(csv: CsvTable, job: NetworkJob) -> DiscreteTable:
    """The cells as states, each column's by its name."""
    try:
        return DiscreteTable.learn(csv.rows, names=csv.names, max_states=job.max_states)
    except ParsimonError as error:
        name = "standard input" if job.table == "-" else job.table
        raise ParsimonError(f"{name}: {str(error).replace('max_states', '--max-states')}") from None


def write(job: NetworkJob, model: NetworkModel) -> None:
    """The files that were asked for."""
    if job.model is not None:
        save_model(model, job.model)
    if job.edges is not None:
        write_atomically_or_explain(job.edges, edges_file(model).encode())
    if job.draw is not None:
        save_figure(draw_model(model, seed=job.seed), job.draw)


def edges_file(model: NetworkModel) -> str:
    """One edge a line, the strongest first."""
    stable = model.info.get("stability") is not None
    lines = ["\t".join(("first", "second", "strength", *(("stability",) if stable else ())))]
    for edge in model.strongest():
        cells = [
            edge.first,
            edge.second,
            f"{edge.strength:.6g}",
            *([f"{edge.stability:.4g}"] if stable else []),
        ]
        lines.append("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells))
    return "\n".join(lines) + "\n"


def summary(job: NetworkJob, model: NetworkModel, iterations: int, seconds: float) -> dict[str, Any]:
    """What came of it, ready for JSON. The model must have been written."""
    files = {name: str(target) for name in ("draw", "edges") if (target := getattr(job, name)) is not None}
    return {
        "model": None if job.model is None else str(job.model),
        "bytes": None if job.model is None else job.model.stat().st_size,
        **model.summary(),
        "strongest": [asdict(edge) for edge in model.strongest(job.top)],
        "files": files,
        "iterations": iterations,
        "seconds": round(seconds, 3),
    }
