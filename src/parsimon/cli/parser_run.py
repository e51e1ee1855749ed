"""A run of `parsimon train parser`: check, read, train, write, say what came of it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from parsimon import __version__
from parsimon.cli.failures import Interrupted, say
from parsimon.cli.output import check_training_files
from parsimon.cli.train_parser import BUDGET, ParserJob
from parsimon.data.treebank_files import read_treebank
from parsimon.data.treebanks import Treebank
from parsimon.errors import ParsimonError
from parsimon.estimators.dependency_parser import as_arc_templates
from parsimon.features.arc_features import ArcFeatures
from parsimon.groupings import ByTemplate
from parsimon.groups import Groups
from parsimon.inspect import summary
from parsimon.losses import get_loss
from parsimon.model_file import save_model
from parsimon.parser_model import ParserModel
from parsimon.parser_training import ParserTraining
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.problem import Problem
from parsimon.report.json_lines import JsonLines
from parsimon.report.progress import Progress, progress
from parsimon.report.tables import facts, file_size, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.selection import GroupLassoPath, InformationGain, Selection, Sparseptron
from parsimon.solvers import Result, Status, choose_solver


def run(job: ParserJob) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    check_training_files(job.train, job.dev, job.model, job.log)
    space = ArcFeatures(as_arc_templates(job.templates), job.cutoff)
    training = settings(job)
    check_options(job, training)
    with ExitStack() as stack:
        log = open_log(job, stack)
        watch = stack.enter_context(
            progress(
                sys.stderr,
                quiet=job.quiet or job.as_json,
                verbose=job.verbose,
                began=began,
                time_left=TimeLeft(job.max_iter, job.time_limit),
            )
        )
        training = replace(training, callbacks=[watch] if log is None else [watch, log])
        try:
            model, result = fit(job, training, space, watch, began)
            watch.phase(f"writing {job.model.name}")
            save_model(model, job.model, dtype="float32" if job.float32 else "float64")
        except KeyboardInterrupt:
            raise Interrupted("interrupted, and no model was written") from None
        record = record_of(job, model, result, time.perf_counter() - began)
        if log is not None:
            log.end(**record)
    finish(job, result, record, log)


def check_options(job: ParserJob, training: ParserTraining) -> None:
    """Refuses options of a first stage that there is not, and a solver that cannot do what was asked."""
    if job.select is None and job.budget is not None:
        raise ParsimonError("--budget is about choosing templates; add --select, as in --select sparseptron.")
    penalty = training.penalty
    if isinstance(penalty, GroupLasso):  # on no feature at all: enough to see which solvers can deal with it
        penalty = replace(penalty, groups=Groups.from_lists([], 0))
    choose_solver(training.solver, Problem((), get_loss(training.loss), penalty, 0), job.tol)


def settings(job: ParserJob) -> ParserTraining:
    """The options of the command line as those of training."""
    loss, solver = job.method
    return ParserTraining(
        loss=loss,
        penalty=penalty_of(job),
        solver=solver,
        tol=job.tol,
        max_iterations=job.max_iter,
        time_limit=job.time_limit,
        selection=selection_of(job),
        projective=job.projective,
        single_root=job.single_root,
        relations=None if job.relations in (None, "none") else as_arc_templates(job.relations),
        patience=job.patience,
        dev_tolerance=job.dev_tolerance,
        prune=job.prune,
        seed=job.seed,
        threads=job.threads,
        memory=job.memory,
    )


def penalty_of(job: ParserJob) -> Penalty:
    """L1, L2 and templates as asked for."""
    if job.group_lasso is None:
        return ElasticNet(l1=job.l1, l2=job.l2)
    return GroupLasso(job.group_lasso, groups=ByTemplate(), l1=job.l1, l2=job.l2)


def selection_of(job: ParserJob) -> Selection | None:
    """The first stage, if there is one."""
    budget = job.budget or BUDGET
    stages: dict[str | None, Selection | None] = {
        None: None,
        "sparseptron": Sparseptron(budget, job.select_epochs, seed=job.seed),
        "group-lasso": GroupLassoPath(budget),
        "information-gain": InformationGain(budget),
    }
    return stages[job.select]


def open_log(job: ParserJob, stack: ExitStack) -> JsonLines | None:
    """The log, with what is about to happen as its first line."""
    if job.log is None:
        return None
    log = JsonLines(job.log)
    stack.callback(log.close)
    asked = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(job).items()}
    log.start(parsimon=__version__, **asked)
    return log


def fit(
    job: ParserJob, training: ParserTraining, space: ArcFeatures, watch: Progress, began: float
) -> tuple[ParserModel, Result]:
    """Reads and trains."""
    watch.phase(f"reading {Path(job.train).name}")
    treebank = read(job, job.train)
    dev = None
    if job.dev is not None:
        watch.phase(f"reading {Path(job.dev).name}")
        dev = read(job, job.dev)
    watch.phase("making features" if job.select is None else f"choosing templates: {job.select}")
    return training.run(space, treebank, dev=dev, began=began, tell=watch.phase)


def read(job: ParserJob, source: str) -> Treebank:
    """A treebank with all heads."""
    return read_treebank(source, format=job.format, encoding=job.encoding)


def record_of(job: ParserJob, model: ParserModel, result: Result, seconds: float) -> dict[str, Any]:
    """What came of it, ready for JSON. The model must have been written."""
    counts = summary(model.arcs)
    scores = [(event.dev, event.iteration) for event in result.history if event.dev is not None]
    best = max(scores, key=lambda score: score[0]) if scores else None
    return {
        "model": str(job.model),
        "bytes": job.model.stat().st_size,
        "status": result.status.name.lower(),
        "message": result.status.value,
        "objective": result.objective,
        "kkt": result.kkt,
        "gap": result.gap,
        "features": counts["features"],
        "candidate_features": model.info["candidate_features"],
        "templates": counts["templates"],
        "candidate_templates": model.info["candidate_templates"],
        "relations": 0 if model.relations is None else model.relations.n_labels,
        "single_root": model.single_root,
        "projective": model.projective,
        "dev": best and best[0],
        "dev_iteration": best and best[1],
        "iterations": len(result.history),
        "seconds": round(seconds, 3),
    }


def finish(job: ParserJob, result: Result, record: dict[str, Any], log: JsonLines | None) -> None:
    """Says what came of it."""
    if log is not None and log.failure is not None:
        say(f"the log {job.log} is not complete: {log.failure}")
    if job.as_json:
        click.echo(json.dumps(record, ensure_ascii=False))
    elif not job.quiet:
        click.echo(summary_text(record), nl=False)
    if result.status is Status.INTERRUPTED:
        raise Interrupted(f"interrupted; the best model so far was written to {job.model}")


def summary_text(record: Mapping[str, Any]) -> str:
    """The end of a training run for people."""
    pairs = [
        ("model", f"{record['model']} ({file_size(record['bytes'])})"),
        ("features", of(record["features"], record["candidate_features"])),
        ("templates", f"{record['templates']} of {record['candidate_templates']}"),
        ("relations", f"{record['relations']}" if record["relations"] else "none"),
        ("objective", objective_text(record)),
    ]
    if record["dev"] is not None:
        pairs.append(("dev", f"UAS {100 * record['dev']:.2f}% at iteration {record['dev_iteration']}"))
    pairs.append(("status", record["message"]))
    pairs.append(("time", f"{record['seconds']:.1f} s, {record['iterations']} iterations"))
    return facts(pairs)
