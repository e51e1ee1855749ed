"""`parsimon train parser`: the options of training a dependency parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from parsimon.cli.options import CONTEXT, SectionedCommand, encoding_option, number, option, positive
from parsimon.cli.train import train
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

BUDGET = 200

EXAMPLES = """
\b
Examples:
  parsimon train parser train.conllu -m english.model --dev dev.conllu
  parsimon train parser train.conllu -m english.model --dev dev.conllu --resume
  parsimon train parser train.conll -m danish.model -t martins-parsing --select sparseptron --budget 200
  parsimon train parser train.conllu -m crf.model --loss log --solver lbfgs --l2 1 --max-iter 100
  parsimon train parser train.conllu -m small.model --loss log --solver auto --group-lasso 20 --l2 0.1
  parsimon predict english.model new.conllu > parsed.conllu
"""


@dataclass(frozen=True)
class ParserJob(TemplateJob):
    """What was asked for."""

    relations: str | None
    l1: float
    l2: float
    projective: bool
    single_root: bool | None
    format: Any

    @property
    def method(self) -> tuple[str, str]:
        """Loss and solver: as named, or else those of --refit."""
        loss, solver = REFITS[self.refit or "mira"]
        if self.loss is not None and self.loss != loss and self.solver is None:
            solver = "auto"
        return self.loss or loss, self.solver or solver


@train.command(
    "parser",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A dependency parser.",
)
@click.argument("train", metavar="TRAIN")
@model_option()
@option(
    "-t",
    "--templates",
    section=FILES,
    default="mcdonald",
    metavar="TEMPLATES",
    help="A file of arc templates, or the name of a preset (see 'parsimon presets').",
)
@option(
    "--relations",
    section=FILES,
    default="relations",
    metavar="TEMPLATES",
    help="The templates that name relations; 'none' leaves relations out.",
)
@dev_option
@log_option
@float32_option
@option(
    "--loss",
    section=LEARNING,
    type=click.Choice(LOSSES),
    show_default="hinge, or what --refit says",
    help="'log' makes a conditional random field over trees.",
)
@number("--l1", section=LEARNING, default=0.0, help="L1 strength: the larger, the fewer features.")
@number("--l2", section=LEARNING, default=0.0, help="L2 strength.")
@option("--projective", section=LEARNING, is_flag=True, help="Only trees whose arcs do not cross.")
@option(
    "--single-root/--many-roots",
    section=LEARNING,
    default=None,
    show_default="as in TRAIN",
    help="Whether one word only may hang on the root.",
)
@option(
    "--cutoff",
    section=LEARNING,
    type=at_least_one,
    default=1,
    metavar="N",
    help="Leave out attributes that fire on less than N arcs of the trees.",
)
@number(
    "--prune",
    section=LEARNING,
    default=0.0,
    metavar="SHARE",
    help="In the end, drop weights below this share of the root mean square of all.",
)
@number(
    "--group-lasso",
    section=CHOOSING,
    metavar="STRENGTH",
    help="Also penalise templates, which are kept or dropped as wholes.",
)
@selection_options(BUDGET, "; those of direction and length alone are not counted", refit="mira")
@option(
    "--solver",
    section=STOPPING,
    type=click.Choice(SOLVERS),
    show_default="mira; auto with another --loss, or what --refit says",
    help="'mira' and 'sgd' learn online; 'auto' takes the first that fits the loss and the penalty.",
)
@positive("--tol", section=STOPPING, help="How close to the optimum to come.")
@iterations_option(shown="10 epochs of online learning")
@time_limit_option("Stop each stage after this time.")
@patience_option
@dev_tolerance_option
@checkpoint_options
@option(
    "--format",
    section=READING,
    type=click.Choice(["conllu", "conllx"]),
    show_default="told from the data",
    help="The format of treebanks.",
)
@encoding_option
@running_options(memory=True, seed="For the order of online learning.")
def parser(**options: Any) -> None:
    """Train a dependency parser on TRAIN, a treebank in CoNLL-U or CoNLL-X format.

    Trees are scored arc by arc, by features that templates make of the head, the modifier and the words around and
    between them. Parts of speech, lemmas and morphological features are taken as the file has them.

    Ctrl-C stops early and writes the best model so far. Every half minute, what is learned is kept in
    MODEL.ckpt, and should the run be killed, the same command with --resume goes on from there.
    """
    from parsimon.cli.parser_run import run

    run(ParserJob(**options))
