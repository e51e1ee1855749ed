"""Options that several ways of training have, and the part of a job that they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import click

from parsimon.cli.options import Function, number, option, positive, size_of, threads_option

# Named here because the modules that know them are too heavy for a help page.
LOSSES = ("log", "hinge", "perceptron")
SOLVERS = (
    "auto",
    "lbfgs",
    "working-set",
    "owlqn",
    "block-working-set",
    "bcd",
    "fista",
    "grafting-light",
    "grafting",
    "gauss-seidel",
    "frank-wolfe",
    "smoothing",
    "subgradient",
    "cutting-plane",
    "em",
    "one-slack",
    "projected-subgradient",
    "mira",
    "sgd",
    "sgd-l1",
)
SELECTIONS = ("sparseptron", "group-lasso", "information-gain")
# What a second stage minimises, and how.
REFITS = {
    "crf": ("log", "auto"),
    "mira": ("hinge", "mira"),
    "hinge": ("hinge", "auto"),
    "perceptron": ("perceptron", "sgd"),
}

# Headings of help pages.
FILES, LEARNING, CHOOSING, READING = "Files", "What to learn", "Which templates to keep", "Reading"
STOPPING, SAFETY, RUNNING = "How long", "Safety", "Running"

path = click.Path(path_type=Path)
at_least_one = click.IntRange(min=1)


class Decorator(Protocol):
    """What adds options to the function of a command."""

    def __call__(self, function: Function, /) -> Function:
        """The same function, with options."""
        ...


# --- What was asked for -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LearningJob:
    """What can be asked for wherever something is learnt."""

    log: Path | None
    encoding: str
    tol: float | None
    time_limit: float | None
    seed: int
    threads: int
    verbose: bool
    quiet: bool
    as_json: bool

    @property
    def kept_in(self) -> Path | None:
        """Where checkpoints go, if any are kept or resumed from."""
        return None

    @property
    def way_on(self) -> str:
        """How to go on after a run that did not finish: the end of a sentence, or nothing."""
        return ""


@dataclass(frozen=True)
class TrainingJob(LearningJob):
    """What can be asked for wherever labelled data make a model."""

    train: str
    model: Path
    dev: str | None
    float32: bool
    loss: str | None


@dataclass(frozen=True)
class TemplateJob(TrainingJob):
    """What can be asked for wherever templates make the features."""

    templates: str
    group_lasso: float | None
    cutoff: int
    prune: float
    select: str | None
    budget: int | None
    select_epochs: int
    refit: str | None
    solver: str | None
    max_iter: int | None
    patience: int
    dev_tolerance: float
    checkpoint_every: float
    checkpoint: Path | None
    resume: bool
    memory: int | None

    @property
    def checkpoint_file(self) -> Path:
        """Where checkpoints go: beside the model, unless another place was named."""
        return self.checkpoint or self.model.with_name(f"{self.model.name}.ckpt")

    @property
    def kept_in(self) -> Path | None:
        """The checkpoint, unless none is wanted."""
        return self.checkpoint_file if self.checkpoint_every or self.resume else None

    @property
    def way_on(self) -> str:
        """The checkpoint, if there is one."""
        if self.checkpoint_every and self.checkpoint_file.exists():
            return f"; the same command with --resume goes on from {self.checkpoint_file}"
        return ""


# --- Files --------------------------------------------------------------------------------------------------


def model_option(*, required: bool = True) -> Decorator:
    """Where the model goes."""
    return option(
        "-m",
        "--model",
        section=FILES,
        required=required,
        type=path,
        metavar="MODEL",
        help="The model file to write.",
    )


dev_option = option(
    "--dev", section=FILES, metavar="DEV", help="Development data: what scores best on them is kept."
)
log_option = option(
    "--log", section=FILES, type=path, metavar="FILE", help="Write what happens, one JSON object a line."
)
float32_option = option(
    "--float32", section=FILES, is_flag=True, help="Keep 32 bits of every weight instead of 64."
)


# --- Which templates to keep --------------------------------------------------------------------------------


def selection_options(budget: int, uncounted: str, refit: str | None = None) -> Decorator:
    """A first stage, and what the second one is.

    `budget` is the default, `uncounted` says which templates are free, and `refit` is the second stage's default.
    """
    return _all(
        option(
            "--select",
            section=CHOOSING,
            type=click.Choice(SELECTIONS),
            help="A first stage that chooses templates; what is said of learning is about the second.",
        ),
        option(
            "--budget",
            section=CHOOSING,
            type=at_least_one,
            metavar="N",
            show_default=str(budget),
            help=f"How many templates --select may keep{uncounted}.",
        ),
        option(
            "--select-epochs",
            section=CHOOSING,
            type=at_least_one,
            default=5,
            metavar="N",
            help="Passes of the sparseptron over the data.",
        ),
        option(
            "--refit",
            section=CHOOSING,
            type=click.Choice(list(REFITS)),
            show_default=refit or True,
            help="What the second stage is: short for --loss and --solver.",
        ),
    )


# --- How long -----------------------------------------------------------------------------------------------


def iterations_option(
    *names: str,
    shown: str | None = None,
    help: str = "Stop after N iterations, or epochs of online learning.",
) -> Decorator:
    """A limit of iterations; `names` are further names of --max-iter, `shown` is the default that is told."""
    return option(
        "--max-iter",
        *names,
        section=STOPPING,
        type=at_least_one,
        metavar="N",
        show_default=shown or True,
        help=help,
    )


def time_limit_option(help: str) -> Decorator:
    """A limit of time."""
    return positive("--time-limit", section=STOPPING, metavar="SECONDS", help=help)


patience_option = option(
    "--patience",
    section=STOPPING,
    type=at_least_one,
    default=10,
    metavar="N",
    help="Stop when N scores on DEV in a row were no better than the best.",
)
dev_tolerance_option = number(
    "--dev-tolerance",
    section=STOPPING,
    default=0.0,
    help="Of models within this of the best score on DEV (0.002: a fifth of a per cent), keep the smallest.",
)


# --- Safety -------------------------------------------------------------------------------------------------


def checkpoint_options(function: Function) -> Function:
    """What is kept in case the run is killed."""
    add = _all(
        number(
            "--checkpoint-every",
            section=SAFETY,
            default=30.0,
            metavar="SECONDS",
            help="How often to keep what is learned so far; 0 for never.",
        ),
        option(
            "--checkpoint",
            section=SAFETY,
            type=path,
            metavar="FILE",
            show_default="MODEL.ckpt",
            help="Where to keep it. It is removed when the model is written.",
        ),
        option(
            "--resume",
            section=SAFETY,
            is_flag=True,
            help="Go on from the checkpoint of the same command, which was killed or interrupted.",
        ),
    )
    return add(function)


# --- Running ------------------------------------------------------------------------------------------------


def running_options(
    *more: Decorator, seed: str, seeds: click.ParamType[Any] | type = int, memory: bool = False
) -> Decorator:
    """Threads, perhaps memory, the seed (and what it is for), options of the command's own, and what is said."""
    return _all(
        threads_option,
        *([_memory_option] if memory else []),
        option("--seed", section=RUNNING, type=seeds, default=0, metavar="N", help=seed),
        *more,
        option(
            "-v",
            "--verbose",
            section=RUNNING,
            is_flag=True,
            help="Tell every few seconds how it goes, in plain lines.",
        ),
        option("-q", "--quiet", section=RUNNING, is_flag=True, help="Say nothing but what goes wrong."),
        option(
            "--json", "as_json", section=RUNNING, is_flag=True, help="Print the summary as a JSON object."
        ),
    )


_memory_option = option(
    "--memory",
    section=RUNNING,
    metavar="SIZE",
    callback=lambda ctx, param, value: None if value is None else size_of(value),
    help="Use no more memory than this, for instance 4G; what needs more is refused.",
)


def _all(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which help pages list them."""

    def add(function: Function) -> Function:
        for one in reversed(options):
            function = one(function)
        return function

    return add
