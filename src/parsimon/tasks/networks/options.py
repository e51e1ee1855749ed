"""The options of learning networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from parsimon.errors import ParsimonError
from parsimon.tasks.options import (
    INTEGER,
    LEARNING,
    NUMBER,
    READING,
    STOPPING,
    TrainingOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.penalties import Penalty
    from parsimon.solvers import Solver

CRITERIA = ("bic", "ebic", "cv")
LOSSES = ("pseudo-likelihood", "log")
INFERENCES = ("bp", "exact")
PENALTIES = ("auto", "l1", "group")


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkOptions(TrainingOptions):
    """What networks have besides: how many edges, and how they are judged."""

    alpha: float | str | None = option(
        "ebic",
        "Strength of the penalty: the larger, the fewer edges. Losses are summed, so it grows with the number of rows. "
        "Or how it is chosen along a path of strengths: 'bic' or 'ebic', the (extended) Bayesian information criterion "
        "(Foygel & Drton 2010), or 'cv', cross-validation. None leaves it to a penalty object.",
        LEARNING,
        metavar="NUMBER|bic|ebic|cv",
    )
    penalty: str | Penalty = option(
        "auto",
        "'l1' on single weights, or 'group', a group lasso with a group for every edge; 'auto' is l1 where all columns "
        "have two states. An object is a penalty of all features: those of the columns in turn, then those of the "
        "pairs of columns.",
        LEARNING,
        choices=PENALTIES,
    )
    loss: str = option(
        "pseudo-likelihood",
        "The pseudo-likelihood (Besag 1975), whose gradient is exact on any graph; or 'log', the likelihood, as far as "
        "inference finds it.",
        LEARNING,
        choices=LOSSES,
    )
    inference: str = option(
        "bp",
        "How marginals are found: belief propagation, exact on trees and otherwise an approximation; or 'exact', a "
        "junction tree, for small networks.",
        LEARNING,
        choices=INFERENCES,
    )
    node_share: float = option(
        0.01,
        "Weights of single columns (with products in edges taken from their means) are penalised by this share of "
        "alpha; without it, rare states would have no finite weights.",
        LEARNING,
        kind=NUMBER,
        above=0,
        metavar="SHARE",
    )
    gamma: float = option(
        0.5,
        "Of the extended BIC: 0 is BIC, 1 the most cautious.",
        LEARNING,
        kind=NUMBER,
        least=0,
    )
    cv: int = option(
        5,
        "Folds of cross-validation.",
        LEARNING,
        kind=INTEGER,
        least=2,
        metavar="N",
    )
    n_alphas: int = option(
        30,
        "How many strengths the path has at most.",
        LEARNING,
        kind=INTEGER,
        least=2,
        metavar="N",
    )
    alpha_min_ratio: float = option(
        0.02,
        "The last strength of the path, as a share of the first, at which the first edge comes in.",
        LEARNING,
        kind=NUMBER,
        above=0,
        metavar="SHARE",
    )
    patience: int = option(
        5,
        "End the path when N strengths in a row were no better than the best.",
        LEARNING,
        kind=INTEGER,
        least=1,
        metavar="N",
    )
    stability: int | None = option(
        None,
        "Stability selection (Meinshausen & Bühlmann 2010): keep edges that are found again and again on N random "
        "halves of the rows, and learn their weights again nearly without penalty.",
        LEARNING,
        kind=INTEGER,
        least=2,
        metavar="N",
    )
    stability_threshold: float = option(
        0.75,
        "With stability selection: the share of halves in which an edge must be found.",
        LEARNING,
        kind=NUMBER,
        above=0,
        most=1,
        metavar="SHARE",
    )
    max_states: int = option(
        50,
        "Refuse columns that have more different values.",
        READING,
        kind=INTEGER,
        least=2,
        metavar="N",
        lasting=False,
    )
    solver: str | Solver = changed(
        TrainingOptions, "solver", "grafting-light", help="The algorithm; 'auto' takes the first that fits."
    )
    unit: int | None = option(
        None,
        "How many features or groups a grafting solver adds at a time.",
        STOPPING,
        kind=INTEGER,
        least=1,
        metavar="N",
        shown="the solver's",
        lasting=False,
    )

    def check(self) -> None:
        """Refuses values that cannot be meant, in one sentence."""
        super().check()
        if self.strength is None and isinstance(self.penalty, str):
            raise ParsimonError(
                "alpha is None, which leaves the strength to a penalty object; give a number, or such a penalty."
            )
        if not self.alpha_min_ratio < 1:
            raise ParsimonError(
                f"alpha_min_ratio must be a number above zero and below 1, not {self.alpha_min_ratio}."
            )

    @property
    def strength(self) -> float | str | None:
        """What `alpha` means: a number (also as text, as a command has it), one of the criteria, or None."""
        if self.alpha is None or self.alpha in CRITERIA:
            return self.alpha
        try:
            number = float(self.alpha)
        except (TypeError, ValueError):
            number = float("nan")
        if isinstance(self.alpha, bool) or not 0 < number < float("inf"):
            raise ParsimonError(
                f"alpha must be a number above zero, or one of {', '.join(CRITERIA)}, not {self.alpha!r}."
            )
        return number
