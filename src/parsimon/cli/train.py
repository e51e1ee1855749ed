"""`parsimon train sequence`: labelled columns and templates in, a sparse model out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.failures import INTERRUPTED, Failure, say
from parsimon.cli.options import (
    CONTEXT,
    Number,
    SectionedCommand,
    column_file,
    option,
    reading_options,
    threads_option,
)
from parsimon.cli.output import check_writable
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.features.columns import Columns, Labels
    from parsimon.features.templates import TemplateSet
    from parsimon.report.json_lines import JsonLines
    from parsimon.report.progress import Progress
    from parsimon.sequence_model import SequenceModel
    from parsimon.sequence_training import SequenceTraining, Task
    from parsimon.solvers import Result

# Named here because the modules that know them are too heavy for a help page.
LOSSES = ("log", "hinge", "perceptron")
SOLVERS = ("auto", "lbfgs", "working-set", "owlqn", "subgradient")
DEV_METRICS = ("auto", "f1", "accuracy")
DEBIAS = 0.1

EXAMPLES = """
\b
Examples:
  parsimon train sequence train.txt -m chunk.model -t chunk.tpl
  parsimon train sequence train.txt -m chunk.model -t chunking --dev dev.txt --l1 1
  parsimon train sequence train.txt -m chunk.model --log chunk.jsonl --time-limit 600
  parsimon train sequence train.txt -m chunk.model --resume
