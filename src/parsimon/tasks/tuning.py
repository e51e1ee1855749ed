"""Strengths that choose themselves: a path of them, scored on development data or on folds, then a fit of all data.

A path begins at the strength from which on everything is dropped and falls geometrically, each fit with a warm start
from the one before (Friedman, Hastie & Tibshirani 2010, §2.5). It ends early when scores have fallen for a while. The
choice is the best mean score or, with one standard error, the smallest model that is not worse than it by more than the
standard error of its mean over folds (Breiman et al. 1984, §3.4.3).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, Self

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError, warn
from parsimon.penalties import ElasticNet, Penalty
from parsimon.penalties.base import ConjugatePenalty, ElasticPenalty
from parsimon.problem import Problem
from parsimon.solvers import Weights
from parsimon.tasks.options import TuningOptions
from parsimon.tasks.training import Data, Model, Run, Task, Training, free_gradient

PATIENCE = 4  # strengths in a row that are no better, after which a path ends
GAIN = 0.2  # a path without an L1 part begins where Ω leaves no more than this share of the loss to gain

Scored = tuple[float, float]  # the score of a fit, and how many weights it has


@dataclass(frozen=True)
class Family:
    """Penalties that differ in one strength, by the names of their options; others are fixed, or so many times it."""

    main: str
    fixed: Mapping[str, float] = field(default_factory=dict)
    tied: Mapping[str, float] = field(default_factory=dict)
    least: float = 1e-3  # the last strength of the path, as a share of the first
    a_decade: int = 4  # strengths from one to a tenth of it

    def at(self, strength: float) -> dict[str, float]:
        """All strengths, by the names of their options."""
        tied = {name: float(f"{ratio * strength:.4g}") for name, ratio in self.tied.items()}
        return {self.main: strength, **tied, **self.fixed}

    def path(self, largest: float) -> list[float]:
        """Strengths from the largest on; four digits say enough, and can be given again."""
        n = 1 + round(-self.a_decade * np.log10(self.least))
        return [float(f"{each:.4g}") for each in np.geomspace(largest, self.least * largest, n)]


@dataclass(frozen=True)
class Tried:
    """Strengths that were tried: the mean score, its standard error if that is known, and the mean size."""

    strengths: Mapping[str, float]
    score: float
    error: float | None
    size: float


@dataclass(frozen=True)
class Tuned:
    """What was tried, and chosen."""

    tried: tuple[Tried, ...]
    chosen: Mapping[str, float]
    rule: str
    folds: int | None  # how many have scores; None: on development data

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "tried": [{**vars(each), "strengths": dict(each.strengths)} for each in self.tried],
            "chosen": dict(self.chosen),
            "rule": self.rule,
            "folds": self.folds,
        }


@dataclass(frozen=True)
class Part(Generic[Data, Model]):
    """Data to learn from, and a score on others."""

    name: str
    task: Task[Model]
    score: Callable[[Weights], float]


@dataclass(kw_only=True)
class TunedTraining(TuningOptions, Training[Data, Model], Generic[Data, Model]):
    """A training whose strengths can choose themselves. What is abstract here is what a kind supplies."""

    tuned: Tuned | None = field(default=None, repr=False)  # what was chosen, for the record

    # ---- what a kind supplies ----------------------------------------------------------------------------------

    @abstractmethod
    def families(self) -> Sequence[Family]:
        """The paths of strengths; none if all are given."""

    @abstractmethod
    def classes_of(self, data: Data) -> IntArray:
        """The class of every instance, so that each fold has its share of all; zeros if they have none."""

    @abstractmethod
    def part(self, data: Data, chosen: IntArray) -> Data:
        """Some of the instances."""

    @abstractmethod
    def held_out(self, data: Data) -> Any:
        """Data in the form of development data."""

    @abstractmethod
    def task(self, data: Data) -> Any:
        """The problem of some data."""

    @abstractmethod
    def again(self, task: Any) -> Any:
        """The same data with the strengths of this training."""

    def scored_on(self, task: Any, dev: Any) -> Callable[[Weights], float]:
        """The score of weights on development data."""
        score: Callable[[Weights], float] = task.development_score(dev)
        return score

    def ready(self, data: Data) -> Data:
        """The data as they are cut into folds: what can be done once is done."""
        return data

    @property
    def tunes(self) -> bool:
        """Whether strengths are to be chosen."""
        return bool(self.tune)

    @property
    def loose(self) -> float | None:
        """The tolerance of fits that are only compared; None if no tolerance says when they end."""
        return 1e-3 if self.solver == "auto" else self.tol

    # ---- the frame ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuses a choice of what has been given."""
        super().check()
        if not self.tune:
            return
        families = self.families()
        if not families:
            raise ParsimonError("tune=True has nothing to choose: every strength is given; leave one out.")
        defaults = {each.name: each.default for each in fields(self)}
        for name in {name for family in families for name in family.at(1.0)} - set(families[0].fixed):
            if getattr(self, name) not in (defaults[name], 0):
                raise ParsimonError(
                    f"tune=True chooses {name}, so {name}={getattr(self, name):g} would make no difference; leave one "
                    "of them out."
                )

    def settled(
        self, data: Data, run: Run, *, dev: Any = None, start: Any = None
    ) -> tuple[Self, Data, Any, Any]:
        """This training with strengths, the data, development data to stop by, and a model to start from.

        Development data that have chosen the strengths do not stop the last fit as well: its end is what they chose.
        """
        given = self, data, dev, start
        if not self.tunes:
            return given
        if dev is not None and self.tune_rule != "best":
            raise ParsimonError(
                "a tune_rule with standard errors needs folds; leave out the development data, or take the best score."
            )
        run.phase("tuning: preparing")
        data = self.ready(data)
        families = self.families()
        cuts = self._cuts(data) if dev is None else []
        if not families or (dev is None and len(cuts) < 2):
            if self.tune:
                raise ParsimonError(
                    "there are too few instances for folds; give strengths, or leave out tune=True."
                )
            return given
        found = Search(self, data, run, families, cuts, dev).choose()
        if found is None:
            return given
        tuned, model = found
        return self.at(tuned.chosen, tuned), data, None, start if model is None else model

    def at(self, strengths: Mapping[str, float], tuned: Tuned | None = None) -> Self:
        """The same with these strengths, which are then given."""
        settings: dict[str, Any] = {**strengths, "tune": False, "tuned": tuned}
        return replace(self, **settings)

    def _cuts(self, data: Data) -> list[IntArray]:
        """The folds: every class is spread over all of them as evenly as can be; fewer where a class is small."""
        classes = self.classes_of(data)
        folds = min(self.folds, int(np.min(np.unique(classes, return_counts=True)[1], initial=len(classes))))
        order = np.random.default_rng(self.seed).permutation(len(classes))
        order = order[np.argsort(classes[order], kind="stable")]
        return [np.sort(order[number::folds]) for number in range(folds)] if folds > 1 else []

    def describe(self, task: Task[Model], result: Any) -> dict[str, Any]:
        """With the strengths that were tried."""
        tuning = {} if self.tuned is None else {"tuning": self.tuned.to_dict()}
        return {**super().describe(task, result), **tuning}


