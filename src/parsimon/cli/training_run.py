"""The frame of a run that learns: log, progress, learning, writing, Ctrl-C, and saying what came of it."""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import click

from parsimon import __version__
from parsimon.cli.failures import Interrupted, say
from parsimon.cli.training_options import LearningJob, TemplateJob, TrainingJob
from parsimon.errors import ParsimonError
from parsimon.report.json_lines import JsonLines
from parsimon.report.progress import Progress, progress
from parsimon.report.tables import file_size
from parsimon.report.time_left import TimeLeft
from parsimon.solvers.base import Event, Result, Status
from parsimon.tasks.model_file import save_model

Learnt = TypeVar("Learnt")
Model = TypeVar("Model")
Data = TypeVar("Data")
Callbacks = list[Callable[[Event], Any]]


@dataclass
class LearningRun(ABC, Generic[Learnt]):
    """One run of a command. What is a command's own, it says in a class of its own."""

    job: LearningJob
    began: float = field(kw_only=True)  # by time.perf_counter
    resumes: bool = field(default=False, kw_only=True)  # whether it goes on from a checkpoint
    events: list[Event] = field(default_factory=list, init=False)

    @abstractmethod
    def time_left(self) -> TimeLeft:
        """The limits that were asked for."""

    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """What the first line of the log says, ready for JSON."""

    @abstractmethod
    def learn(self, watch: Progress, callbacks: Callbacks) -> Learnt:
        """Reads and learns."""

    @abstractmethod
    def write(self, learnt: Learnt, watch: Progress) -> None:
        """Writes the files that were asked for."""

    @abstractmethod
    def record(self, learnt: Learnt, seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON. Files have been written."""

    @abstractmethod
    def text(self, learnt: Learnt, record: dict[str, Any]) -> str:
        """The same for people."""

    @abstractmethod
    def info(self, learnt: Learnt) -> Mapping[str, Any]:
        """What the model remembers of its training."""

    @property
    @abstractmethod
    def nothing_left(self) -> str:
        """What is said after Ctrl-C if there is nothing to show for it."""

    @property
    @abstractmethod
    def best_left(self) -> str:
        """What is said after Ctrl-C if there is."""

    def carry_out(self) -> None:
        """The whole run. What can be refused before any work has been."""
        job = self.job
        with ExitStack() as stack:
            log = self._open_log(stack)
            watch = stack.enter_context(
                progress(
                    sys.stderr,
                    quiet=job.quiet or job.as_json,
                    verbose=job.verbose,
                    began=self.began,
                    time_left=self.time_left(),
                )
            )
            try:
                learnt = self.learn(watch, [self.events.append, watch, *([] if log is None else [log])])
                self.write(learnt, watch)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted, and {self.nothing_left}{job.way_on}") from None
            record = self.record(learnt, time.perf_counter() - self.began)
            if log is not None:
                log.end(**record)
        self._finish(learnt, record, log)

    def _open_log(self, stack: ExitStack) -> JsonLines | None:
        """The log, with what is about to happen as its first line."""
        if self.job.log is None:
            return None
        log = JsonLines(self.job.log, append=self.resumes)
        stack.callback(log.close)
        log.start(parsimon=__version__, **self.asked())
        return log

    def _finish(self, learnt: Learnt, record: dict[str, Any], log: JsonLines | None) -> None:
        """Says what came of it. The checkpoint of an interrupted run stays, for the run can be taken up again."""
        job = self.job
        interrupted = self.info(learnt).get("status") == Status.INTERRUPTED.value
        if not interrupted and job.kept_in is not None:
            job.kept_in.unlink(missing_ok=True)
        if log is not None and log.failure is not None:
            say(f"the log {job.log} is not complete: {log.failure}")
        if job.as_json:
            click.echo(json.dumps(record, ensure_ascii=False))
        elif not job.quiet:
            click.echo(self.text(learnt, record), nl=False)
        if interrupted:
            raise Interrupted(f"interrupted; {self.best_left}{job.way_on}")


@dataclass
class TrainingRun(LearningRun[Learnt]):
    """A run that leaves a model file."""

    job: TrainingJob

    @property
    def nothing_left(self) -> str:
        """No model."""
        return "no model was written"

    @property
    def best_left(self) -> str:
        """A model."""
        return f"the best model so far was written to {self.job.model}"

    def write_model(self, model: Any, watch: Progress) -> None:
        """Writes the model; if that fails, what was learned may still be in a checkpoint."""
        watch.phase(f"writing {self.job.model.name}")
        try:
            save_model(model, self.job.model, dtype="float32" if self.job.float32 else "float64")
        except ParsimonError as error:
            raise ParsimonError(f"{str(error).rstrip('.')}{self.job.way_on}.") from error


@dataclass(frozen=True)
class Trained(Generic[Model]):
    """A model, and how its solver ended."""

    model: Model
    result: Result


@dataclass
class TrainedRun(TrainingRun[Trained[Model]]):
    """A run whose training tells how its solver ended."""

    def write(self, learnt: Trained[Model], watch: Progress) -> None:
        """Writes the model."""
        self.write_model(learnt.model, watch)

    def info(self, learnt: Trained[Model]) -> Mapping[str, Any]:
        """How the solver ended."""
        return {"status": learnt.result.status.value}


def will_resume(job: TemplateJob) -> bool:
    """Whether to go on from a checkpoint; says so when that is not what one might think.

    A run that is killed within its first seconds leaves nothing to resume from, which is no mistake.
    """
    exists = job.checkpoint_file.exists()
    if job.resume and not exists:
        say(f"there is no checkpoint {job.checkpoint_file}, so training starts from the beginning")
    if exists and job.checkpoint_every and not job.resume:
        say(
            f"{job.checkpoint_file}, from a run that did not finish, will be replaced; "
            "--resume would go on from it"
        )
    return exists and job.resume


def checkpoint_settings(job: TemplateJob, resumes: bool) -> dict[str, Any]:
    """What training must know of checkpoints."""
    safe = job.checkpoint_every > 0 or resumes
    return {
        "checkpoint": job.checkpoint_file if safe else None,
        "checkpoint_every": job.checkpoint_every or float("inf"),
        "resume": resumes,
    }


def read_data(job: TrainingJob, read: Callable[[str], Data], watch: Progress) -> tuple[Data, Data | None]:
    """Data to learn from, and development data if there are any."""
    watch.phase(f"reading {Path(job.train).name}")
    train = read(job.train)
    if job.dev is None:
        return train, None
    watch.phase(f"reading {Path(job.dev).name}")
    return train, read(job.dev)


# --- What is told -------------------------------------------------------------------------------------------


def everything(job: LearningJob) -> dict[str, Any]:
    """All that was asked for, ready for JSON."""
    return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(job).items()}


def file_record(job: TrainingJob) -> dict[str, Any]:
    """The model file, which must have been written."""
    return {"model": str(job.model), "bytes": job.model.stat().st_size}


def result_record(result: Result) -> dict[str, Any]:
    """How the solver ended."""
    return {
        "status": result.status.name.lower(),
        "message": result.status.value,
        "objective": result.objective,
        "kkt": result.kkt,
        "gap": result.gap,
    }


def pace_record(history: Sequence[Event], seconds: float) -> dict[str, Any]:
    """The best development score, and how long it took."""
    scores = [(event.dev, event.iteration) for event in history if event.dev is not None]
    best = max(scores, key=lambda score: score[0]) if scores else None
    return {
        "dev": best and best[0],
        "dev_iteration": best and best[1],
        "iterations": len(history),
        "seconds": round(seconds, 3),
    }


def file_fact(record: Mapping[str, Any]) -> tuple[str, str]:
    """The first line of a summary."""
    return "model", f"{record['model']} ({file_size(record['bytes'])})"


def pace_facts(record: Mapping[str, Any], score: str = "") -> list[tuple[str, str]]:
    """The last lines of a summary; `score` names what development data are scored by."""
    pairs = []
    if record["dev"] is not None:
        pairs.append(("dev", f"{score}{100 * record['dev']:.2f}% at iteration {record['dev_iteration']}"))
    if record["message"]:
        pairs.append(("status", record["message"]))
    return [*pairs, ("time", f"{record['seconds']:.1f} s, {record['iterations']} iterations")]
