"""From labelled sequences to a fitted model: the wiring of features, problem, solver and model. No algorithms."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.chains import build_chain, width
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.feature_table import FeatureTable
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.features.observations import Observations
from parsimon.features.space import FeatureSpace
from parsimon.losses import Loss, get_loss, settings_of
from parsimon.memory import at_most
from parsimon.penalties import L2, ElasticNet, Penalty, never_dropped
from parsimon.problem import Batch, Problem
from parsimon.selection.base import Candidates, Selected, Selection
from parsimon.selection.growth import Growing, Grown, Growth
from parsimon.selection.information_gain import information_gain
from parsimon.solvers import (
    LBFGS,
    Event,
    Monitor,
    Result,
    Solver,
    Status,
    Validation,
    Weights,
    choose_solver,
    drive,
)
from parsimon.solvers.base import thinned
from parsimon.solvers.driver import keep
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace
from parsimon.tasks.checkpoint import (
    belongs_elsewhere,
    ended,
    lasting_settings,
    load_checkpoint,
    save_checkpoint,
    selected_before,
)
from parsimon.tasks.sequences.metrics import SpanCounter, has_spans
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.second_order import TagPairs
from parsimon.tasks.trees.seen_below import seen_below

BATCH = 1 << 20  # part scores (tokens × labels) in one batch: 8 MB
MOST_BATCHES = 24


@dataclass(frozen=True)
class SequenceTraining:
    """How to train. `fit` does it; the parts of it are there for paths and experiments."""

    loss: str | Loss = "log"
    penalty: Penalty = field(default_factory=lambda: ElasticNet(l1=0.5, l2=1e-5))
    penalize_bias: bool = True
    candidates: str = "all"
    order: int = 1
    solver: str | Solver = "auto"
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    dev_metric: str = "auto"
    patience: int = 10
    dev_tolerance: float = 0.0
    prune: float = 0.0
    debias: float | None = None
    selection: Selection | None = None
    growth: Growth | None = None
    threads: int = 1
    memory: int | None = None  # bytes; more is refused
    callbacks: Sequence[Callable[[Event], Any]] = ()
    checkpoint: Path | None = None
    checkpoint_every: float = 30.0
    resume: bool = False

    def fit(
        self,
        space: FeatureSpace,
        X: Any,
        y: Labels,
        *,
        dev: tuple[Any, Labels] | None = None,
        weights: Array | None = None,
        start: SequenceModel | None = None,
    ) -> SequenceModel:
        """Learns attributes and weights, and keeps what is not zero."""
        return self.run(space, X, y, dev=dev, weights=weights, start=start)[0]

    def run(
        self,
        space: FeatureSpace,
        X: Any,
        y: Labels,
        *,
        dev: tuple[Any, Labels] | None = None,
        weights: Array | None = None,
        start: SequenceModel | None = None,
        began: float | None = None,
        tell: Callable[[str], Any] = lambda phase: None,
    ) -> tuple[SequenceModel, Result]:
        """What `fit` does, with the solver's result; `tell` hears what is being done."""
        began = time.perf_counter() if began is None else began
        with at_most(self.memory):
            if self.growth is not None:
                return self._grow(space, X, y, dev, weights, start, began, tell)
            task = self.prepare(space, X, y, weights, selected=self._selected_before())
            first = task.weights_of(start) if start is not None else Weights.zeros(task.problem.n_features)
            tell("training")
            result = self.solve(task, first, dev=dev, began=began)
            return task.model(result, self.describe(task, result)), result

    def _grow(
        self,
        space: FeatureSpace,
        X: Any,
        y: Labels,
        dev: tuple[Any, Labels] | None,
        weights: Array | None,
        start: SequenceModel | None,
        began: float,
        tell: Callable[[str], Any],
    ) -> tuple[SequenceModel, Result]:
        """Stage after stage, each from the weights of the one before.

        Ctrl-C or the time limit ends it in any of them. Development data, checkpoints and all that is done in
        the end are the last one's.
        """
        assert self.growth is not None
        if self.selection is not None:
            raise ParsimonError("templates can be selected or grown, but not both; leave one of them out.")
        growing = Growing(self.growth, space)
        fitted: tuple[SequenceModel, Result] | None = None
        for stage in range(len(growing)):
            tell(f"stage {stage + 1} of {len(growing)}: making features")
            try:
                task = self._task_of(*growing.enter(stage, X, self.threads), y, weights)
            except KeyboardInterrupt:
                if fitted is None:
                    raise
                return _interrupted(*fitted)
            first = growing.carried(task.index)
            if start is not None and stage == 0:
                first = task.weights_of(start)
            tell(growing.now)
            last = stage == len(growing) - 1
            training = self if last else self._for_a_while(growing.lasts(stage))
            history = fitted[1].history if fitted is not None else ()
            result = training.solve(task, first, dev=dev if last else None, began=began, history=history)
            stopped = not last and result.status in (Status.INTERRUPTED, Status.TIME)
            if stopped:
                result = self._finished(task, result, began)
            task = replace(task, grown=growing.leave(task.index, result))
            fitted = task.model(result, self.describe(task, result)), result
            if stopped:
                break
            del task  # before the next stage makes its own
        assert fitted is not None
        return fitted

    def _for_a_while(self, iterations: int | None) -> SequenceTraining:
        """For a stage that is not the last."""
        return replace(self, max_iter=iterations, prune=0.0, debias=None, checkpoint=None, resume=False)

    def prepare(
        self,
        space: FeatureSpace,
        X: Any,
        y: Labels,
        weights: Array | None = None,
        *,
        selected: Selected | None = None,
    ) -> Task:
        """Numbers attributes and features and sets the problem up; with a selection, only templates that it keeps.

        `selected` is what it has kept before, which saves doing it again.
        """
        if self.growth is not None:
            raise ParsimonError(
                "a feature set that grows is not one problem, so no path or largest strength can be found; use fit."
            )
        if self.selection is None:
            return self._task(space, X, y, weights)[0]
        if not hasattr(space, "only"):
            raise ParsimonError("templates can only be selected where there are templates; give some.")
        if selected is None:
            selected = self._select(self.selection, space, X, y, weights)
        elif selected.names != space.template_names():
            assert self.checkpoint is not None
            raise belongs_elsewhere(self.checkpoint)
        smaller, _ = self._task(space.only(selected.kept), X, y, weights)
        return replace(smaller, selected=selected)

    def _select(
        self, selection: Selection, space: FeatureSpace, X: Any, y: Labels, weights: Array | None
    ) -> Selected:
        """The first stage. It leaves nothing behind: what a run that is resumed goes on with is the same without it."""
        task, observations = self._task(space, X.with_own_strings(), y, weights)
        gold = y.ids if task.pairs is None else task.pairs.encode(y).ids
        gains = partial(_template_gains, task.features, observations, gold)
        monitor = Monitor(callbacks=self.callbacks, time_limit=self.time_limit)
        return selection.select(Candidates(task.problem, task.features, gains), monitor)

    def _selected_before(self) -> Selected | None:
        """What a run that is resumed had chosen. If that was another run, `solve` will say so."""
        if self.checkpoint is None or not self.resume or self.selection is None:
            return None
        return selected_before(self.checkpoint)

    def _task(
        self, space: FeatureSpace, X: Any, y: Labels, weights: Array | None
    ) -> tuple[Task, Observations]:
        observations = space.learn(X, self.threads)
        return self._task_of(space, observations, y, weights), observations

    def _task_of(
        self, space: FeatureSpace, observations: Observations, y: Labels, weights: Array | None
    ) -> Task:
        check_labels(observations, y)
        pairs = self._pairs(y)
        y = y if pairs is None else pairs.encode(y)
        if self.candidates == "all":
            index = FeatureIndex.all_labels(len(y.names), space.n_node, space.n_pair)
        elif self.candidates == "seen":
            index = FeatureIndex.seen_pairs(observations, y.ids, len(y.names), space.n_node, space.n_pair)
        else:
            raise ParsimonError(f"candidates must be 'all' or 'seen', not {self.candidates!r}.")
        if weights is not None and (
            len(weights) != len(y) or not np.all(np.isfinite(weights)) or np.any(weights < 0)
        ):
            raise ParsimonError("sequence weights must be finite and not negative, one for every sequence.")
        features = FeatureTable(space, index, y.names)
        penalty = self.penalty.bind(features)
        if not self.penalize_bias:
            penalty = penalty.exempt(features.bias_features(), index.n_features)
        below = None if observations.beside is None else seen_below(observations, y)
        allowed = below if pairs is None else pairs.transitions
        batches = tuple(make_batches(observations, y.ids, index, self.threads, weights, allowed))
        problem = Problem(batches, get_loss(self.loss).bind(y.names), penalty, index.n_features)
        mark = _mark(observations, weights)
        return Task(space, index, y.names, problem, observations.n_tokens, mark, pairs=pairs, below=below)

    def _pairs(self, y: Labels) -> TagPairs | None:
        """With order 2, the pairs of tags that are the labels."""
        if self.order not in (1, 2):
            raise ParsimonError(f"the order of a chain is 1 or 2, not {self.order}.")
        return TagPairs.seen(y) if self.order == 2 else None

    def solve(
        self,
        task: Task,
        start: Weights,
        *,
        dev: tuple[Any, Labels] | None = None,
        began: float | None = None,
        history: Sequence[Event] = (),
    ) -> Result:
        """Runs the solver, then pruning and debiasing if asked for; `history` is what came before."""
        solver = self.choose_solver(task)
        monitor = Monitor(
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            callbacks=self.callbacks,
            checkpoint_every=self.checkpoint_every,
            started=began if began is not None else time.perf_counter(),
            history=list(history),
            counted_from=len(history),
        )
        if dev is not None:
            monitor.validation = Validation(
                task.development_score(*dev, self.dev_metric, self.threads),
                every=getattr(solver, "validate_every", 5),
                patience=self.patience,
                tolerance=self.dev_tolerance,
            )
        if self.checkpoint is not None:
            start = self._safe(self.checkpoint, task, start, monitor)
        result = ended(solver, start, monitor) or drive(solver, task.problem, start, monitor)
        return self._finished(task, result, monitor.started)

    def _safe(self, path: Path, task: Task, start: Weights, monitor: Monitor) -> Weights:
        """Lets the monitor keep checkpoints; where to start, which may be where another run stood."""
        mark = task.fingerprint(repr(self.selection), *lasting_settings(self.solver, self.max_iter))
        monitor.checkpoint = partial(save_checkpoint, path, mark, selected=task.selected, exactly=True)
        if self.resume:
            return load_checkpoint(path, mark).take_up(monitor)
        if task.selected is not None:
            keep(monitor, start)  # at once: choosing may have taken long
        return start

    def _finished(self, task: Task, result: Result, started: float) -> Result:
        """Pruned and debiased, if that was asked for."""
        if self.prune > 0:
            result = replace(result, weights=result.weights.without_small(self.prune))
        if self.debias is not None and result.status is not Status.INTERRUPTED:
            result = self._debiased(task, result, started)
        return result

    def choose_solver(self, task: Task) -> Solver:
        """The solver, told how many epochs to run if it counts them, and which features its groups have."""
        solver = choose_solver(self.solver, task.problem, self.tol)
        if hasattr(solver, "epochs") and self.max_iter is not None:
            solver = replace(solver, epochs=self.max_iter)  # type: ignore[type-var]
        return solver.bind(task.features) if hasattr(solver, "bind") else solver

    def _debiased(self, task: Task, result: Result, started: float) -> Result:
        """L-BFGS on the surviving features only, with a small L2 penalty in place of what shrank them."""
        kept = result.weights.nonzero()
        assert kept.features is not None
        assert self.debias is not None
        problem = replace(task.problem.restrict(kept.features), penalty=L2(self.debias))
        refit = drive(
            LBFGS(tol=1e-6),
            problem,
            Weights(kept.values, None, len(kept.values)),
            Monitor(
                max_iter=100,
                callbacks=self.callbacks,
                started=started,
                history=result.history,
            ),
        )
        return replace(
            refit, weights=Weights(refit.weights.values, kept.features, kept.n_features), status=result.status
        )

    def path(
        self, space: FeatureSpace, X: Any, y: Labels, strengths: Sequence[float]
    ) -> Iterator[tuple[float, SequenceModel]]:
        """Models for falling strengths of the penalty, each started from the one before."""
        task = self.prepare(space, X, y)
        weights = Weights.zeros(task.problem.n_features)
        for strength in sorted(strengths, reverse=True):
            penalty = task.problem.penalty.scaled(strength)
            task = replace(task, problem=replace(task.problem, penalty=penalty))
            result = self.solve(task, weights)
            weights = result.weights
            yield strength, task.model(result, self.describe(task, result))

    def max_strength(self, space: FeatureSpace, X: Any, y: Labels) -> float:
        """The strength of the penalty from which on every weight that it can drop is zero."""
        task = self.prepare(space, X, y)
        problem = task.problem
        free = never_dropped(problem.penalty, problem.n_features)
        values = np.zeros(len(free))
        if len(free):
            alone = replace(problem.restrict(free), penalty=L2(0.0))
            values = drive(LBFGS(), alone, Weights(values, None, len(free))).weights.dense()
        _, gradient = problem.loss_and_full_gradient(values, free)
        gradient[free] = 0.0  # but for rounding
        return problem.penalty.dual_norm(gradient)

    def describe(self, task: Task, result: Result) -> dict[str, Any]:
        """What a model remembers of its training. Not how long it took: the same training makes the same file."""
        penalty = task.problem.penalty
        return {
            "loss": get_loss(self.loss).name,
            "penalty": repr(penalty),
            "l1": getattr(penalty, "l1", None),
            "l2": getattr(penalty, "l2", None),
            "penalize_bias": self.penalize_bias,
            "candidates": self.candidates,
            "order": self.order,
            "candidate_features": task.problem.n_features,
            "candidate_attributes": task.space.n_node + task.space.n_pair,
            "candidate_templates": len(
                task.space.template_names() if task.selected is None else task.selected.names
            ),
            "sequences": sum(batch.structure.n_instances for batch in task.problem.batches),
            "tokens": task.n_tokens,
            "selection": None if task.selected is None else self._described(task.selected),
            "growth": None if task.grown is None else task.grown.told(),
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "prune": self.prune,
            "debias": self.debias,
            "status": result.status.value,
            "objective": result.objective,
            "kkt": result.kkt,
            "gap": result.gap,
            "support": result.support,
            "history": thinned(result.history),
        }

    def _described(self, selected: Selected) -> dict[str, Any]:
        assert self.selection is not None
        return {
            "name": self.selection.name,
            "templates": [[name, round(score, 6)] for name, score in selected.order if score > 0],
            "instantiated": max((n for event in selected.history for n in event.instantiated), default=None),
            "history": thinned(selected.history),
        }