"""


@click.group("train", context_settings=CONTEXT, short_help="Train a model.")
def train() -> None:
    """Train a model."""


@dataclass(frozen=True)
class Job:
    """What was asked for."""

    train: str
    model: Path
    templates: str
    dev: str | None
    l1: float
    l2: float
    loss: str
    penalize_bias: bool
    candidates: str
    cutoff: int
    debias: float | None
    initial: str | None
    solver: str
    tol: float | None
    max_iter: int | None
    time_limit: float | None
    dev_metric: str
    patience: int
    float32: bool
    log: Path | None
    quiet: bool
    verbose: bool
    as_json: bool
    checkpoint: Path | None
    checkpoint_every: float
    resume: bool
    boundary: str | None
    unknown: Sequence[str]
    threads: int
    encoding: str
    separator: str
    comment: str | None

    @property
    def checkpoint_file(self) -> Path:
        """Where checkpoints go: beside the model unless another place was named."""
        return self.checkpoint or self.model.with_name(f"{self.model.name}.ckpt")


@train.command("sequence", cls=SectionedCommand, context_settings=CONTEXT, epilog=EXAMPLES)
@click.argument("train", metavar="TRAIN")
@option("-m", "--model", required=True, type=click.Path(path_type=Path), metavar="MODEL", section="Files", help="The model file to write.")
@option("-t", "--templates", default="words", metavar="TEMPLATES", section="Files", help="A template file of Wapiti or CRF++, or a preset's name (see 'parsimon presets').")
@option("--dev", metavar="DEV", section="Files", help="Development data: the model that scores best on them is kept.")
@option("--initial", metavar="MODEL", section="Files", help="Start from the weights of this model.")
@option("--log", type=click.Path(path_type=Path), metavar="FILE", section="Files", help="Write what happens to FILE, one JSON object a line.")
@option("--float32", is_flag=True, section="Files", help="Keep weights in the model with 32 bits instead of 64.")
@option("--l1", type=Number(), default=0.5, section="What to learn", help="L1 strength: the larger, the fewer features. Wapiti's rho1, CRFsuite's c1.")
@option("--l2", type=Number(), default=1e-5, section="What to learn", help="L2 strength. Wapiti's rho2, twice CRFsuite's c2.")
@option("--loss", type=click.Choice(LOSSES), default="log", section="What to learn", help="'log' is a conditional random field.")
@option("--no-penalize-bias", "penalize_bias", is_flag=True, default=True, flag_value=False, section="What to learn", show_default=False, help="Leave out biases and plain label bigrams from the penalty.")
@option("--candidates", type=click.Choice(["all", "seen"]), default="all", section="What to learn", help="Attributes with all labels (Wapiti, CRF++), or only with those seen together (CRFsuite).")
@option("--cutoff", type=click.IntRange(min=1), default=1, metavar="N", section="What to learn", help="Leave out attributes that occur less often.")
@option("--debias", type=Number(), is_flag=False, flag_value=DEBIAS, metavar="[L2]", section="What to learn", help=f"At the end, refit the surviving features with this L2 strength only ({DEBIAS} if none is named).")
@option("--solver", type=click.Choice(SOLVERS), default="auto", section="How long", help="'auto' takes the first that fits the loss and the penalty.")
@option("--tol", type=Number(positive=True), section="How long", show_default="1e-5", help="Stop when the optimality conditions hold to this fraction of their violation at zero weights.")
@option("--max-iter", type=click.IntRange(min=1), metavar="N", section="How long", help="Stop after N iterations.")
@option("--time-limit", type=Number(positive=True), metavar="SECONDS", section="How long", help="Stop after this time, reading included.")
@option("--dev-metric", type=click.Choice(DEV_METRICS), default="auto", section="How long", help="How DEV is scored; 'auto' is f1 where labels mark spans, else accuracy.")
@option("--patience", type=click.IntRange(min=1), default=10, metavar="N", section="How long", help="Stop when N scores in a row have not been better than the best.")
@option("--checkpoint-every", type=Number(), default=30.0, metavar="SECONDS", section="Safety", help="How often to keep what is learned so far; 0 for never.")
@option("--checkpoint", type=click.Path(path_type=Path), metavar="FILE", section="Safety", show_default="MODEL.ckpt", help="Where to keep it. Removed when the model is written.")
@option("--resume", is_flag=True, section="Safety", help="Go on from the checkpoint of a run of the same command that was killed or interrupted.")
@option("--unknown", multiple=True, metavar="LABEL", section="Reading", help="This label means that the label is not known (may be repeated): partially labelled data.")
@option("--boundary", type=click.Choice(["wapiti", "crf++"]), section="Reading", show_default="what TEMPLATES says, else wapiti", help="Whose values templates see beyond the ends of a sequence.")
@reading_options
@threads_option
@option("--verbose", is_flag=True, section="Running", help="Say every few seconds how it goes, in plain lines.")
@option("-q", "--quiet", is_flag=True, section="Running", help="Say nothing but what goes wrong.")
@option("--json", "as_json", is_flag=True, section="Running", help="Print the summary as a JSON object.")
def sequence(**options: Any) -> None:
    """Train a sparse sequence labeller on TRAIN, a column file whose last column is the label.

    Minimises loss + l1 Σ|w| + l2/2 Σw². Features whose weight ends at zero are not in the model.

    Ctrl-C stops early and writes the best model so far. Every half minute what is learned is kept in MODEL.ckpt,
    from which --resume goes on should the run be killed.
    """
    run(Job(**options))


def run(job: Job) -> None:
    """Checks everything that can be checked first, then reads, trains and writes."""
    began = time.perf_counter()
    check_files(job)
    templates = read_templates(job)
    solver_tolerance = check_solver(job)
    from parsimon.model_file import load_model
    from parsimon.report.progress import progress
    from parsimon.report.time_left import TimeLeft

    initial = load_model(job.initial) if job.initial is not None else None
    resume = job.resume and _has_checkpoint(job)
    time_left = TimeLeft(job.max_iter, job.time_limit, None if resume or initial else solver_tolerance)
    with ExitStack() as stack:
        log = _opened_log(job, stack, resumed=resume)
        watch = stack.enter_context(
            progress(sys.stderr, quiet=job.quiet or job.as_json, verbose=job.verbose, began=began, time_left=time_left)
        )
        training = job.training([watch] if log is None else [watch, log], resume=resume)
        try:
            model, result = _trained(job, training, templates, initial, watch, began)
            watch.phase(f"writing {job.model}")
            _write(job, model)
        except KeyboardInterrupt:
            raise Failure(f"interrupted, and no model was written{_way_on(job)}", INTERRUPTED) from None
        summary = _summary(job, model, result, time.perf_counter() - began)
        if log is not None:
            log.end(**summary)
    _finish(job, summary, result, log)


# --- Before any work ----------------------------------------------------------------------------------------


def check_files(job: Job) -> None:
    """Refuses files that could not be written at the end, or that would destroy what is read."""
    if str(job.model) == "-":
        raise ParsimonError("the model must be a file; standard output cannot take it.")
    if [job.train, job.dev].count("-") > 1:
        raise ParsimonError("TRAIN and --dev cannot both be standard input.")
    check_writable(job.model, "the model")
    written = [job.model]
    if job.resume or job.checkpoint_every:
        check_writable(job.checkpoint_file, "the checkpoint")
        written.append(job.checkpoint_file)
    if job.log is not None:
        written.append(job.log)
    for source in filter(None, (job.train, job.dev, job.templates)):
        for target in written:
            if Path(source).is_file() and target.exists() and target.samefile(source):
                raise ParsimonError(f"{source} would be overwritten by {target}; name another file.")
    for source in filter(None, (job.train, job.dev)):
        if source != "-" and not Path(source).exists():
            raise ParsimonError(f"{source} cannot be read: there is no such file.")


def read_templates(job: Job) -> TemplateSet:
    """The templates of a preset or a file."""
    from parsimon.features.presets import get_preset, preset_names
    from parsimon.features.templates import TemplateSet

    if job.templates in preset_names():
        preset = get_preset(job.templates)
        return preset if job.boundary is None else TemplateSet(preset.templates, _boundary(job))
    if not Path(job.templates).exists():
        raise ParsimonError(
            f"there is no template file {job.templates!r} and no preset of that name; "
            f"presets are {', '.join(preset_names())}."
        )
    return TemplateSet.load(job.templates, encoding=job.encoding, boundary=_boundary(job))


def _boundary(job: Job) -> Any:
    return job.boundary


def check_solver(job: Job) -> float | None:
    """Refuses a solver that cannot do what was asked; returns its tolerance."""
    from parsimon.losses import get_loss
    from parsimon.penalties import ElasticNet
    from parsimon.problem import Problem
    from parsimon.solvers import choose_solver

    problem = Problem((), get_loss(job.loss), ElasticNet(job.l1, job.l2), 0)
    return getattr(choose_solver(job.solver, problem, job.tol), "tol", None)


def _has_checkpoint(job: Job) -> bool:
    if job.checkpoint_file.exists():
        return True
    say(f"there is no checkpoint {job.checkpoint_file}, so training starts from the beginning")
    return False
