"""`parsimon learn`: the options of learning what depends on what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from parsimon.cli.options import CONTEXT, SectionedCommand, option, positive
from parsimon.cli.training_options import (
    FILES,
    LEARNING,
    READING,
    RUNNING,
    STOPPING,
    LearningJob,
    iterations_option,
    log_option,
    model_option,
    path,
    running_options,
    time_limit_option,
)

# Named here because the modules that know them are too heavy for a help page.
LOSSES = ("pseudo-likelihood", "log")
INFERENCES = ("bp", "exact")
CRITERIA = ("bic", "ebic", "cv")
SEPARATORS = ("comma", "tab", "semicolon")

EXAMPLES = """
\b
Examples:
  parsimon learn network survey.csv
  parsimon learn network survey.csv -m survey.model --draw survey.png
  parsimon learn network survey.csv --alpha cv --edges survey.tsv
  parsimon learn network survey.csv --stability 50 --draw survey.svg
  parsimon sample survey.model -n 1000 > made.csv
"""


class Strength(click.ParamType[float | str]):
    """A number above zero, or how one is chosen."""

    name = "strength"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The number, or the name."""
        if value in CRITERIA:
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not 0 < number < float("inf"):
            self.fail(
                f"{value!r} is neither a number above zero nor one of {', '.join(CRITERIA)}.", param, ctx
            )
        return number


@dataclass(frozen=True)
class NetworkJob(LearningJob):
    """What was asked for; ``None`` leaves the choice to learning."""

    table: str
    model: Path | None
    draw: Path | None
    edges: Path | None
    alpha: float | str
    loss: str
    inference: str
    solver: str | None
    stability: int | None
    threshold: float
    max_states: int
    separator: str | None
    header: bool
    missing: str
    max_iter: int | None
    top: int


@click.group("learn", context_settings=CONTEXT, short_help="Learn what depends on what.")
def learn() -> None:
    """Learn the structure of data without labels."""


@learn.command(
    "network",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A Markov network of the columns of a table.",
)
@click.argument("table", metavar="TABLE")
@model_option(required=False)
@option(
    "--draw", section=FILES, type=path, metavar="FILE", help="Draw the network: a .png, .svg or .pdf file."
)
@option("--edges", section=FILES, type=path, metavar="FILE", help="Write the edges, separated by tabs.")
@log_option
@option(
    "--alpha",
    section=LEARNING,
    type=Strength(),
    default="ebic",
    metavar="NUMBER|bic|ebic|cv",
    help="Strength of the penalty: the larger, the fewer edges. Or how it is chosen: by the (extended) Bayesian "
    "information criterion, or by cross-validation.",
)
@option(
    "--loss",
    section=LEARNING,
    type=click.Choice(LOSSES),
    default="pseudo-likelihood",
    help="The pseudo-likelihood, whose gradient is exact; or the likelihood, by --inference.",
)
@option(
    "--inference",
    section=LEARNING,
    type=click.Choice(INFERENCES),
    default="bp",
    help="How marginals are found: belief propagation, or exactly, by a junction tree (small networks).",
)
@option(
    "--stability",
    section=LEARNING,
    type=click.IntRange(min=2),
    metavar="N",
    help="Keep edges that are found again and again on N random halves of the rows.",
)
@option(
    "--threshold",
    section=LEARNING,
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.75,
    metavar="SHARE",
    help="With --stability: the share of halves in which an edge must be found.",
)
@option("--solver", section=LEARNING, metavar="NAME", show_default="grafting-light", help="How to minimise.")
@option(
    "--max-states",
    section=READING,
    type=click.IntRange(min=2),
    default=50,
    metavar="N",
    help="Reject columns with more distinct values.",
)
@option(
    "--separator",
    section=READING,
    type=click.Choice(SEPARATORS),
    show_default="told from the first lines",
    help="What stands between cells.",
)
@option(
    "--header/--no-header",
    section=READING,
    default=True,
    help="Whether the first line has the columns' names.",
)
@option(
    "--missing",
    section=READING,
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    help="What to do with rows that have an empty cell, ?, NA, NaN or NULL.",
)
@option("--encoding", section=READING, default="utf-8", metavar="NAME", help="Encoding of the table.")
@positive("--tol", section=STOPPING, show_default="1e-5", help="How close to the optimum to come.")
@iterations_option(help="Stop after N iterations (of every fit on the way).")
@time_limit_option("Stop every fit on the way after this time.")
@running_options(
    option(
        "--top",
        section=RUNNING,
        type=click.IntRange(min=0),
        default=10,
        metavar="N",
        help="How many edges to print.",
    ),
    seed="For random halves and folds.",
    seeds=click.IntRange(min=0),
)
def network(**options: Any) -> None:
    """Learn which columns of TABLE depend on each other: a sparse Markov network.

    TABLE has a row a line, with commas, tabs or semicolons between cells and names in the first line. Its columns are
    discrete: names, classes, yes and no, small whole numbers. Two columns have an edge if they depend on each other
    given all the others; weak dependencies are left out by an L1 penalty (binary columns) or a group lasso with a
    group for every edge.
    """
    from parsimon.cli.network_run import run

    run(NetworkJob(**options))
