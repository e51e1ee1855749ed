"""`parsimon train`: the options of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from parsimon.cli.options import (
    CONTEXT,
    SectionedCommand,
    number,
    option,
    positive,
    reading_options,
    size_of,
    threads_option,
)

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
GROUPS = ("template", "attribute", "label")
# What a second stage minimises, and how.
REFITS = {
    "crf": ("log", "auto"),
    "mira": ("hinge", "mira"),
    "hinge": ("hinge", "auto"),
    "perceptron": ("perceptron", "sgd"),
}
L1, L2, BUDGET = 0.5, 1e-5, 30
# Solvers that can do with one of both only, or without any.
STRENGTHS = {
    "mira": (0.0, 0.0),
    "sgd": (0.0, 0.0),
    "frank-wolfe": (0.0, 1.0),
    "one-slack": (0.0, 1.0),
    "cutting-plane": (L1, 0.0),
    "em": (L1, 0.0),
    "projected-subgradient": (L1, 0.0),
}
GROW_AFTER = 10  # iterations of the stage before
DEV_METRICS = ("auto", "f1", "accuracy")
DEBIAS = 0.5  # the best of 0.1, 0.3, 0.5, 1, 2 on a held-out tenth of the chunking training set

# Headings of the help page.
FILES, LEARNING, CHOOSING, GROWING = "Files", "What to learn", "Which templates to keep", "Growing"
STOPPING, SAFETY, RUNNING = "How long", "Safety", "Running"

EXAMPLES = """
\b
Examples:
  parsimon train sequence train.txt -m chunk.model -t chunk.tpl
  parsimon train sequence train.txt -m chunk.model -t chunking --dev dev.txt --l1 1
  parsimon train sequence train.txt -m chunk.model --log chunk.jsonl --time-limit 600
  parsimon train sequence train.txt -m chunk.model --resume
  parsimon train sequence train.txt -m ner.model -t martins-ner --select sparseptron --budget 100 --refit mira
  parsimon train sequence train.txt -m pos.model -t words.tpl --grow bigrams.tpl:5 --grow trigrams.tpl:10
