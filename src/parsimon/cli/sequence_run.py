"""A run of `parsimon train sequence`: check, read, train, write, say what came of it."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import click

from parsimon import __version__
from parsimon.cli.failures import Interrupted, say
from parsimon.cli.options import column_file
from parsimon.cli.output import check_writable
from parsimon.cli.train import BUDGET, GROW_AFTER, SequenceJob
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels, split_labels
from parsimon.features.presets import get_preset, preset_names
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Boundary, Template, TemplateSet
from parsimon.groupings import ByAttribute, ByLabel, ByTemplate
from parsimon.groups import Groups
from parsimon.growth import GrownStage, Growth, Stage
from parsimon.inspect import summary
from parsimon.losses import get_loss
from parsimon.model_file import load_model, save_model
from parsimon.penalties import ElasticNet, GroupLasso, KLNorm, L1Ball, Penalty
from parsimon.problem import Problem
from parsimon.report.json_lines import JsonLines
from parsimon.report.progress import Progress, progress
from parsimon.report.tables import facts, file_size, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.selection import GroupLassoPath, InformationGain, Selection, Sparseptron
from parsimon.sequence_model import SequenceModel
from parsimon.sequence_training import SequenceTraining
from parsimon.solvers import SGDL1, SOLVERS, Online, Result, Solver, Status, choose_solver


class Inputs(Protocol):
    """Where templates and labelled data come from, and what a model must remember of that."""

    def templates(self) -> TemplateSet:
        """The templates that were asked for."""

    def read(self, source: str, templates: Iterable[Template]) -> tuple[Columns, Labels]:
        """Columns and labels, with all columns that the templates look at. Data to learn from are read first."""

    def space(self, templates: TemplateSet) -> TemplateFeatures:
        """What templates make of columns."""

    def told(self) -> dict[str, Any]:
        """What the model must know in order to read."""


@dataclass(frozen=True)
class SequenceInputs:
    """Column files."""

    job: SequenceJob

    def templates(self) -> TemplateSet:
        """Of a preset or a file."""
        return read_templates(self.job, self.job.templates)

    def read(self, source: str, templates: Iterable[Template]) -> tuple[Columns, Labels]:
        """The file as it is."""
        return read(self.job, source, templates)

    def space(self, templates: TemplateSet) -> TemplateFeatures:
        """As it is."""
        return TemplateFeatures(templates, cutoff=self.job.cutoff)

    def told(self) -> dict[str, Any]:
        """Nothing."""
        return {}


def run(job: SequenceJob, inputs: Inputs | None = None) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    inputs = inputs or SequenceInputs(job)
    check_files(job)
    templates = inputs.templates()
    growth = growth_of(job, templates)
    check_selection(job)
    tolerance = check_solver(job)
    initial = load_model(job.initial, "sequence") if job.initial is not None else None
    resume = resumes(job)
    time_left = TimeLeft(job.max_iter, job.time_limit, None if resume or initial else tolerance)
    if growth is not None:  # how long a stage takes says nothing of the next
        time_left = TimeLeft(time_limit=job.time_limit)
    quiet = job.quiet or job.as_json
    with ExitStack() as stack:
        log = open_log(job, resume, stack)
        watch = stack.enter_context(
            progress(sys.stderr, quiet=quiet, verbose=job.verbose, began=began, time_left=time_left)
        )
        training = settings(job, growth, [watch] if log is None else [watch, log], resume)
        try:
            trained = fit(job, inputs, training, templates, initial, watch, began)
            watch.phase(f"writing {job.model.name}")
            write(job, trained.model)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted, and no model was written{way_on(job)}") from None
        record = trained.record(job, time.perf_counter() - began)
        if log is not None:
            log.end(**record)
    finish(job, trained.result, record, log)


# --- Before any work ----------------------------------------------------------------------------------------


def check_files(job: SequenceJob) -> None:
    """Refuses what could not be written at the end, and what would be lost by writing."""
    if str(job.model) == "-":
        raise ParsimonError("the model must be a file; it cannot go to standard output.")
    if job.train == job.dev == "-":
        raise ParsimonError("TRAIN and --dev cannot both be standard input.")
    sources = [source for source in (job.train, job.dev) if source is not None]
    for source in sources:
        if source != "-" and not Path(source).exists():
            raise ParsimonError(f"{source} cannot be read: there is no such file.")
    check_writable(job.model, "the model")
    written = [job.model]
    if job.resume or job.checkpoint_every:
        check_writable(job.checkpoint_file, "the checkpoint")
        written.append(job.checkpoint_file)
    if job.log is not None:
        written.append(job.log)
    for source in (*sources, job.templates, *(name for name, _ in grows(job))):
        for target in written:
            if Path(source).is_file() and target.exists() and target.samefile(source):
                raise ParsimonError(f"{source} would be overwritten by {target}; name another file.")


def read_templates(job: SequenceJob, source: str, boundary: Boundary | None = None) -> TemplateSet:
    """The templates of a preset or a file."""
    boundary = boundary or job.boundary
    if source in preset_names():
        preset = get_preset(source)
        return preset if boundary is None else TemplateSet(preset.templates, boundary)
    if not Path(source).exists():
        raise ParsimonError(
            f"there is no template file {source!r} and no preset of that name; "
            f"presets are {', '.join(preset_names())}."
        )
    return TemplateSet.load(source, encoding=template_encoding(job, source), boundary=boundary)


def template_encoding(job: SequenceJob, source: str) -> str:
    """UTF-8 if that is what the template file is in, or else the encoding of the data."""
    try:
        Path(source).read_bytes().decode("utf-8")
    except (UnicodeDecodeError, OSError):
        return job.encoding
    return "utf-8"


def grows(job: SequenceJob) -> list[tuple[str, int]]:
    """What was named with --grow: templates, and after how many iterations they join in."""
    out = []
    for text in job.grow:
        found = re.fullmatch(r"(.+):([0-9]+)", text)
        if found is None or text in preset_names() or Path(text).exists():
            out.append((text, GROW_AFTER))
        else:
            out.append((found[1], int(found[2])))
    return out


def growth_of(job: SequenceJob, first: TemplateSet) -> Growth | None:
    """The stages that follow on the first; beyond the ends of sequences they see what that one does."""
    if not job.grow:
        if job.grow_parents is not None:
            raise ParsimonError("--grow-parents is about growing; add --grow, as in --grow bigrams.tpl:10.")
        return None
    if job.select is not None:
        raise ParsimonError("templates can be selected or grown, but not both; leave out --select or --grow.")
    stages = [Stage(read_templates(job, name, first.boundary), after) for name, after in grows(job)]
    growth = Growth(stages, job.grow_parents or "all")
    growth.schedule(first)  # refuses what does not fit together
    return growth


def check_solver(job: SequenceJob) -> float | None:
    """Refuses a solver that cannot do what was asked; gives its tolerance."""
    loss, solver = job.method
    penalty = penalty_of(job) if job.group_lasso is None else nothing(penalty_of(job))
    problem = Problem((), get_loss(loss), penalty, 0)
    return getattr(choose_solver(solver, problem, job.tol), "tol", None)


def check_selection(job: SequenceJob) -> None:
    """Refuses options of a first stage that there is not."""
    if job.select is None:
        for name in ("refit", "budget"):
            if getattr(job, name) is not None:
                raise ParsimonError(
                    f"--{name} is about choosing templates; add --select, as in --select sparseptron."
                )


def penalty_of(job: SequenceJob) -> Penalty:
    """L1, L2 and groups as asked for, or what takes their place."""
    l1, l2 = job.strengths
    named = [name for name in ("kl_norm", "l1_ball", "group_lasso") if getattr(job, name) is not None]
    if len(named) > 1:
        one, other = (f"--{name.replace('_', '-')}" for name in named[:2])
        raise ParsimonError(f"{one} and {other} are two penalties; give one of them.")
    if job.kl_norm is not None:
        return KLNorm(job.kl_norm, strength=l1 / job.kl_norm**0.5)
    if job.l1_ball is not None:
        return L1Ball(job.l1_ball)
    if job.group_lasso is None:
        return ElasticNet(l1=l1, l2=l2)
    grouping = {"template": ByTemplate, "attribute": ByAttribute, "label": ByLabel}[job.groups]()
    return GroupLasso(job.group_lasso, groups=grouping, l1=l1, l2=l2)


def nothing(penalty: Penalty) -> Penalty:
    """The same penalty on no feature at all: enough to see which solvers can deal with it."""
    return replace(penalty, groups=Groups.from_lists([], 0))  # type: ignore[type-var]


def selection_of(job: SequenceJob) -> Selection | None:
    """The first stage, if there is one."""
    if job.select is None:
        return None
    budget = job.budget or BUDGET
    stages: dict[str, Selection] = {
        "sparseptron": Sparseptron(budget, job.select_epochs, seed=job.seed),
        "group-lasso": GroupLassoPath(budget),
        "information-gain": InformationGain(budget),
    }
    return stages[job.select]


def solver_of(job: SequenceJob) -> str | Solver:
    """The solver; one that learns online gets its seed."""
    _, name = job.method
    solver = SOLVERS[name]() if name in SOLVERS else None
    return replace(solver, seed=job.seed) if isinstance(solver, Online | SGDL1) and job.seed else name


def resumes(job: SequenceJob) -> bool:
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


def open_log(job: SequenceJob, resume: bool, stack: ExitStack) -> JsonLines | None:
    """The log, with what is about to happen as its first line."""
    if job.log is None:
        return None
    log = JsonLines(job.log, append=resume)
    stack.callback(log.close)
    told = (
        "train",
        "dev",
        "templates",
        "initial",
        "penalize_bias",
        "candidates",
        "order",
        "cutoff",
    )
    asked = {
        name: getattr(job, name)
        for name in (
            *told,
            "kl_norm",
            "l1_ball",
            "group_lasso",
            "select",
            "budget",
            "grow",
            "prune",
            "debias",
            "threads",
        )
    }
    asked |= dict(zip(("loss", "solver", "l1", "l2"), (*job.method, *job.strengths), strict=True))
    log.start(parsimon=__version__, model=str(job.model), resumed=resume, **asked)
    return log


def settings(job: SequenceJob, growth: Growth | None, callbacks: list[Any], resume: bool) -> SequenceTraining:
    """The options of the command line as those of training."""
    safe = job.checkpoint_every > 0 or resume
    return SequenceTraining(
        loss=job.method[0],
        penalty=penalty_of(job),
        penalize_bias=job.penalize_bias,
        candidates=job.candidates,
        order=job.order,
        solver=solver_of(job),
        tol=job.tol,
        max_iterations=job.max_iter,
        time_limit=job.time_limit,
        dev_metric=job.dev_metric,
        patience=job.patience,
        dev_tolerance=job.dev_tolerance,
        prune=job.prune,
        debias=job.debias,
        selection=selection_of(job),
        growth=growth,
        threads=job.threads,
        memory=job.memory,
        callbacks=callbacks,
        checkpoint=job.checkpoint_file if safe else None,
        checkpoint_every=job.checkpoint_every or float("inf"),
        resume=resume,
    )


# --- Work ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trained:
    """What came of it."""

    model: SequenceModel
    result: Result

    def record(self, job: SequenceJob, seconds: float) -> dict[str, Any]:
        """The summary, ready for JSON. The model must have been written."""
        counts = summary(self.model)
        scores = [(event.dev, event.iteration) for event in self.result.history if event.dev is not None]
        best = max(scores, key=lambda score: score[0]) if scores else None
        return {
            "model": str(job.model),
            "bytes": job.model.stat().st_size,
            "status": self.result.status.name.lower(),
            "message": self.result.status.value,
            "objective": self.result.objective,
            "kkt": self.result.kkt,
            "gap": self.result.gap,
            "support": self.result.support,
            "features": counts["features"],
            "candidate_features": counts["candidate_features"],
            "attributes": counts["attributes"],
            "candidate_attributes": counts["candidate_attributes"],
            "templates": counts["templates"],
            "candidate_templates": counts["candidate_templates"],
            "labels": self.model.n_labels,
            "dev": best and best[0],
            "dev_iteration": best and best[1],
            "iterations": len(self.result.history),
            "seconds": round(seconds, 3),
            "stages": (self.model.info["growth"] or {}).get("stages"),
        }


def fit(
    job: SequenceJob,
    inputs: Inputs,
    training: SequenceTraining,
    templates: TemplateSet,
    initial: SequenceModel | None,
    watch: Progress,
    began: float,
) -> Trained:
    """Reads and trains."""
    watch.phase(f"reading {Path(job.train).name}")
    looked_at = [t for stage in stages_of(training, templates) for t in stage]
    X, y = inputs.read(job.train, looked_at)
    dev = None
    if job.dev is not None:
        watch.phase(f"reading {Path(job.dev).name}")
        dev = inputs.read(job.dev, looked_at)
        if (dev[1].ids < 0).any():
            raise ParsimonError(f"{job.dev} has tokens without a label; development data need all of them.")
    if not job.grow:  # else every stage says so
        watch.phase("making features" if job.select is None else f"choosing templates: {job.select}")
    space = inputs.space(templates)
    model, result = training.run(space, X, y, dev=dev, start=initial, began=began, tell=watch.phase)
    return Trained(replace(model, info={**model.info, **inputs.told()}), result)


def stages_of(training: SequenceTraining, templates: TemplateSet) -> list[TemplateSet]:
    """The templates of all stages; mostly there is one."""
    return [templates] if training.growth is None else training.growth.schedule(templates)


def read(job: SequenceJob, source: str, templates: Iterable[Template]) -> tuple[Columns, Labels]:
    """Columns and labels of a file, which must have the columns that the templates look at."""
    file = column_file(source, job.encoding, job.separator, job.comment)
    columns = file.read()
    if not columns.n_tokens:
        raise ParsimonError(
            f"{file.name} has no tokens; it should have one token a line, with its label last."
        )
    X, y = split_labels(columns, file.name, job.unknown)
    check_columns(X, file.name, templates)
    return X, y


def check_columns(X: Columns, name: str, templates: Iterable[Template]) -> None:
    """Refuses columns that are fewer than the templates look at."""
    for template in templates:
        for test in template.tests:
            if test.column >= X.n_columns:
                raise ParsimonError(
                    f"{name} has {X.n_columns} column{'s' * (X.n_columns != 1)} besides the label, but "
                    f"template {template.source!r} looks at column {test.column} (they are counted from 0)."
                )


# --- Afterwards ---------------------------------------------------------------------------------------------


def write(job: SequenceJob, model: SequenceModel) -> None:
    """Writes the model; if that fails, what was learned is still in the checkpoint."""
    try:
        save_model(model, job.model, dtype="float32" if job.float32 else "float64")
    except ParsimonError as error:
        raise ParsimonError(f"{str(error).rstrip('.')}{way_on(job)}.") from error


def way_on(job: SequenceJob) -> str:
    """How to go on after a run that wrote no model."""
    if job.checkpoint_every and job.checkpoint_file.exists():
        return f"; the same command with --resume goes on from {job.checkpoint_file}"
    return ""


def finish(job: SequenceJob, result: Result, record: dict[str, Any], log: JsonLines | None) -> None:
    """Says what came of it. The checkpoint of an interrupted run stays, for the run can be taken up again."""
    interrupted = result.status is Status.INTERRUPTED
    if not interrupted and (job.checkpoint_every or job.resume):
        job.checkpoint_file.unlink(missing_ok=True)
    if log is not None and log.failure is not None:
        say(f"the log {job.log} is not complete: {log.failure}")
    if job.as_json:
        click.echo(json.dumps(record, ensure_ascii=False))
    elif not job.quiet:
        click.echo(summary_text(record), nl=False)
    if interrupted:
        raise Interrupted(f"interrupted; the best model so far was written to {job.model}{way_on(job)}")


def summary_text(record: dict[str, Any]) -> str:
    """The end of a training run for people."""
    pairs = [
        ("model", f"{record['model']} ({file_size(record['bytes'])})"),
        ("features", of(record["features"], record["candidate_features"])),
        ("templates", f"{record['templates']} of {record['candidate_templates']}"),
        *(
            (f"stage {n}", str(GrownStage(**stage)))
            for n, stage in enumerate(record["stages"] or (), start=1)
        ),
        ("objective", objective_text(record)),
    ]
    if record["support"]:
        pairs.append(("support", f"{record['support']:,} outputs"))
    if record["dev"] is not None:
        pairs.append(("dev", f"{100 * record['dev']:.2f}% at iteration {record['dev_iteration']}"))
    pairs.append(("status", record["message"]))
    pairs.append(("time", f"{record['seconds']:.1f} s, {record['iterations']} iterations"))
    return facts(pairs)
