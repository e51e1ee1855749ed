"""Options of tree labellers."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.tasks.options import LEARNING, READING, option
from parsimon.tasks.sequences.options import LabellingOptions


@dataclass(kw_only=True, eq=False, repr=False)
class TreeOptions(LabellingOptions):
    """Options that only tree labellers have."""

    siblings: str | None = option(
        None,
        "Let the label of a node depend on the label of its previous sibling, 'instead' of its parent's label or "
        "'also' on it, which is slower. Templates that start with S describe such pairs; without any, those that "
        "start with B do.",
        LEARNING,
        choices=("instead", "also"),
        shown="labels depend on the parent's",
    )
    kind_column: int | None = option(
        None,
        "The column with the kind of a node. A node only gets labels that nodes of its kind have in the training data.",
        READING,
        least=0,
    )