class Search(Generic[Data, Model]):
    """One choice of strengths."""

    def __init__(
        self,
        training: TunedTraining[Data, Model],
        data: Data,
        run: Run,
        families: Sequence[Family],
        cuts: Sequence[IntArray],
        dev: Any,
    ) -> None:
        self.training, self.data, self.run, self.families = training, data, run, families
        self.cuts, self.dev = cuts, dev
        tol = None if training.loose is None else max(training.tol or 0.0, training.loose)
        self.loose = training if tol is None else replace(training, tol=tol)
        self.tops: list[float] = []
        self.scored: list[list[list[Scored]]] = [[] for _ in families]  # by family, fold and strength
        self.kept: dict[tuple[int, int], tuple[Any, Any]] = {}  # the last fit of each strength

    def choose(self) -> tuple[Tuned, Any] | None:
        """What is best, and a model to start from if nothing more can be learnt; None if nothing was scored."""
        whole = self.training.task(self.data)
        self.tops = [self._largest(whole, family) for family in self.families]
        for part in self._parts(whole):
            for number, family in enumerate(self.families):
                self._along(part, number, family)
                if self.run.stopped:
                    break
            if self.run.stopped:
                fits = sum(len(fold) for family in self.scored for fold in family)
                warn(f"the choice of strengths was ended after {fits} fits; give it more time, or strengths.")
                break
        return self._best()

    def _parts(self, whole: Any) -> Iterator[Part[Data, Model]]:
        """Each fold in turn; or all data, and the development data."""
        if self.dev is not None:
            yield Part("", whole, self.training.scored_on(whole, self.dev))
            return
        n = sum(map(len, self.cuts))
        for number, cut in enumerate(self.cuts, start=1):
            self.run.phase(f"tuning: fold {number} of {len(self.cuts)}", 0.9 * (number - 1) / len(self.cuts))
            rest = np.setdiff1d(np.arange(n), cut)
            task = self.training.task(self.training.part(self.data, rest))
            held = self.training.held_out(self.training.part(self.data, cut))
            yield Part(f"fold {number} of {len(self.cuts)}, ", task, self.training.scored_on(task, held))

    def _largest(self, whole: Any, family: Family) -> float:
        """The first strength of a path: from there on everything is dropped, or hardly anything is learnt."""
        unit = self.training.at(family.at(1.0)).again(whole).problem
        return largest_of(unit, family)

    def _along(self, part: Part[Data, Model], number: int, family: Family) -> None:
        """One path on one part of the data."""
        scored: list[Scored] = []
        self.scored[number].append(scored)
        weights = Weights.zeros(part.task.problem.n_features)
        path = family.path(self.tops[number])
        for i, strength in enumerate(path):
            self.run.phase(
                f"tuning: {part.name}strength {i + 1} of {len(path)}", self._done(number, i / len(path))
            )
            training = self.loose.at(family.at(strength))
            here = training.again(part.task)
            result = self.run.fit(
                f"tuning: {part.name}{_named(family.at(strength))}",
                training.solver_for(here),
                here.problem,
                weights,
                max_iter=training.iterations,
                brief=True,
            )
            weights = result.weights
            if result.status.stopped_early and (scored or self.scored[number][:-1]):
                return
            scored.append((part.score(weights), float(weights.nonzero().n_active)))
            self.kept[number, i] = here, result
            if result.status.stopped_early or _fallen([score for score, _ in scored]):
                return

    def _done(self, number: int, share: float) -> float:
        """How much of the whole training is done."""
        folds, families = max(len(self.cuts), 1), len(self.families)
        return 0.9 * ((len(self.scored[number]) - 1) + (number + share) / families) / folds

    def _best(self) -> tuple[Tuned, Any] | None:
        """By the rule, of the strengths that all folds have reached."""
        tried: list[tuple[Tried, tuple[int, int]]] = []
        done = 0
        for number, family in enumerate(self.families):
            folds = [fold for fold in self.scored[number] if fold]
            if self.run.stopped and len(folds) > 1:  # one that was cut short tells little
                folds.pop()
            path, done = family.path(self.tops[number]), max(done, len(folds))
            for i in range(min(map(len, folds), default=0)):
                scores, sizes = np.array([fold[i] for fold in folds]).T
                each = Tried(
                    family.at(path[i]), float(np.mean(scores)), self._error(scores), float(np.mean(sizes))
                )
                tried.append((each, (number, i)))
        if not tried:
            return None
        all_tried = tuple(each for each, _ in tried)
        best = chosen_of(all_tried, self.training.tune_rule)
        counted = None if self.dev is not None else done
        tuned = Tuned(all_tried, best.strengths, self.training.tune_rule, counted)
        return tuned, self._model(tried[all_tried.index(best)][1]) if self.run.stopped else None

    def _error(self, scores: Array) -> float | None:
        """The standard error of the mean over folds."""
        return float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else None

    def _model(self, place: tuple[int, int]) -> Any:
        """A model with these strengths, of a part of the data."""
        task, result = self.kept[place]
        return task.model(result, {})


