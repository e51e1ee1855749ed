"""Choosing templates or features before the final model is learnt: the two-stage recipe.

    1. Learn with a penalty or a budget that drops whole groups of features (or rank templates by a filter).
    2. Refit on what is left, without what made the first stage choose: it shrinks weights too.

(Martins et al. 2011, §4, "Sparseptron and Debiasing".) What is left are the features that have a weight when the first
stage ends, or all features of the templates that have any. Label bigrams and biases are never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.feature_table import FeatureTable
from parsimon.errors import ParsimonError, warn
from parsimon.forms import count, flag, list_of, number, optional, record, text
from parsimon.penalties.groupings import ByTemplate, Grouping
from parsimon.problem import Problem
from parsimon.solvers.base import Event, Result, Status
from parsimon.solvers.driver import Monitor
from parsimon.weights import Weights


@dataclass(frozen=True)
class Candidates:
    """What there is to choose from."""

    problem: Problem
    features: FeatureTable
    gains: Callable[[], Array]  # the information gain of every template, in bits


@dataclass(frozen=True)
class Tried:
    """A budget that was tried on instances that had been held out."""

    budget: int
    mistakes: float
    error: float  # the standard error of the difference from the fewest mistakes


TRIED = record({"budget": count, "mistakes": number, "error": number}, closed=True)


@dataclass(frozen=True)
class Selected:
    """What was chosen."""

    names: list[str]
    kept: BoolArray  # of every template
    score: Array  # what they were ranked by: a norm, or bits
    history: list[Event] = field(default_factory=list)
    features: IntArray | None = None  # those with a weight, and biases, ascending, if weights were learnt
    tried: list[Tried] = field(default_factory=list)  # budgets, ascending, if there was a choice

    @property
    def order(self) -> list[tuple[str, float]]:
        """Templates and scores, best first."""
        best = np.argsort(-self.score, kind="stable")
        return [(self.names[m], float(self.score[m])) for m in best]

    def to_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        history = [asdict(event) for event in self.history]
        return {
            "names": self.names,
            "kept": self.kept.tolist(),
            "score": self.score.tolist(),
            "history": history,
            "features": None if self.features is None else self.features.tolist(),
            "tried": [asdict(each) for each in self.tried],
        }

    @classmethod
    def from_dict(cls, fields: Any) -> Selected:
        """From what `to_dict` returned; a `ValueError` says what is wrong with anything else."""
        checked = SELECTED(fields, "the selection")
        kept, score = np.array(checked["kept"], bool), np.array(checked["score"], np.float64)
        if not len(checked["names"]) == len(kept) == len(score):
            raise ValueError("not every template has a score")
        features = checked["features"]
        if features is not None:
            features = np.array(features, np.int64)
            if np.any(np.diff(features) <= 0):
                raise ValueError("its features do not ascend")
        tried = [Tried(**each) for each in checked["tried"]]
        return cls(checked["names"], kept, score, checked["history"], features, tried)


SELECTED = record(
    {
        "names": list_of(text),
        "kept": list_of(flag),
        "score": list_of(number),
        "history": list_of(Event.from_dict),
        "features": optional(list_of(count)),
        "tried": list_of(TRIED),
    },
    closed=True,
)


class Selection(Protocol):
    """A way of choosing templates, and perhaps features."""

    @property
    def name(self) -> str:
        """As users know it."""
        ...

    @property
    def weighs_features(self) -> bool:
        """Whether it learns weights, and so knows which features it has left."""
        ...

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Chooses."""
        ...


class Budgeted(Selection, Protocol):
    """A selection, a dataclass, that keeps so many templates at most."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def budget(self) -> int:
        """How many."""
        ...


def completed(result: Result) -> Result:
    """The result, unless it was interrupted: a first stage has no best model so far to return."""
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


def features_of_templates(features: FeatureTable, kept: BoolArray) -> IntArray:
    """All features of some templates, ascending."""
    found = []
    for owner, starts in zip(features.template_of_attributes(), features.starts(), strict=True):
        found.append(starts[0] + np.flatnonzero(np.repeat(kept[owner], np.diff(starts))))
    return np.concatenate(found).astype(np.int64)


def always_kept(features: FeatureTable) -> BoolArray:
    """The templates of biases and label bigrams, which are always kept."""
    out = np.zeros(len(features.template_names()), bool)
    out[features.bias_templates()] = True
    return out


def check_budget(budget: int, features: FeatureTable, groups: Grouping | None = None) -> None:
    """Refuses a choice among nothing; warns of a budget of templates (and no other `groups`) that is no limit."""
    n = int(np.sum(~always_kept(features)))
    if n == 0:
        raise ParsimonError(
            "there are no templates to choose from, as biases and label bigrams are always kept; train without a "
            "selection."
        )
    if budget >= n and (groups is None or isinstance(groups, ByTemplate)):
        what = f"are only {n} templates" if n > 1 else "is only one template"
        advice = "give a smaller number" if n > 1 else "train without a selection"
        warn(f"budget={budget} is no limit, as there {what} to choose from; {advice}.")


def selected(
    features: FeatureTable,
    kept: BoolArray,
    score: Array,
    history: list[Event],
    weights: Weights | None = None,
) -> Selected:
    """A selection with what is always kept; refused if it has no other templates. `weights` are those that are left."""
    always = always_kept(features)
    if not (kept & ~always).any():
        raise ParsimonError("no template was kept; allow a larger budget or more epochs.")
    left = None
    if weights is not None:
        given = weights.nonzero().features
        assert given is not None
        left = np.union1d(given, features.bias_features()).astype(np.int64)
    return Selected(features.template_names(), kept | always, score, list(history), left)
