"""Options of dependency parsers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from parsimon.tasks.options import (
    LEARNING,
    DevelopmentOptions,
    PenaltyOptions,
    PruningOptions,
    SelectionOptions,
    TrainingOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.features.arc_templates import ArcTemplates
    from parsimon.losses import Loss
    from parsimon.selection import Selection
    from parsimon.solvers import Solver


@dataclass(kw_only=True, eq=False, repr=False)
class ParserOptions(SelectionOptions, PenaltyOptions, PruningOptions, DevelopmentOptions, TrainingOptions):
    """The options of a parser, except the templates of its arcs."""

    loss: str | Loss = option(
        "hinge",
        "The loss. 'log' gives a conditional random field over trees.",
        LEARNING,
        choices=("log", "hinge", "perceptron"),
    )
    solver: str | Solver = changed(
        TrainingOptions,
        "solver",
        "mira",
        help="The optimisation algorithm. 'mira' (for the hinge loss) and 'sgd' learn online; 'auto' takes the first "
        "that suits the loss and the penalty.",
    )
    max_iter: int | None = changed(TrainingOptions, "max_iter", None, shown="10 epochs of online learning")
    selection: Selection | None = changed(
        SelectionOptions,
        "selection",
        None,
        help="A first stage that selects templates, for instance Sparseptron(budget=200). All other options apply to "
        "the second stage.",
    )
    cutoff: int = changed(
        SelectionOptions,
        "cutoff",
        1,
        help="Leave out attributes that fire on fewer than N arcs of the trees.",
    )
    projective: bool = option(False, "Predict only trees whose arcs do not cross.", LEARNING)
    single_root: bool | None = option(
        None,
        "Allow only one word to be attached to the root.",
        LEARNING,
        shown="as in the training data",
        flags=("--single-root/--many-roots",),
    )
    first_pass: bool = option(
        True,
        "Learn a small parser, too, that rules out most arcs before the features of the others are looked up: much "
        "faster. It leaves 99.7% of the right arcs of sentences that it has not seen. There is none if the training "
        "data have fewer than some 10,000 words.",
        LEARNING,
        flags=("--first-pass/--no-first-pass",),
    )
    relations: str | Path | ArcTemplates | None = option(
        "relations",
        "Templates for the second step, which labels the relations of words to their heads: the name of a preset, a "
        "file, or ArcTemplates. None leaves relations out.",
        LEARNING,
        from_python_only=True,
        lasting=False,  # their text is part of the fingerprint
    )
    relation_epochs: int = option(
        10, "The number of epochs to learn relations.", LEARNING, least=1, from_python_only=True
    )
