"""`parsimon train parser`: the options of training a dependency parser."""

from __future__ import annotations

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
    size_of,
    threads_option,
)
from parsimon.cli.train import (
    CHOOSING,
    FILES,
    LEARNING,
    LOSSES,
    REFITS,
    RUNNING,
    SELECTIONS,
    SOLVERS,
    STOPPING,
    path,
    train,
)

READING = "Reading"
BUDGET = 200

EXAMPLES = """
\b
Examples:
  parsimon train parser train.conllu -m english.model --dev dev.conllu
  parsimon train parser train.conll -m danish.model -t martins-parsing --select sparseptron --budget 200
  parsimon train parser train.conllu -m crf.model --loss log --solver lbfgs --l2 1 --max-iter 100
  parsimon train parser train.conllu -m small.model --loss log --solver auto --group-lasso 20 --l2 0.1
  parsimon predict english.model new.conllu > parsed.conllu
"""


@dataclass(frozen=True)
class ParserJob:
    """What was asked for."""

    train: str
    model: Path
    templates: str
    relations: str | None
    dev: str | None
    log: Path | None
    float32: bool
    l1: float
    l2: float
    group_lasso: float | None
    loss: str | None
    projective: bool
    single_root: bool | None
    cutoff: int
    prune: float
    select: str | None
    budget: int | None
    select_epochs: int
    refit: str | None
    solver: str | None
    tol: float | None
    max_iter: int | None
    time_limit: float | None
    patience: int
    dev_tolerance: float
    format: Any
    encoding: str
    seed: int
    threads: int
    memory: int | None
    verbose: bool
    quiet: bool
    as_json: bool

    @property
    def method(self) -> tuple[str, str]:
        """Loss and solver: as named, or else those of --refit."""
        loss, solver = REFITS[self.refit or "mira"]
        if self.loss is not None and self.loss != loss and self.solver is None:
            solver = "auto"
        return self.loss or loss, self.solver or solver


at_least_one = click.IntRange(min=1)


@train.command(
    "parser",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A dependency parser.",
)
@click.argument("train", metavar="TRAIN")
@option(
    "-m", "--model", section=FILES, required=True, type=path, metavar="MODEL", help="The model file to write."
)
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
@option("--dev", section=FILES, metavar="DEV", help="Development data: what scores best on them is kept.")
@option("--log", section=FILES, type=path, metavar="FILE", help="Write what happens, one JSON object a line.")
@option("--float32", section=FILES, is_flag=True, help="Keep 32 bits of every weight instead of 64.")
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
@option(
    "--select",
    section=CHOOSING,
    type=click.Choice(SELECTIONS),
    help="A first stage that chooses templates; what is said of learning is about the second.",
)
@option(
    "--budget",
    section=CHOOSING,
    type=at_least_one,
    metavar="N",
    show_default=str(BUDGET),
    help="How many templates --select may keep; those of direction and length alone are not counted.",
)
@option(
    "--select-epochs",
    section=CHOOSING,
    type=at_least_one,
    default=5,
    metavar="N",
    help="Passes of the sparseptron over the data.",
)
@option(
    "--refit",
    section=CHOOSING,
    type=click.Choice(list(REFITS)),
    show_default="mira",
    help="What the second stage is: short for --loss and --solver.",
)
@option(
    "--solver",
    section=STOPPING,
    type=click.Choice(SOLVERS),
    show_default="mira; auto with another --loss, or what --refit says",
    help="'mira' and 'sgd' learn online; 'auto' takes the first that fits the loss and the penalty.",
)
@positive("--tol", section=STOPPING, help="How close to the optimum to come.")
@option(
    "--max-iter",
    section=STOPPING,
    type=at_least_one,
    metavar="N",
    show_default="10 epochs of online learning",
    help="Stop after N iterations, or epochs of online learning.",
)
@positive("--time-limit", section=STOPPING, metavar="SECONDS", help="Stop each stage after this time.")
@option(
    "--patience",
    section=STOPPING,
    type=at_least_one,
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
@option(
    "--format",
    section=READING,
    type=click.Choice(["conllu", "conllx"]),
    show_default="told from the data",
    help="The format of treebanks.",
)
@option("--encoding", default="utf-8", metavar="NAME", section=READING, help="Encoding of the data.")
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
def parser(**options: Any) -> None:
    """Train a dependency parser on TRAIN, a treebank in CoNLL-U or CoNLL-X format.

    Trees are scored arc by arc, by features that templates make of the head, the modifier and the words around and
    between them. Parts of speech, lemmas and morphological features are taken as the file has them.

    Ctrl-C stops early and writes the best model so far.
    """
    from parsimon.cli.parser_run import run

    run(ParserJob(**options))
