"""A budget that nobody has to guess: the smallest that is about as good as the best on instances that were held out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.losses import Perceptron
from parsimon.penalties import L2
from parsimon.problem import HasHeldOut, Problem
from parsimon.selection.base import (
    Budgeted,
    Candidates,
    Selected,
    Tried,
    always_kept,
    check_budget,
    completed,
    features_of_templates,
)
from parsimon.solvers.driver import Monitor, drive
from parsimon.solvers.online import Online
from parsimon.weights import Weights

# Budgets that are tried, as far as there are templates.
STEPS = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320)


@dataclass(frozen=True)
class HeldOutBudget:
    """Another selection, with a budget chosen on held-out instances.

    Every budget is tried on most of the instances: what the selection leaves is refitted by an averaged perceptron, and
    its mistakes are counted on the others. The best budget is that with the fewest mistakes; the one that is taken is
    the smallest whose mistakes are more by at most one standard error of the difference, instance by instance
    (Breiman et al. 1984, §3.4.3). With it, the selection is made on all instances. (A filter ranks templates by all
    instances from the beginning.)
    """

    selection: Budgeted
    budgets: tuple[int, ...] = ()  # default: STEPS
    share: float = 0.2
    epochs: int = 5  # of the perceptron
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParsimonError(f"the share of instances held out must be between 0 and 1, not {self.share}.")
        if any(budget < 1 for budget in self.budgets):
            raise ParsimonError("budgets must be at least 1.")

    @property
    def name(self) -> str:
        """That of the selection."""
        return self.selection.name

    @property
    def weighs_features(self) -> bool:
        """Whether the selection does."""
        return self.selection.weighs_features

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Tries all budgets, takes one, and selects."""
        check_budget(0, candidates.features)
        problem = candidates.problem
        if not isinstance(problem, HasHeldOut):
            raise ParsimonError("no instances of this problem can be held out; give a budget.")
        learnt, held = problem.held_out(self.share, self.seed)
        n = int(np.sum(~always_kept(candidates.features)))
        usual = [budget for budget in STEPS if budget < n] or [max(n - 1, 1)]  # all templates are no choice
        budgets = sorted({min(budget, n) for budget in self.budgets or usual})
        mistakes = np.array(
            [
                held.mistakes(self._tried(budget, replace(candidates, problem=learnt), monitor))
                for budget in budgets
            ]
        )
        worse, error = excess(mistakes)
        best = next(i for i in range(len(budgets)) if worse[i] <= error[i])
        chosen = replace(self.selection, budget=budgets[best]).select(candidates, monitor)
        tried = zip(budgets, mistakes.sum(axis=1).tolist(), error.tolist(), strict=True)
        return replace(chosen, tried=[Tried(*each) for each in tried])

    def _tried(self, budget: int, candidates: Candidates, monitor: Monitor) -> Weights:
        """Weights of what the selection leaves with a budget."""
        chosen = replace(self.selection, budget=budget).select(candidates, monitor)
        kept = chosen.features
        if kept is None:
            kept = features_of_templates(candidates.features, chosen.kept)
        return refitted(candidates.problem, kept, self.epochs, self.seed, monitor)


def refitted(problem: Problem, kept: IntArray, epochs: int, seed: int, monitor: Monitor) -> Weights:
    """The weights of an averaged perceptron with some of the features."""
    small = problem.restrict(kept).with_loss(Perceptron()).with_penalty(L2(0.0))
    found = completed(
        drive(Online(epochs, seed=seed), small, Weights.zeros(len(kept)), monitor)
    ).weights.nonzero()
    return Weights(found.values, kept[found.features], problem.n_features)


def excess(mistakes: Array) -> tuple[Array, Array]:
    """By how many mistakes each row of instances is above the best one, with the standard error of that difference.

    >>> worse, error = excess(np.array([[1.0, 0.0, 2.0, 1.0], [1.0, 1.0, 1.0, 0.0]]))
    >>> worse.tolist(), error.round(3).tolist()
    ([1.0, 0.0], [1.915, 0.0])
    """
    best = mistakes[int(np.argmin(mistakes.sum(axis=1)))]
    more = mistakes - best
    n = mistakes.shape[1]
    spread = more.std(axis=1, ddof=1) if n > 1 else np.zeros(len(mistakes))
    return more.sum(axis=1), spread * np.sqrt(n)
