"""`parsimon train`: the options of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from parsimon.cli.options import CONTEXT, SectionedCommand, number, option, positive, reading_options
from parsimon.cli.training_options import (
    CHOOSING,
    FILES,
    LEARNING,
    LOSSES,
    READING,
    REFITS,
    SOLVERS,
    STOPPING,
    TemplateJob,
    at_least_one,
    checkpoint_options,
    dev_option,
    dev_tolerance_option,
    float32_option,
    iterations_option,
    log_option,
    model_option,
    patience_option,
    running_options,
    selection_options,
    time_limit_option,
)

GROUPS = ("template", "attribute", "label")
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

GROWING = "Growing"  # a heading of the help page

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
class SequenceJob(TemplateJob):
    """What was asked for."""

    initial: str | None
    l1: float | None
    l2: float | None
    kl_norm: float | None
    l1_ball: float | None
    groups: str
    penalize_bias: bool
    candidates: str
    order: int
    debias: float | None
    grow: Sequence[str]
    grow_parents: Any
    dev_metric: str
    unknown: Sequence[str]
    boundary: Any
    separator: str
    comment: str | None

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


@train.command(
    "sequence",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A sequence labeller.",
)
@click.argument("train", metavar="TRAIN")
@model_option()
@option(
    "-t",
    "--templates",
    section=FILES,
    default="words",
    metavar="TEMPLATES",
    help="A template file of Wapiti or CRF++, or the name of a preset (see 'parsimon presets').",
)
@dev_option
@option("--initial", section=FILES, metavar="MODEL", help="Start from the weights of this model.")
@log_option
@float32_option
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
    type=at_least_one,
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
@selection_options(BUDGET, ", biases and label bigrams not counted")
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
@iterations_option()
@time_limit_option("Stop after this time, reading included.")
@option(
    "--dev-metric",
    section=STOPPING,
    type=click.Choice(DEV_METRICS),
    default="auto",
    help="How DEV is scored; 'auto' is f1 where labels mark spans, else accuracy.",
)
@patience_option
@dev_tolerance_option
@checkpoint_options
@option(
    "--unknown",
    multiple=True,
    metavar="LABEL",
    section=READING,
    help="A label that means: not known (may be repeated). Such data are partially labelled.",
)
@option(
    "--boundary",
    type=click.Choice(["wapiti", "crf++"]),
    section=READING,
    show_default="what TEMPLATES says, else wapiti",
    help="Whose values templates see beyond the ends of a sequence.",
)
@reading_options
@running_options(memory=True, seed="For the order of online learning.")
def sequence(**options: Any) -> None:
    """Train a sparse sequence labeller on TRAIN, a column file whose last column is the label.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features whose weight ends at zero are not in the model.

    Ctrl-C stops early and writes the best model so far. Every half minute, what is learned is kept in
    MODEL.ckpt, and should the run be killed, the same command with --resume goes on from there.
    """
    from parsimon.cli.sequence_run import run

    run(SequenceJob(**options))
