"""The options of training labellers of trees."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.tasks.options import INTEGER, LEARNING, READING, option
from parsimon.tasks.sequences.options import LabellingOptions


@dataclass(kw_only=True, eq=False, repr=False)
class TreeOptions(LabellingOptions):
    """What labellers of trees have besides."""

    siblings: str | None = option(
        None,
        "The label of a node depends on the label of the sibling before it, instead of its parent's or also on it. "
        "Templates that start with S are about such pairs, or those that start with B if there are none. 'also' takes "
        "longer.",
        LEARNING,
        choices=("instead", "also"),
        shown="labels depend on the parent's",
    )
    kind_column: int | None = option(
        None,
        "A column that tells kinds of nodes apart: a node gets only labels that its kind has in the training data.",
        READING,
        kind=INTEGER,
        least=0,
        metavar="N",
    )
