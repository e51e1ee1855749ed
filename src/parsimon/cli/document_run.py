"""A run of `parsimon train document`: check, read, train, write, say what came of it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from parsimon import __version__
from parsimon.cli.documents import read
from parsimon.cli.failures import Interrupted, say
from parsimon.cli.output import check_training_files
from parsimon.cli.train_document import OF_SENTENCES, STRENGTHS, TRAINING, DocumentJob
from parsimon.document_model import DocumentModel
from parsimon.document_training import DocumentTraining
from parsimon.errors import ParsimonError
from parsimon.model_file import save_model
from parsimon.report.json_lines import JsonLines
from parsimon.report.progress import Progress, progress
from parsimon.report.tables import facts, file_size, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.solvers.base import Event, Status


def run(job: DocumentJob) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    check_training_files(job.train, job.dev, job.model, job.log)
    check_options(job)
    training = DocumentTraining(**job.settings)
    time_left = TimeLeft(job.max_iterations, job.time_limit)
    with ExitStack() as stack:
        log = open_log(job, stack)
        watch = stack.enter_context(
            progress(
                sys.stderr,
                quiet=job.quiet or job.as_json,
                verbose=job.verbose,
                began=began,
                time_left=time_left,
            )
        )
        events: list[Event] = []
        callbacks = [events.append, watch, *([] if log is None else [log])]
        try:
            model = fit(job, training, watch, callbacks)
            watch.phase(f"writing {job.model.name}")
            save_model(model, job.model, dtype="float32" if job.float32 else "float64")
        except KeyboardInterrupt:
            raise Interrupted("interrupted, and no model was written") from None
        record = summary(job, model, events, time.perf_counter() - began)
        if log is not None:
            log.end(**record)
    finish(job, model, record, log)


def check_options(job: DocumentJob) -> None:
    """Refuses options that the penalty knows nothing of: they would make no difference."""
    penalty = job.penalty or "sentence"
    for name in ("l1", "l2", "sentence"):
        if getattr(job, name) is not None and name not in STRENGTHS[penalty]:
            option = "--sentence-strength" if name == "sentence" else f"--{name}"
            able = " or ".join(p for p, strengths in STRENGTHS.items() if name in strengths)
            raise ParsimonError(
                f"--penalty {penalty} has no {option}; leave it out, or use --penalty {able}."
            )
    for name in OF_SENTENCES:
        if getattr(job, name) is not None and penalty != "sentence":
            option = f"--{name.replace('_', '-')}"
            raise ParsimonError(f"{option} is about --penalty sentence; leave it out, or use that penalty.")
    if job.window is not None and job.groups != "window":
        raise ParsimonError("--window is about --groups window; leave it out, or add that.")


def open_log(job: DocumentJob, stack: ExitStack) -> JsonLines | None:
    """The log, with what is about to happen as its first line."""
    if job.log is None:
        return None
    log = JsonLines(job.log)
    stack.callback(log.close)
    asked = {
        name: getattr(job, name) for name in ("train", "dev", *TRAINING, "sentences", "tokens", "lowercase")
    }
    log.start(parsimon=__version__, model=str(job.model), **asked)
    return log


def fit(job: DocumentJob, training: DocumentTraining, watch: Progress, callbacks: list[Any]) -> DocumentModel:
    """Reads and trains."""
    watch.phase(f"reading {Path(job.train).name}")
    documents, labels = read(job.train, job.encoding, labelled=True)
    dev = None
    if job.dev is not None:
        watch.phase(f"reading {Path(job.dev).name}")
        dev = read(job.dev, job.encoding, labelled=True)
    watch.phase("training")
    return training.fit(documents, labels, dev=dev, callbacks=callbacks)


def summary(job: DocumentJob, model: DocumentModel, events: list[Event], seconds: float) -> dict[str, Any]:
    """What came of it, ready for JSON. The model must have been written."""
    scores = [(event.dev, event.iteration) for event in events if event.dev is not None]
    best = max(scores, key=lambda score: score[0]) if scores else None
    info = model.info
    return {
        "model": str(job.model),
        "bytes": job.model.stat().st_size,
        "message": info.get("status"),
        "objective": info.get("objective"),
        "kkt": info.get("kkt"),
        "gap": info.get("gap"),
        "words": len(model.words),
        "candidate_words": info.get("candidate_words"),
        "groups": info.get("groups"),
        "relevant_groups": info.get("relevant_groups"),
        "groups_in_all": info.get("groups_in_all"),
        "documents": info.get("documents"),
        "labels": model.n_labels,
        "dev": best and best[0],
        "dev_iteration": best and best[1],
        "iterations": len(events),
        "seconds": round(seconds, 3),
    }


def finish(job: DocumentJob, model: DocumentModel, record: dict[str, Any], log: JsonLines | None) -> None:
    """Says what came of it."""
    if log is not None and log.failure is not None:
        say(f"the log {job.log} is not complete: {log.failure}")
    if job.as_json:
        click.echo(json.dumps(record, ensure_ascii=False))
    elif not job.quiet:
        click.echo(summary_text(record), nl=False)
    if model.info.get("status") == Status.INTERRUPTED.value:
        raise Interrupted(f"interrupted; the best model so far was written to {job.model}")


def summary_text(record: Mapping[str, Any]) -> str:
    """The end of a training run for people."""
    pairs = [
        ("model", f"{record['model']} ({file_size(record['bytes'])})"),
        ("words", of(record["words"], record["candidate_words"])),
    ]
    if record["relevant_groups"] is not None:
        told = of(record["relevant_groups"], record["groups_in_all"])
        pairs.append((f"{record['groups']}s", f"{told} found relevant"))
    if record["objective"] is not None:
        pairs.append(("objective", objective_text(record)))
    if record["dev"] is not None:
        pairs.append(("dev", f"{100 * record['dev']:.2f}% at iteration {record['dev_iteration']}"))
    if record["message"]:
        pairs.append(("status", record["message"]))
    pairs.append(("time", f"{record['seconds']:.1f} s, {record['iterations']} iterations"))
    return facts(pairs)
