"""Which templates to keep, found out before the model proper is learnt: the two-stage recipe.

    1. Learn with a penalty or a budget that drops whole templates (or rank them by a filter).
    2. Refit on those that are left, without what made the first stage choose: it shrinks weights too.

(Martins et al. 2011, §4, "Sparseptron and Debiasing".) Label bigrams and biases are never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.feature_table import FeatureTable
from parsimon.groupings import ByTemplate, Grouping
from parsimon.losses import Perceptron
from parsimon.penalties import L2, GroupLasso, never_dropped
from parsimon.problem import Problem
from parsimon.solvers import Budget, Event, Monitor, Online, Result, Status, Weights, choose_solver, drive


@dataclass(frozen=True)
class Candidates:
    """What there is to choose from."""

    problem: Problem
    features: FeatureTable
    gains: Callable[[], Array]  # the information gain of every template, in bits


@dataclass(frozen=True)
class Selected:
    """What was chosen."""

    names: list[str]
    kept: BoolArray  # of every template
    score: Array  # what they were ranked by: a norm, or bits
    history: list[Event] = field(default_factory=list)

    @property
    def order(self) -> list[tuple[str, float]]:
        """Templates and scores, best first."""
        best = np.argsort(-self.score, kind="stable")
        return [(self.names[m], float(self.score[m])) for m in best]

    def told(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        history = [asdict(event) for event in self.history]
        return {
            "names": self.names,
            "kept": self.kept.tolist(),
            "score": self.score.tolist(),
            "history": history,
        }

    @classmethod
    def from_told(cls, told: dict[str, Any]) -> Selected:
        """What `told` described."""
        history = [Event.from_told(event) for event in told["history"]]
        return cls(told["names"], np.array(told["kept"], bool), np.array(told["score"], float), history)


class Selection(Protocol):
    """A way of choosing templates."""

    name: ClassVar[str]

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Chooses."""
        ...


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

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Keeps the templates with a weight other than zero."""
        budget = Budget(self.budget, self.groups, self.shrink, self.fall, self.haste)
        solver = Online(self.epochs, average=False, budget=budget, every=self.every, seed=self.seed)
        problem = replace(candidates.problem, loss=Perceptron(), penalty=L2(0.0))
        bound = solver.bind(candidates.features)
        result = _completed(drive(bound, problem, Weights.zeros(problem.n_features), monitor))
        norms = template_norms(candidates.features, result.weights)
        return _kept(candidates.features, norms > 0, norms, result.history)


@dataclass(frozen=True)
class InformationGain:
    """A filter: the templates that by themselves tell most about the output (Martins et al. 2011, eq. 16)."""

    budget: int = 30
    name: ClassVar[str] = "information-gain"

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Keeps the best."""
        features = candidates.features
        bits = candidates.gains()
        best = np.argsort(-bits, kind="stable")[: self.budget]
        kept = np.zeros(len(bits), bool)
        kept[best] = True
        return _kept(features, kept & (bits > 0), bits, [])


@dataclass(frozen=True)
class GroupLassoPath:
    """A group lasso with the problem's own loss, from the strength at which nothing is left downwards.

    Every strength is solved to a certified optimum, with violations of at most `tol` times the strength, roughly; the
    path ends before more than `budget` templates are in. The score of a template is the largest strength at which it
    was in.
    """

    budget: int = 30
    groups: Grouping = field(default_factory=ByTemplate)
    l1: float = 0.0
    l2: float = 0.1  # what is never dropped might have no finite optimum without it
    ratio: float = 0.8
    most_steps: int = 40
    tol: float = 0.1
    name: ClassVar[str] = "group-lasso"

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Goes down the path."""
        features = candidates.features
        penalty = GroupLasso(1.0, groups=self.groups, l1=self.l1, l2=self.l2).bind(features)
        problem = replace(candidates.problem, penalty=penalty)
        free = never_dropped(penalty, problem.n_features)
        weights, strongest = _first_of_path(problem, free, self.l2, monitor)
        strength = strongest
        score = np.zeros(len(features.template_names()))
        kept = score > 0
        for _ in range(self.most_steps):
            strength *= self.ratio
            problem = replace(problem, penalty=penalty.scaled(strength))
            # Solvers measure violations by the largest at w = 0, which is about the strength that lets nothing in.
            solver = choose_solver("auto", problem, self.tol * strength / strongest)
            result = _completed(drive(solver, problem, weights, monitor))
            weights = result.weights
            norms = template_norms(features, weights)
            alive = (norms > 0) & ~_always(features)
            score = np.where(alive & (score == 0), strength, score)
            if alive.sum() > self.budget:
                break
            kept = alive
            if result.status is Status.TIME:
                break
        return _kept(features, kept, score, monitor.history)


def _first_of_path(problem: Problem, free: IntArray, l2: float, monitor: Monitor) -> tuple[Weights, float]:
    """The weights of what is never dropped, fitted alone, and the strength from which on nothing else comes in."""
    alone = replace(problem.restrict(free), penalty=L2(l2))
    zero = Weights(np.zeros(len(free)), None, len(free))
    result = _completed(drive(choose_solver("lbfgs", alone, 1e-3), alone, zero, monitor))
    weights = Weights(result.weights.dense(), free.astype(np.int64), problem.n_features)
    _, gradient = problem.loss_and_full_gradient(weights.values, free.astype(np.int64))
    gradient[free] = 0.0  # as good as zero
    return weights, float(problem.penalty.dual_norm(gradient))


def _completed(result: Result) -> Result:
    """A first stage that is interrupted leaves no model behind that could be the best so far."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def template_norms(features: FeatureTable, weights: Weights) -> Array:
    """‖w_m‖₂ of the features of every template."""
    kept = weights.nonzero()
    assert kept.features is not None
    squares = np.zeros(len(features.template_names()))
    for rows, templates, numbers, values in features.parts(kept.features, kept.values):
        attribute, _ = rows.describe(numbers)
        squares += np.bincount(templates[attribute], weights=values**2, minlength=len(squares))
    return np.sqrt(squares)


def _always(features: FeatureTable) -> BoolArray:
    """Templates that look at nothing but labels."""
    out = np.zeros(len(features.template_names()), bool)
    out[features.bias_templates()] = True
    return out


def _kept(features: FeatureTable, kept: BoolArray, score: Array, history: list[Event]) -> Selected:
    always = _always(features)
    if not (kept & ~always).any():
        raise ParsimonError("no template was kept; allow a larger budget or more epochs.")
    return Selected(features.template_names(), kept | always, score, list(history))
