"""A run of `parsimon train sequence`: what is its own in the frame of training."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from parsimon.cli.options import column_file
from parsimon.cli.selecting import selection_of
from parsimon.cli.train import BUDGET, GROW_AFTER, SequenceJob
from parsimon.cli.training_checks import check_selection, check_solver, check_training_files
from parsimon.cli.training_run import (
    Callbacks,
    Trained,
    TrainedRun,
    checkpoint_settings,
    file_fact,
    file_record,
    pace_facts,
    pace_record,
    read_data,
    result_record,
    will_resume,
)
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels, split_labels
from parsimon.features.presets import get_preset, preset_names
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Boundary, Template, TemplateSet
from parsimon.penalties import ElasticNet, GroupLasso, KLNorm, L1Ball, Penalty
from parsimon.penalties.groupings import ByAttribute, ByLabel, ByTemplate
from parsimon.report.progress import Progress
from parsimon.report.tables import facts, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.selection.growth import GrownStage, Growth, Stage
from parsimon.solvers import SGDL1, SOLVERS, Online, Solver
from parsimon.tasks.model_file import load_model
from parsimon.tasks.sequences.inspect import summary
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining

# What the log says of a job.
TOLD = (
    "train",
    "dev",
    "templates",
    "initial",
    "penalize_bias",
    "candidates",
    "order",
    "cutoff",
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
    check_training_files(job, (job.templates, *(name for name, _ in grows(job))))
    templates = inputs.templates()
    growth = growth_of(job, templates)
    check_selection(job, ["refit", "budget"])
    loss, solver = job.method
    tolerance = getattr(check_solver(solver, loss, penalty_of(job), job.tol), "tol", None)
    initial = load_model(job.initial, "sequence") if job.initial is not None else None
    resumes = will_resume(job)
    SequenceRun(job, inputs, templates, growth, initial, tolerance, began=began, resumes=resumes).carry_out()


@dataclass
class SequenceRun(TrainedRun[SequenceModel]):
    """Labelled sequences or trees in, a labeller out."""

    job: SequenceJob
    inputs: Inputs
    templates: TemplateSet
    growth: Growth | None
    initial: SequenceModel | None
    tolerance: float | None

    def time_left(self) -> TimeLeft:
        """The limits that were asked for."""
        job = self.job
        if self.growth is not None:  # how long a stage takes says nothing of the next
            return TimeLeft(time_limit=job.time_limit)
        known = None if self.resumes or self.initial else self.tolerance
        return TimeLeft(job.max_iter, job.time_limit, known)

    def asked(self) -> dict[str, Any]:
        """What training goes by, with the defaults that were taken."""
        job = self.job
        return {
            "model": str(job.model),
            "resumed": self.resumes,
            **{name: getattr(job, name) for name in TOLD},
            **dict(zip(("loss", "solver", "l1", "l2"), (*job.method, *job.strengths), strict=True)),
        }

    def learn(self, watch: Progress, callbacks: Callbacks) -> Trained[SequenceModel]:
        """Reads and trains."""
        training = settings(self.job, self.growth, callbacks, self.resumes)
        return fit(self.job, self.inputs, training, self.templates, self.initial, watch, self.began)

    def record(self, learnt: Trained[SequenceModel], seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON."""
        model, result = learnt.model, learnt.result
        counts = summary(model)
        return {
            **file_record(self.job),
            **result_record(result),
            "support": result.support,
            "features": counts["features"],
            "candidate_features": counts["candidate_features"],
            "attributes": counts["attributes"],
            "candidate_attributes": counts["candidate_attributes"],
            "templates": counts["templates"],
            "candidate_templates": counts["candidate_templates"],
            "labels": model.n_labels,
            **pace_record(result.history, seconds),
            "stages": (model.info["growth"] or {}).get("stages"),
        }

    def text(self, learnt: Trained[SequenceModel], record: Mapping[str, Any]) -> str:
        """The same for people."""
        grown = [GrownStage(**stage) for stage in record["stages"] or ()]
        pairs = [
            file_fact(record),
            ("features", of(record["features"], record["candidate_features"])),
            ("templates", f"{record['templates']} of {record['candidate_templates']}"),
            *((f"stage {n}", str(stage)) for n, stage in enumerate(grown, start=1)),
            ("objective", objective_text(record)),
        ]
        if record["support"]:
            pairs.append(("support", f"{record['support']:,} outputs"))
        return facts([*pairs, *pace_facts(record)])


# --- Before any work ----------------------------------------------------------------------------------------


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


def solver_of(job: SequenceJob) -> str | Solver:
    """The solver; one that learns online gets its seed."""
    _, name = job.method
    solver = SOLVERS[name]() if name in SOLVERS else None
    return replace(solver, seed=job.seed) if isinstance(solver, Online | SGDL1) and job.seed else name


def settings(job: SequenceJob, growth: Growth | None, callbacks: Callbacks, resume: bool) -> SequenceTraining:
    """The options of the command line as those of training."""
    return SequenceTraining(
        loss=job.method[0],
        penalty=penalty_of(job),
        penalize_bias=job.penalize_bias,
        candidates=job.candidates,
        order=job.order,
        solver=solver_of(job),
        tol=job.tol,
        max_iter=job.max_iter,
        time_limit=job.time_limit,
        dev_metric=job.dev_metric,
        patience=job.patience,
        dev_tolerance=job.dev_tolerance,
        prune=job.prune,
        debias=job.debias,
        selection=selection_of(job, BUDGET),
        growth=growth,
        threads=job.threads,
        memory=job.memory,
        callbacks=callbacks,
        **checkpoint_settings(job, resume),
    )


# --- Work ---------------------------------------------------------------------------------------------------


def fit(
    job: SequenceJob,
    inputs: Inputs,
    training: SequenceTraining,
    templates: TemplateSet,
    initial: SequenceModel | None,
    watch: Progress,
    began: float,
) -> Trained[SequenceModel]:
    """Reads and trains."""
    looked_at = [t for stage in stages_of(training, templates) for t in stage]
    (X, y), dev = read_data(job, lambda source: inputs.read(source, looked_at), watch)
    if dev is not None and (dev[1].ids < 0).any():
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