"""


@dataclass(frozen=True)
class SequenceJob:
    """What was asked for."""

    train: str
    model: Path
    templates: str
    dev: str | None
    initial: str | None
    log: Path | None
    float32: bool
    l1: float | None
    l2: float | None
    kl_norm: float | None
    l1_ball: float | None
    group_lasso: float | None
    groups: str
    loss: str | None
    penalize_bias: bool
    candidates: str
    order: int
    cutoff: int
    prune: float
    debias: float | None
    select: str | None
    budget: int | None
    select_epochs: int
    refit: str | None
    grow: Sequence[str]
    grow_parents: Any
    seed: int
    solver: str | None
    tol: float | None
    max_iter: int | None
    time_limit: float | None
    dev_metric: str
    patience: int
    dev_tolerance: float
    checkpoint_every: float
    checkpoint: Path | None
    resume: bool
    unknown: Sequence[str]
    boundary: Any
    encoding: str
    separator: str
    comment: str | None
    threads: int
    memory: int | None
    verbose: bool
    quiet: bool
    as_json: bool

    @property
    def checkpoint_file(self) -> Path:
        """Where checkpoints go: beside the model, unless another place was named."""
        return self.checkpoint or self.model.with_name(f"{self.model.name}.ckpt")

    @property
    def method(self) -> tuple[str, str]:
        """Loss and solver: as named, or else those of --refit."""
        loss, solver = REFITS[self.refit or "crf"]
        return self.loss or loss, self.solver or solver

    @property
    def strengths(self) -> tuple[float, float]:
        """l1 and l2: as named, or else the defaults. Some solvers have their own, and group penalties no l1."""
        l1, l2 = STRENGTHS.get(self.method[1], (L1, L2))
        if self.group_lasso is not None:
            l1 = 0.0
        return l1 if self.l1 is None else self.l1, l2 if self.l2 is None else self.l2


@click.group("train", context_settings=CONTEXT, short_help="Train a model.")
def train() -> None:
    """Train a model of labelled data."""


path = click.Path(path_type=Path)


@train.command(
    "sequence",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A sequence labeller.",
)
@click.argument("train", metavar="TRAIN")
@option(
    "-m", "--model", section=FILES, required=True, type=path, metavar="MODEL", help="The model file to write."
)
@option(
    "-t",
    "--templates",
    section=FILES,
    default="words",
    metavar="TEMPLATES",
    help="A template file of Wapiti or CRF++, or the name of a preset (see 'parsimon presets').",
)
@option("--dev", section=FILES, metavar="DEV", help="Development data: what scores best on them is kept.")
@option("--initial", section=FILES, metavar="MODEL", help="Start from the weights of this model.")
@option("--log", section=FILES, type=path, metavar="FILE", help="Write what happens, one JSON object a line.")
@option("--float32", section=FILES, is_flag=True, help="Keep 32 bits of every weight instead of 64.")
@number(
    "--l1",
    section=LEARNING,
    show_default=f"{L1}; 0 with --group-lasso and solvers for L2 or none",
    help="L1 strength: the larger, the fewer features. Wapiti's rho1, CRFsuite's c1.",
)
@number(
    "--l2",
    section=LEARNING,
    show_default=f"{L2}; 1 with frank-wolfe and one-slack, 0 with solvers for L1 or none",
    help="L2 strength. Wapiti's rho2, twice CRFsuite's c2.",
)
@positive(
    "--kl-norm",
    section=LEARNING,
    metavar="SHARPNESS",
    help="In place of L1 and L2, the KL norm of Laplace M3Ns: an L1 norm of strength --l1 that is rounded off within "
    "about 1/sqrt(SHARPNESS) of zero.",
)
@positive(
    "--l1-ball",
    section=LEARNING,
    metavar="RADIUS",
    help="In place of L1 and L2, all weights together are at most RADIUS in absolute value; for --solver "
    "projected-subgradient or fista.",
)
@option(
    "--loss",
    section=LEARNING,
    type=click.Choice(LOSSES),
    show_default="log, or what --refit says",
    help="'log' makes a conditional random field, 'hinge' a max-margin Markov network.",
)
@option(
    "--penalize-bias/--no-penalize-bias",
    section=LEARNING,
    default=True,
    help="Whether biases and plain label bigrams are penalised like other features.",
)
@option(
    "--candidates",
    section=LEARNING,
    type=click.Choice(["all", "seen"]),
    default="all",
    help="Attributes with all labels (Wapiti, CRF++), or only with those seen together (CRFsuite).",
)
@option(
    "--order",
    section=LEARNING,
    type=click.IntRange(1, 2),
    default=1,
    help="How many labels before a token its label depends on; with 2, labels are learnt as pairs.",
)
@option(
    "--cutoff",
    section=LEARNING,
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Leave out attributes that occur less than N times.",
)
@number(
    "--prune",
    section=LEARNING,
    default=0.0,
    metavar="SHARE",
    help="In the end, drop weights below this share of the root mean square of all; 1 is right after --refit mira.",
)
@number(
    "--debias",
    section=LEARNING,
    is_flag=False,
    flag_value=DEBIAS,
    metavar="[L2]",
    help=f"At the end, refit the features that are left with this L2 strength only ({DEBIAS} if not named).",
)
@number(
    "--group-lasso",
    section=CHOOSING,
    metavar="STRENGTH",
    help="Also penalise groups of features, which are kept or dropped as wholes.",
)
@option(
    "--groups",
    section=CHOOSING,
    type=click.Choice(GROUPS),
    default="template",
    help="The groups of --group-lasso: a template's features, an attribute's, or a label's.",
)
@option(
    "--select",
    section=CHOOSING,
    type=click.Choice(SELECTIONS),
    help="A first stage that chooses templates; what is said of learning is about the second.",
)
@option(
    "--budget",
    section=CHOOSING,
    type=click.IntRange(min=1),
    metavar="N",
    show_default=str(BUDGET),
    help="How many templates --select may keep, biases and label bigrams not counted.",
)
@option(
    "--select-epochs",
    section=CHOOSING,
    type=click.IntRange(min=1),
    default=5,
    metavar="N",
    help="Passes of the sparseptron over the data.",
)
@option(
    "--refit",
    section=CHOOSING,
    type=click.Choice(list(REFITS)),
    help="What the second stage is: short for --loss and --solver.",
)
@option(
    "--grow",
    section=GROWING,
    multiple=True,
    metavar="TEMPLATES[:N]",
    help=f"Templates that join in after N iterations of the stage before ({GROW_AFTER} if not named), only where "
    "the shorter tests that they contain are active. May be repeated; the first stage is that of -t.",
)
@option(
    "--grow-parents",
    section=GROWING,
    type=click.Choice(["all", "any"]),
    show_default="all",
    help="Whether all of the shorter tests must be active, or any of them.",
)
@option(
    "--solver",
    section=STOPPING,
    type=click.Choice(SOLVERS),
    show_default="auto, or what --refit says",
    help="'auto' takes the first that fits the loss and the penalty; 'mira', 'sgd' and 'sgd-l1' learn online; "
    "'frank-wolfe' and 'one-slack' are for the hinge loss with L2, 'cutting-plane', 'em' and 'projected-subgradient' "
    "with L1.",
)
@positive(
    "--tol",
    section=STOPPING,
    show_default="1e-5",
    help="Stop when the optimality conditions hold to this fraction of their violation at zero weights.",
)
@option(
    "--max-iter",
    section=STOPPING,
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N iterations, or epochs of online learning.",
)
@positive(
    "--time-limit",
    section=STOPPING,
    metavar="SECONDS",
    help="Stop after this time, reading included.",
)
@option(
    "--dev-metric",
    section=STOPPING,
    type=click.Choice(DEV_METRICS),
    default="auto",
    help="How DEV is scored; 'auto' is f1 where labels mark spans, else accuracy.",
)
@option(
    "--patience",
    section=STOPPING,
    type=click.IntRange(min=1),
    default=10,
    metavar="N",
    help="Stop when N scores on DEV in a row were no better than the best.",
)
@number(
    "--dev-tolerance",
    section=STOPPING,
    default=0.0,
    help="Of models within this of the best score on DEV (0.002: a fifth of a per cent), keep the smallest.",
)
@number(
    "--checkpoint-every",
    section=SAFETY,
    default=30.0,
    metavar="SECONDS",
    help="How often to keep what is learned so far; 0 for never.",
)
@option(
    "--checkpoint",
    section=SAFETY,
    type=path,
    metavar="FILE",
    show_default="MODEL.ckpt",
    help="Where to keep it. It is removed when the model is written.",
)
@option(
    "--resume",
    section=SAFETY,
    is_flag=True,
    help="Go on from the checkpoint of the same command, which was killed or interrupted.",
)
@option(
    "--unknown",
    multiple=True,
    metavar="LABEL",
    section="Reading",
    help="A label that means: not known (may be repeated). Such data are partially labelled.",
)
@option(
    "--boundary",
    type=click.Choice(["wapiti", "crf++"]),
    section="Reading",
    show_default="what TEMPLATES says, else wapiti",
    help="Whose values templates see beyond the ends of a sequence.",
)
@reading_options
@threads_option
@option(
    "--memory",
    section=RUNNING,
    metavar="SIZE",
    callback=lambda ctx, param, value: None if value is None else size_of(value),
    help="Use no more memory than this, for instance 4G; what needs more is refused.",
)
@option("--seed", section=RUNNING, type=int, default=0, metavar="N", help="For the order of online learning.")
@option(
    "-v",
    "--verbose",
    section=RUNNING,
    is_flag=True,
    help="Tell every few seconds how it goes, in plain lines.",
)
@option("-q", "--quiet", section=RUNNING, is_flag=True, help="Say nothing but what goes wrong.")
@option("--json", "as_json", section=RUNNING, is_flag=True, help="Print the summary as a JSON object.")
def sequence(**options: Any) -> None:
    """Train a sparse sequence labeller on TRAIN, a column file whose last column is the label.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features whose weight ends at zero are not in the model.

    Ctrl-C stops early and writes the best model so far. Every half minute, what is learned is kept in
    MODEL.ckpt, and should the run be killed, the same command with --resume goes on from there.
    """
    from parsimon.cli.sequence_run import run

    run(SequenceJob(**options))
