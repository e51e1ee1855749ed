"""A perceptron that keeps to a budget of templates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from parsimon.losses import Perceptron
from parsimon.penalties import L2
from parsimon.penalties.groupings import ByTemplate, Grouping
from parsimon.selection.base import Candidates, Selected, check_budget, completed, selected, template_norms
from parsimon.solvers.driver import Monitor, drive
from parsimon.solvers.online import Budget, Online
from parsimon.weights import Weights


@dataclass(frozen=True)
class Sparseptron:
    """Online proximal gradient with the perceptron loss and a budget of groups (Martins et al. 2011).

    Predictions do not depend on the scale of w, so there is no step size to choose. The defaults were found on held-out
    chunking data (docs/results/martins2011.md): survivors are not shrunk, and the budget `fall`s over the first epoch.
    With a shorter fall, or with more `haste` at first (see `Budget`), fewer weights exist at a time.
    """

    budget: int = 30
    epochs: int = 5
    groups: Grouping = field(default_factory=ByTemplate)
    shrink: bool = False
    every: int = 50
    fall: float = 1.0
    haste: float = 1.0
    seed: int = 0
    name: ClassVar[str] = "sparseptron"
    weighs_features: ClassVar[bool] = True

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Keeps the features with a weight other than zero, and their templates."""
        check_budget(self.budget, candidates.features, self.groups)
        budget = Budget(self.budget, self.groups, self.shrink, self.fall, self.haste)
        solver = Online(self.epochs, average=False, budget=budget, every=self.every, seed=self.seed)
        problem = candidates.problem.with_loss(Perceptron()).with_penalty(L2(0.0))
        bound = solver.bind(candidates.features)
        result = completed(drive(bound, problem, Weights.zeros(problem.n_features), monitor))
        norms = template_norms(candidates.features, result.weights)
        return selected(candidates.features, norms > 0, norms, result.history, result.weights)
