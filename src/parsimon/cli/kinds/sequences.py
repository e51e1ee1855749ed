"""Sequences on the command line: column files with a token a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.kind import Evaluated, Plan
from parsimon.cli.kinds.column_files import evaluate_columns, predict_columns
from parsimon.cli.kinds.labelling import (
    Labelling,
    check_columns,
    labelling_flags,
    read_templates,
    template_flag,
)
from parsimon.cli.options import Asked, column_file, option
from parsimon.errors import ParsimonError
from parsimon.tasks.options import GROWING
from parsimon.tasks.sequences.options import SequenceOptions

if TYPE_CHECKING:
    from parsimon.features.templates import Template, TemplateSet
    from parsimon.selection.growth import Growth
    from parsimon.tasks.sequences.model import SequenceModel
    from parsimon.tasks.sequences.training import Labelled, SequenceTraining

GROW_AFTER = 10  # iterations of the stage before


class Sequences(Labelling["SequenceModel"]):
    """Labellers of sequences."""

    name = "sequence"
    noun = "a sequence model"
    options = SequenceOptions
    flags = (
        template_flag(),
        *labelling_flags(),
        option(
            "--grow",
            section=GROWING,
            multiple=True,
            metavar="TEMPLATES[:N]",
            help=f"Templates that join in after N iterations of the stage before ({GROW_AFTER} if not given), only "
            "where the shorter tests that they contain are active. May be repeated; the first stage is that of -t.",
        ),
        option(
            "--grow-parents",
            section=GROWING,
            type=click.Choice(["all", "any"]),
            show_default="all",
            help="Whether all of the shorter tests must be active, or any of them.",
        ),
    )
    predicts = frozenset(
        {"marginals", "kbest", "scheme", "decoding", "given_labels", "unknown", "separator", "comment"}
    )
    evaluates = frozenset({"raw", "scheme", "decoding", "confusion", "separator", "comment"})
    help = """Train a sparse sequence labeller on TRAIN, a column file whose last column is the label.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features with zero weight are not in the model.
    """
    examples = """
\b
Examples:
  parsimon train sequence train.txt -m chunk.model -t chunk.tpl
  parsimon train sequence train.txt -m chunk.model -t chunking --dev dev.txt --l1 1
  parsimon train sequence train.txt -m chunk.model --log chunk.jsonl --time-limit 600
  parsimon train sequence train.txt -m chunk.model --resume
  parsimon train sequence train.txt -m ner.model -t martins-ner --select sparseptron --budget 100 --refit mira
  parsimon train sequence train.txt -m pos.model -t words.tpl --grow bigrams.tpl:5 --grow trigrams.tpl:10
"""

    def also_read(self, job: Asked) -> list[str]:
        """Templates."""
        return [job["templates"], *(name for name, _ in grows(job))]

    def plan(self, job: Asked) -> Plan[Labelled, SequenceModel]:
        """Templates, what may grow, and how files are read."""
        from parsimon.tasks.sequences.training import SequenceTraining

        templates = read_templates(job, job["templates"])
        growth = growth_of(job, templates)
        training = SequenceTraining(**self.settings(job), growth=growth)
        self.check(job, training)
        stages = [templates] if growth is None else growth.schedule(templates)
        reader = SequenceFiles(job, templates, [t for stage in stages for t in stage], training)
        return Plan(
            training,
            reader.read,
            lambda data: developed(data, str(job["dev"])),
            self.initial(job, training),
        )

    def predict(self, model: SequenceModel, job: Asked) -> None:
        """Lines with labels."""
        predict_columns(model, job)

    def evaluate(self, model: SequenceModel, job: Asked) -> Evaluated:
        """Spans or labels."""
        return evaluate_columns(model, job, "sequences")


KIND = Sequences()


def developed(data: Labelled, name: str) -> tuple[Any, Any]:
    """Development data, which must have all labels."""
    if (data.y.ids < 0).any():
        raise ParsimonError(f"{name} has tokens without a label; development data need all of them.")
    return data.X, data.y


@dataclass(frozen=True)
class SequenceFiles:
    """Column files of sequences."""

    job: Asked
    templates: TemplateSet
    looked_at: Sequence[Template]
    training: SequenceTraining

    def read(self, source: str) -> Labelled:
        """Columns and labels of a file, which must have the columns that the templates look at."""
        from parsimon.features.columns import split_labels
        from parsimon.features.template_features import TemplateFeatures
        from parsimon.tasks.sequences.training import Labelled

        job = self.job
        file = column_file(source, job["encoding"], job["separator"], job["comment"])
        columns = file.read()
        if not columns.n_tokens:
            raise ParsimonError(
                f"{file.name} has no tokens; it should have one token a line, with its label last."
            )
        X, y = split_labels(columns, file.name, job["unknown"])
        check_columns(X, file.name, self.looked_at)
        return Labelled(TemplateFeatures(self.templates, cutoff=self.training.cutoff), X, y)


# --- Growing ---------------------------------------------------------------------------------------------------


def grows(job: Asked) -> list[tuple[str, int]]:
    """What was given with --grow: templates, and after how many iterations they join in."""
    from parsimon.features.presets import preset_names

    out = []
    for text in job["grow"]:
        found = re.fullmatch(r"(.+):([0-9]+)", text)
        if found is None or text in preset_names() or Path(text).exists():
            out.append((text, GROW_AFTER))
        else:
            out.append((found[1], int(found[2])))
    return out


def growth_of(job: Asked, first: TemplateSet) -> Growth | None:
    """The stages that follow on the first; beyond the ends of sequences they see what that one does."""
    if not job["grow"]:
        if job["grow_parents"] is not None:
            raise ParsimonError("--grow-parents is about growing; add --grow, as in --grow bigrams.tpl:10.")
        return None
    from parsimon.selection import Growth, Stage

    if job["select"] is not None:
        raise ParsimonError("templates can be selected or grown, but not both; leave out --select or --grow.")
    stages = [Stage(read_templates(job, name, first.boundary), after) for name, after in grows(job)]
    growth = Growth(stages, job["grow_parents"] or "all")
    growth.schedule(first)  # refuses what does not fit together
    return growth
