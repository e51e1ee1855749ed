"""Trees on the command line: column files with a node a line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.kind import Evaluated, Plan
from parsimon.cli.kinds.column_files import Skipped, evaluate_columns, predict_columns, read_trees
from parsimon.cli.kinds.labelling import (
    Labelling,
    check_columns,
    labelling_flags,
    read_templates,
    template_flag,
)
from parsimon.cli.kinds.sequences import KIND as SEQUENCES
from parsimon.cli.kinds.sequences import developed
from parsimon.cli.options import Asked, column_file, option, skip_bad_option
from parsimon.errors import ParsimonError
from parsimon.tasks.options import READING
from parsimon.tasks.trees.options import TreeOptions

if TYPE_CHECKING:
    from parsimon.features.template_features import TemplateFeatures
    from parsimon.features.templates import TemplateSet
    from parsimon.tasks.sequences.training import Labelled
    from parsimon.tasks.trees.model import TreeModel
    from parsimon.tasks.trees.training import TreeTraining


class Trees(Labelling["TreeModel"]):
    """Labellers of trees."""

    name = "tree"
    noun = "a model of trees"
    options = TreeOptions
    flags = (
        template_flag(
            None,
            help="A template file. Templates may refer to parents, children and siblings: %x[parent,0].",
        ),
        *labelling_flags(),
        option(
            "--parent-column",
            section=READING,
            type=click.IntRange(min=0),
            metavar="N",
            default=0,
            help="The column, counted from 0, with the number of each node's parent in its tree (also counted from 0), "
            "or -1 for roots.",
        ),
        skip_bad_option,
    )
    predicts = SEQUENCES.predicts
    evaluates = SEQUENCES.evaluates | {"skip_bad"}
    help = """Train a sparse labeller of trees on TRAIN.

    The label of a node depends on the label of its parent, or on that of the previous sibling. TRAIN is a column file
    with one node per line, an empty line after every tree, a column of parents, and the label in the last column.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features with zero weight are not in the model.
    """
    examples = """
\b
Examples:
  parsimon train tree trees.txt -m trees.model -t trees.tpl --parent-column 0
  parsimon predict trees.model more-trees.txt > labelled.txt
"""

    def also_read(self, job: Asked) -> list[str]:
        """Templates."""
        return [] if job["templates"] is None else [job["templates"]]

    def plan(self, job: Asked) -> Plan[Labelled, Any]:
        """Templates, and how files are read."""
        from parsimon.tasks.trees.training import TreeTraining

        if Path(job["train"]).is_dir():
            raise ParsimonError(
                f"{job['train']} is a directory; if it has web pages, learn from them with 'parsimon train page'."
            )
        if not job["templates"]:
            raise ParsimonError(
                f"what to look at in {job['train']} must be said: name a template file with -t, in which "
                "U:%x[0,1] is column 1 of a node and U:%x[parent,1] that of its parent."
            )
        training = TreeTraining(**self.settings(job))
        self.check(job, training)
        reader = TreeFiles(job, about_siblings(read_templates(job, job["templates"]), training), training)
        return Plan(
            training,
            reader.read,
            lambda data: developed(data, str(job["dev"])),
            self.initial(job, training),
            lambda model: replace(model, parent_column=job["parent_column"]),
        )

    def predict(self, model: TreeModel, job: Asked) -> None:
        """Lines with labels."""
        predict_columns(model, job)

    def evaluate(self, model: TreeModel, job: Asked) -> Evaluated:
        """Labels of nodes."""
        return evaluate_columns(model, job, "trees")


KIND = Trees()


def about_siblings(templates: TemplateSet, training: TreeTraining) -> TemplateSet:
    """With templates about siblings, if labels depend on theirs."""
    return templates if training.siblings is None else templates.with_siblings()


def space_of(templates: TemplateSet, training: TreeTraining) -> TemplateFeatures:
    """What templates make of columns, with labels that depend on those of siblings, if that was asked for."""
    from parsimon.features.template_features import TemplateFeatures

    return TemplateFeatures(templates, cutoff=training.cutoff, siblings=training.siblings)


@dataclass(frozen=True)
class TreeFiles:
    """Column files of trees."""

    job: Asked
    templates: TemplateSet
    training: TreeTraining

    def read(self, source: str) -> Labelled:
        """Columns with links from parents, and labels."""
        from parsimon.features.columns import split_labels
        from parsimon.tasks.sequences.training import Labelled

        job, kinds = self.job, self.training.kind_column
        file = column_file(source, job["encoding"], job["separator"], job["comment"])
        columns = read_trees(file, job["parent_column"], Skipped() if job["skip_bad"] else None)
        X, y = split_labels(columns, file.name, job["unknown"])
        check_columns(X, file.name, self.templates)
        if kinds is not None and kinds >= X.n_columns:
            raise ParsimonError(
                f"{file.name} has {X.n_columns} columns besides the label, so there is no column {kinds} with kinds "
                "of nodes (they are counted from 0)."
            )
        return Labelled(space_of(self.templates, self.training), X, y)
