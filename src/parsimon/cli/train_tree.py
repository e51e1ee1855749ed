"""`parsimon train tree`: the options of training on trees, most of which are those of sequences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from parsimon.cli.options import CONTEXT, SectionedCommand, option
from parsimon.cli.train import SequenceJob, sequence, train
from parsimon.cli.training_options import FILES, LEARNING, READING, path

# What trees do not have, or have otherwise.
OTHERWISE = {"templates": "", "order": 1, "grow": (), "grow_parents": None}
PAGES = "pages"  # the templates for them

EXAMPLES = """
\b
Examples:
  parsimon train tree pages/ --values values.csv -m records.model
  parsimon predict records.model more-pages/ > records.tsv
  parsimon evaluate records.model test-pages/ --values test-values.csv
  parsimon train tree trees.txt -m trees.model -t trees.tpl --parent-column 0
"""


@dataclass(frozen=True)
class TreeJob(SequenceJob):
    """What was asked for."""

    values: Path | None
    parent_column: int | None
    kind_column: int | None
    siblings: str | None


@train.command(
    "tree",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A labeller of trees, or of web pages.",
    params=[parameter for parameter in sequence.params if parameter.name not in OTHERWISE],
)
@option(
    "-t",
    "--templates",
    section=FILES,
    metavar="TEMPLATES",
    show_default=f"'{PAGES}' for web pages",
    help="A template file; beside rows, templates may name a parent, children and siblings: %x[parent,0].",
)
@option(
    "--values",
    section=FILES,
    type=path,
    metavar="TABLE",
    help="The values on web pages: a table with the columns page, attribute and value (commas or tabs between).",
)
@option(
    "--parent-column",
    section=READING,
    type=click.IntRange(min=0),
    metavar="N",
    show_default="0",
    help="Which column of a file, counted from 0, has the number of each node's parent in its tree (counted from 0 "
    "too), or -1 for roots.",
)
@option(
    "--kind-column",
    section=READING,
    type=click.IntRange(min=0),
    metavar="N",
    help="A column that tells kinds of nodes apart: a node gets only labels that its kind has in TRAIN.",
)
@option(
    "--siblings",
    section=LEARNING,
    type=click.Choice(["instead", "also"]),
    show_default="labels depend on the parent's",
    help="Labels depend on that of the sibling before, instead of the parent's or also; templates that start with S "
    "are about such pairs, or those that start with B if there are none. 'also' takes longer.",
)
def tree(**options: Any) -> None:
    """Train a sparse labeller of trees on TRAIN: every node has a label that depends on its parent's or on siblings'.

    TRAIN is a column file with a node a line, an empty line after every tree, a column with parents and the label
    last. Or it is a directory of web pages (.html, .htm), whose texts are the leaves: those that are values of an
    attribute in --values TABLE are learnt to be found.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features whose weight ends at zero are not in the model.

    Ctrl-C stops early and writes the best model so far; --resume goes on from a checkpoint.
    """
    from parsimon.cli.tree_run import run

    run(TreeJob(**{**OTHERWISE, **options, "templates": options["templates"] or ""}))