def largest_of(unit: Problem, family: Family) -> float:
    """The first strength of a path, from the problem whose main strength is one.

    Everything is dropped from the L1 strength on at which that alone would drop it, and from such a group strength on;
    the smallest of these bounds is taken. Without either, Ω = λ Ω₁ is smooth, and as the loss is convex it cannot fall
    from L(0) by more than Ω₁*(−∇L(0))/λ; the path begins where that is a small share of L(0).
    """
    gradient, loss = free_gradient(unit)
    limits = list(_limits(unit.penalty, gradient, family))
    if not limits:
        assert isinstance(unit.penalty, ConjugatePenalty)
        limits = [unit.penalty.conjugate(-gradient) / (GAIN * max(loss, 1e-12))]
    top = min(limits)
    return top if 0 < top < np.inf else 1.0


def _limits(penalty: Penalty, gradient: Array, family: Family) -> Iterator[float]:
    moving = {family.main: 1.0, **family.tied}
    if moving.get("l1") and isinstance(penalty, ElasticPenalty):
        yield ElasticNet(1.0, weight=penalty.weight).dual_norm(gradient) / moving["l1"]
    groups = [ratio for name, ratio in moving.items() if name not in ("l1", "l2") and ratio]
    if penalty.groups is not None and groups:
        others: Any = replace(penalty, l1=0.0) if "l1" in moving else penalty  # type: ignore[type-var]
        yield others.dual_norm(gradient) / groups[0]


def chosen_of(tried: Sequence[Tried], rule: str) -> Tried:
    """The best score, of equals the smallest model; or the smallest model within one standard error of it.

    >>> path = [Tried({"l1": 4.0}, 0.5, 0.1, 2), Tried({"l1": 2.0}, 0.85, 0.1, 9), Tried({"l1": 1.0}, 0.9, 0.1, 40)]
    >>> [dict(chosen_of(path, rule).strengths) for rule in ("best", "one-standard-error")]
    [{'l1': 1.0}, {'l1': 2.0}]
    """
    best = max(tried, key=lambda each: (each.score, -each.size))
    if rule == "best":
        return best
    least = best.score - (best.error or 0.0)
    return min((each for each in tried if each.score >= least), key=lambda each: (each.size, -each.score))


def _fallen(scores: Sequence[float]) -> bool:
    """Whether the best score is some strengths ago, not counting those at which there was nothing to see yet."""
    best = int(np.argmax(scores))
    return scores[best] > scores[0] and len(scores) - 1 - best >= PATIENCE


def _named(strengths: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in strengths.items())
