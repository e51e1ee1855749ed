"""Options of training on matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parsimon.tasks.options import (
    LEARNING,
    DevelopmentOptions,
    TrainingOptions,
    TuningOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.losses import Loss

# Repeated here because the module that defines them is slow to import.
GROUP_WEIGHTS = ("sqrt", "log2", "log2^1.5", "sqrt-log2", "ones")


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixOptions(TuningOptions, DevelopmentOptions, TrainingOptions):
    """The penalty on groups of columns and on single weights, and the loss."""

    alpha: float = option(
        1.0,
        "Strength of the group penalty. The larger it is, the fewer groups of columns remain.",
        LEARNING,
        least=0,
    )
    groups: Any = option(
        None,
        "Groups of columns: lists of columns (which may overlap), one label for each column, or `Groups`. Columns in "
        "no group only have the l1 and l2 penalties. None: each column is a group.",
        LEARNING,
        from_python_only=True,
    )
    group_weight: Any = option(
        "sqrt",
        "The weight of a group as a function of its number of columns; from Python, also a number for each group. "
        "`Groups` have their own weights.",
        LEARNING,
        choices=GROUP_WEIGHTS,
    )
    l1: float = option(0.0, "L1 strength on single weights.", LEARNING, least=0)
    l2: float = option(0.0, "L2 strength on single weights.", LEARNING, least=0)
    tune: bool | None = changed(
        TuningOptions,
        "tune",
        None,
        help="Choose the strength by the score on the development data, or by folds of the training data if there are "
        "no others: that of groups, with l1 and l2 as given; if that is 0, those of l1 and l2 that are not given.",
        shown="no",
    )
    fit_intercept: bool = option(True, "Fit an intercept, which is not penalised.", LEARNING)
    loss: str | Loss = option(
        "log",
        "The loss. 'log' (logistic regression) and 'hinge' (a support vector machine) are for classes, 'squared' "
        "(least squares) is for numbers.",
        LEARNING,
        choices=("log", "hinge", "squared"),
    )
    solver: Any = changed(
        TrainingOptions,
        "solver",
        "auto",
        help="The optimisation algorithm. 'auto' takes the first that suits the loss and the penalty. "
        "'block-working-set', 'fista' and 'admm' are for groups that overlap. ADMM makes groups small, but not exactly "
        "zero.",
    )
    tol: float | None = changed(
        TrainingOptions,
        "tol",
        1e-5,
        help="Stop when the objective is within this share of the optimum, and no feature violates its optimality "
        "condition by more than 100 times this share of the strength; with 'admm', by the objective alone.",
        shown=None,
    )
    max_iter: int | None = changed(TrainingOptions, "max_iter", 5000, help="Stop after N iterations.")