@dataclass(frozen=True)
class Task:
    """A problem together with what its features mean."""

    space: FeatureSpace
    index: FeatureIndex
    labels: tuple[str, ...]
    problem: Problem
    n_tokens: int
    mark: int = 0  # tells inputs apart
    selected: Selected | None = None
    grown: Grown | None = None
    pairs: TagPairs | None = None  # what labels are made of, if they are pairs of tags
    below: Transitions | None = None  # in trees with steps from siblings: which labels may be below which

    @property
    def features(self) -> FeatureTable:
        """What the features mean."""
        return FeatureTable(self.space, self.index, self.labels)

    def model(self, result: Result, info: dict[str, Any]) -> SequenceModel:
        """The model that a result stands for."""
        order = 1 if self.pairs is None else 2
        model = SequenceModel.from_weights(self.labels, self.space, self.index, result.weights, info, order)
        return replace(model, below=self.below)

    def development_score(self, X: Any, y: Labels, metric: str, threads: int) -> Callable[[Weights], float]:
        """Scores weights on a development set: span F1 or token accuracy."""
        if metric not in ("auto", "f1", "accuracy"):
            raise ParsimonError(f"the development metric must be auto, f1 or accuracy, not {metric!r}.")
        observations = self.space.observe(X, threads)
        check_labels(observations, y)
        tags = self.labels if self.pairs is None else self.pairs.tags
        names = [*tags, *(name for name in y.names if name not in tags)]
        gold = y.renumbered(names).ids
        counter = SpanCounter(names) if metric == "f1" or (metric == "auto" and has_spans(names)) else None
        allowed = self.below if self.pairs is None else self.pairs.transitions
        batches = list(make_batches(observations, gold, self.index, threads, allowed=allowed))

        def score(weights: Weights) -> float:
            kept = weights.nonzero()
            assert kept.features is not None
            predicted = []
            for batch in batches:
                small = batch.restrict(kept.features)
                predicted.append(small.structure.argmax(small.design.scores(kept.values))[1])
            ids = np.concatenate(predicted)
            ids = ids if self.pairs is None else self.pairs.tag[ids]
            if counter is None:
                return float(np.mean((ids == gold)[gold >= 0]))
            return counter.count(gold, ids, observations.lengths).f1

        return score

    def weights_of(self, model: SequenceModel) -> Weights:
        """A model's weights in this task's numbering; features that are not here are left out."""
        label = {name: i for i, name in enumerate(self.labels)}
        place = np.array([label.get(name, -1) for name in model.labels])
        Y, n = len(self.labels), self.index.node.n_features
        found: list[tuple[IntArray, Array]] = []
        cut = model.index.node.n_features
        for part, rows, values, names, known in (
            (0, model.index.node, model.weights[:cut], model.space.node_names, self.space.node_names),
            (1, model.index.pair, model.weights[cut:], model.space.pair_names, self.space.pair_names),
        ):
            here = self.index.pair if part else self.index.node
            number = {name: a for a, name in enumerate(known(np.arange(here.n_attributes)))}
            attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
            translate = np.array(
                [number.get(name, -1) for name in names(np.arange(rows.n_attributes))], np.int64
            )
            if part:
                x, y = place[column // model.n_labels], place[column % model.n_labels]
                column = np.where((x >= 0) & (y >= 0), x * Y + y, -1)
            else:
                column = place[column]
            where = here.find(translate[attribute] if len(attribute) else attribute, column.astype(np.int32))
            known_features = where >= 0
            found.append((where[known_features] + part * n, values[known_features]))
        features = np.concatenate([f for f, _ in found])
        order = np.argsort(features)
        return Weights(np.concatenate([v for _, v in found])[order], features[order], self.problem.n_features)

    def fingerprint(self, *more: Any) -> str:
        """Tells problems apart, so that a checkpoint is only taken up by what it belongs to; `more` is of the run."""
        loss = self.problem.loss
        told = [self.labels, self.problem.n_features, loss.name, settings_of(loss), *more]
        mark = zlib.crc32(json.dumps(told).encode(), self.mark)
        mark = zlib.crc32(repr(self.problem.penalty).encode(), mark)
        settings, arrays = self.space.state()
        mark = zlib.crc32(json.dumps(settings).encode(), mark)
        for values in arrays.values():
            mark = zlib.crc32(np.ascontiguousarray(values).data, mark)
        for batch in self.problem.batches:
            mark = zlib.crc32(np.ascontiguousarray(batch.gold).tobytes(), mark)
        return f"{mark:08x}-{self.n_tokens}-{self.problem.n_features}"


def _template_gains(features: FeatureTable, observations: Observations, gold: IntArray) -> Array:
    """The information gain of every template about the label."""
    owner, _ = features.template_of_attributes()
    return information_gain(observations, gold, features.n_labels, owner, len(features.template_names()))


def _interrupted(model: SequenceModel, result: Result) -> tuple[SequenceModel, Result]:
    """What a stage has left, when there was no time for the next."""
    status = Status.INTERRUPTED
    return replace(model, info={**model.info, "status": status.value}), replace(result, status=status)


def _mark(observations: Observations, weights: Array | None) -> int:
    links = observations.links
    mark = 0 if links is None else zlib.crc32(np.ascontiguousarray(links.parent).data)
    for rows in (observations.node, observations.pair):
        for values in (rows.start, rows.index, rows.value):
            if values is not None:
                mark = zlib.crc32(np.ascontiguousarray(values).data, mark)
    return mark if weights is None else zlib.crc32(np.ascontiguousarray(weights).data, mark)


def make_batches(
    observations: Observations,
    gold: IntArray,
    index: FeatureIndex,
    threads: int,
    weights: Array | None = None,
    allowed: Transitions | None = None,
) -> Iterator[Batch]:
    """Batches small enough that part scores stay in the cache; but not too many, each lists where attributes fire."""
    workspace = Workspace()
    size = max(BATCH // width(observations, index, allowed), observations.n_tokens // MOST_BATCHES, 1)
    for chosen, tokens, part in observations.batches(size):
        design, chain = build_chain(
            part,
            index,
            weights=None if weights is None else weights[chosen],
            allowed=allowed,
            threads=threads,
            workspace=workspace,
        )
        yield Batch(design, chain, gold[tokens])


def check_labels(observations: Observations, y: Labels) -> None:
    """Every token needs a label (or None)."""
    if len(observations.lengths) != len(y.lengths):
        raise ParsimonError(
            f"there are {len(observations.lengths)} sequences but labels for {len(y.lengths)}."
        )
    differ = np.flatnonzero(observations.lengths != y.lengths)
    if len(differ):
        i = int(differ[0])
        raise ParsimonError(f"sequence {i} has {observations.lengths[i]} tokens but {y.lengths[i]} labels.")
    if not len(y.names):
        raise ParsimonError("no token has a label, so there is nothing to learn.")
