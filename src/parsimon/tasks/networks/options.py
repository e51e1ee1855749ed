"""Options of Markov networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from parsimon.errors import ParsimonError
from parsimon.magnitudes import LARGEST
from parsimon.tasks.options import (
    LEARNING,
    READING,
    STOPPING,
    TrainingOptions,
    changed,
    excerpt,
    option,
)

if TYPE_CHECKING:
    from parsimon.penalties import Penalty
    from parsimon.solvers import Solver

SEARCHES = ("auto", "greedy", "penalty")
CRITERIA = ("bic", "ebic", "cv")
LOSSES = ("pseudo-likelihood", "log")
INFERENCES = ("bp", "exact")
PENALTIES = ("auto", "l1", "group")
# Options without which a penalty, or a path of its strengths, would make no difference.
OF_PENALTIES = (
    "penalty", "loss", "node_share", "n_alphas", "alpha_min_ratio", "patience", "stability", "solver",
    "unit", "max_iter", "tol",
)  # fmt: skip
MISSING = ("refuse", "drop", "state")


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkOptions(TrainingOptions):
    """Options for the number of edges and how they are selected."""

    alpha: float | str | None = option(
        "ebic",
        "Strength of the penalty. The larger it is, the fewer edges remain. Losses are summed, so it should grow with "
        "the number of rows. Or the criterion that selects it along a path: 'bic' or 'ebic', the (extended) Bayesian "
        "information criterion (Foygel & Drton 2010), or 'cv', cross-validation. None: a penalty object has its own.",
        LEARNING,
        metavar="NUMBER|bic|ebic|cv",
    )
    search: str = option(
        "auto",
        "How edges are found. 'greedy': neighbours of every column are added one at a time while the criterion gains "
        "(Jalali, Johnson & Ravikumar 2011). 'penalty': those whose weights the penalty leaves, along a path of "
        "strengths if alpha is a criterion, which takes much longer. 'auto' is greedy if alpha is bic or ebic and no "
        "option that is about a penalty or its path has been changed.",
        LEARNING,
        choices=SEARCHES,
    )
    penalty: str | Penalty = option(
        "auto",
        "'l1' penalises single weights; 'group' is a group lasso with a group for each edge; 'auto' is 'l1' if all "
        "columns have two states, else 'group'. An object penalises all features: those of each column, then those of "
        "each pair of columns.",
        LEARNING,
        choices=PENALTIES,
    )
    loss: str = option(
        "pseudo-likelihood",
        "'pseudo-likelihood' (Besag 1975), whose gradient is exact on any graph; or 'log', the likelihood, which is as "
        "exact as the inference.",
        LEARNING,
        choices=LOSSES,
    )
    inference: str = option(
        "bp",
        "The algorithm for marginals: 'bp', belief propagation, is exact on trees and otherwise approximate; 'exact' "
        "is a junction tree, for small networks.",
        LEARNING,
        choices=INFERENCES,
    )
    node_share: float = option(
        0.01,
        "The penalty on the weights of single columns, as a share of alpha. Without it, rare states would have no "
        "finite weights.",
        LEARNING,
        above=0,
        metavar="SHARE",
    )
    gamma: float = option(
        0.5, "The parameter of the extended BIC: 0 is the BIC, 1 is the most cautious.", LEARNING, least=0
    )
    cv: int = option(5, "The number of folds of cross-validation.", LEARNING, least=2)
    n_alphas: int = option(30, "The largest number of strengths on the path.", LEARNING, least=2)
    alpha_min_ratio: float = option(
        0.02,
        "The last strength of the path as a share of the first, at which the first edge enters.",
        LEARNING,
        above=0,
        metavar="SHARE",
    )
    patience: int = option(
        5,
        "End the path after N different graphs in a row without improvement. Strengths that leave the same edges are "
        "one graph.",
        LEARNING,
        least=1,
    )
    stability: int | None = option(
        None,
        "Stability selection (Meinshausen & Bühlmann 2010): keep edges that are found repeatedly on N random halves of "
        "the rows, and refit their weights almost without penalty.",
        LEARNING,
        least=2,
    )
    stability_threshold: float = option(
        0.75,
        "The share of halves on which stability selection must find an edge.",
        LEARNING,
        above=0,
        most=1,
        metavar="SHARE",
    )
    drop: Sequence[str] = option(
        (), "Names of columns to leave out.", READING, lasting=False, from_python_only=True
    )
    bins: int | None = option(
        None,
        "Cut columns of numbers with fractions, or with more than N distinct values, into N bins with about as many "
        "rows in each. The model keeps the bins for new data.",
        READING,
        least=2,
        lasting=False,
    )
    missing: str = option(
        "refuse",
        "Missing values: 'refuse' them; 'drop' rows that have one; or 'state', being missing is a state of the column.",
        READING,
        choices=MISSING,
        lasting=False,
    )
    max_states: int = option(
        50, "Refuse columns with more than N distinct values.", READING, least=2, lasting=False
    )
    solver: str | Solver = changed(
        TrainingOptions,
        "solver",
        "grafting-light",
        help="The algorithm; 'auto' takes the first that suits.",
    )
    unit: int | None = option(
        None,
        "The number of features or groups that a grafting solver adds at a time.",
        STOPPING,
        least=1,
        shown="the solver's",
    )

    def check(self) -> None:
        """Refuses invalid values in one sentence."""
        super().check()
        if isinstance(self.drop, str) or not all(isinstance(name, str) for name in self.drop):
            raise ParsimonError(f"drop must be a list of names of columns, not {excerpt(self.drop)}.")
        if self.strength is None and isinstance(self.penalty, str):
            raise ParsimonError(
                "alpha is None, which leaves the strength to a penalty object; give a number, or such a penalty."
            )
        if self.search == "greedy" and self.strength not in ("bic", "ebic"):
            raise ParsimonError(
                f"search='greedy' adds edges by a criterion, so alpha must be bic or ebic, not {excerpt(self.alpha)}."
            )
        if self.search == "greedy" and self.stability is not None:
            raise ParsimonError(
                "stability selection repeats a fit with a penalty; use search='penalty', or leave out stability."
            )
        if not self.alpha_min_ratio < 1:
            raise ParsimonError(
                f"alpha_min_ratio must be a number above zero and below 1, not {self.alpha_min_ratio}."
            )

    @property
    def chosen_search(self) -> str:
        """`search`, or what it stands for."""
        if self.search != "auto":
            return self.search
        usual = {each.name: each.default for each in fields(self)}
        as_usual = all(getattr(self, name) == usual[name] for name in OF_PENALTIES)
        return "greedy" if as_usual and self.strength in ("bic", "ebic") else "penalty"

    @property
    def strength(self) -> float | str | None:
        """The meaning of `alpha`: a number (which may be given as text), one of the criteria, or None."""
        if self.alpha is None or self.alpha in CRITERIA:
            return self.alpha
        try:
            number = float(self.alpha)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if isinstance(self.alpha, bool) or not 0 < number <= LARGEST:
            raise ParsimonError(
                f"alpha must be a number above zero, or one of {', '.join(CRITERIA)}, not {self.alpha!r}."
            )
        return number
