"""What all trainings share: limits, development data, checkpoints, progress, Ctrl-C, memory, the model's description.

Every kind of model has a subclass of `Training`, which makes the learning problem and the model. `Training.run` calls

    1. `check`                   to check the options
    2. `content`                 for the fingerprint of the data, if there is a checkpoint
    3. `settled`                 for strengths that choose themselves (`tasks/tuning.py`)
    4. `train` of the subclass, which calls
         4a. `Run.once`          for results that precede learning (selected templates) and are kept in the checkpoint
         4b. `Training.solve`    for a fit with development data and pruning, or `Run.fit` for a plain fit
         4c. `Training.describe` for what the model records about its training
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError, warn
from parsimon.forms import told
from parsimon.losses import Loss, get_loss
from parsimon.memory import at_most, parse_size
from parsimon.penalties import L2, never_dropped
from parsimon.penalties.base import ElasticPenalty
from parsimon.penalties.groupings import FeatureDescriptions
from parsimon.problem import Problem
from parsimon.solvers import LBFGS, Event, Monitor, Result, Solver, Status, Validation, Weights, drive
from parsimon.solvers.choice import set_up_solver
from parsimon.solvers.convergence import expected_end
from parsimon.solvers.settings import epochs_of, is_resumable, tolerance_of, validation_interval
from parsimon.tasks.checkpoint import DAMAGE, Checkpoint, Running, ended, lasting_settings
from parsimon.tasks.fingerprint import fingerprint
from parsimon.tasks.options import DevelopmentOptions, PruningOptions, TrainingOptions, options_of
from parsimon.tasks.too_strong import TooStrong, too_strong
from parsimon.tasks.within import KeepsFeatures, Within
from parsimon.tasks.worse_than_none import objective, worse_than_none
from parsimon.weights import DamagedState

Model_co = TypeVar("Model_co", covariant=True)
Data = TypeVar("Data")
Value = TypeVar("Value")
ASTRAY = 1e6  # weights in a checkpoint that are worse by this factor than none at all are not from a fit


class Described(Protocol):
    """A model that says how training went."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Settings, sizes of the data, and how training ended."""
        ...


Model = TypeVar("Model", bound=Described)


class Watch(Protocol):
    """Observes the progress of a training, for instance to draw a progress bar."""

    def phase(self, text: str, done: float | None = None) -> object:
        """A phase begins. `done` is the share of the training that is complete by then, if that is known."""
        ...

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> object:
        """A solver starts. It stops after `max_iter` iterations, or when residuals are `end` of the first one."""
        ...


class NobodyWatches:
    """Ignores all progress."""

    def phase(self, text: str, done: float | None = None) -> None:
        """Does nothing."""

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        """Does nothing."""


class Task(Protocol[Model_co]):
    """A learning problem and the meaning of its features."""

    @property
    def problem(self) -> Problem:
        """Σ loss + Ω."""
        ...

    @property
    def features(self) -> FeatureDescriptions | None:
        """The meaning of the features, for solvers that look up named groups; or None."""
        ...

    def development_score(self, dev: Any) -> Callable[[Weights], float]:
        """A function that scores weights on development data. Larger is better."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        ...

    def model(self, result: Result, info: dict[str, Any]) -> Model_co:
        """The model with the weights of a result."""
        ...


@dataclass(frozen=True)
class Trained(Generic[Model_co]):
    """A model and the result of its solver."""

    model: Model_co
    result: Result


def cut_short(trained: Trained[Any], status: Status) -> Trained[Any]:
    """The same with the status that explains why training ended early."""
    info = {**trained.model.info, "status": status.value}
    return Trained(replace(trained.model, info=info), replace(trained.result, status=status))


@dataclass(kw_only=True)
class Training(TrainingOptions, ABC, Generic[Data, Model]):
    """How a model is trained. Its fields are its options."""

    kind: ClassVar[str]
    group_strength: ClassVar[str] = "strength"  # the name of the option for the strength of groups

    def __post_init__(self) -> None:
        """Draws the seed once, so that every part of the training has the same."""
        if self.random_state is not None:
            self.random_state = self.seed

    @abstractmethod
    def content(self, data: Data) -> Sequence[Any]:
        """The data as parts that `fingerprint` accepts."""

    @abstractmethod
    def train(self, data: Data, run: Run, *, dev: Any = None, start: Any = None) -> Trained[Model]:
        """Makes the problem, solves it, and makes the model. Every kind of model has its own."""

    def run(
        self,
        data: Data,
        *,
        dev: Any = None,
        start: Any = None,
        began: float | None = None,
        watch: Watch | None = None,
    ) -> Trained[Model]:
        """Trains a model. `watch` is notified of progress; `began` is when the clock started (default: now)."""
        with self.started(data, began, watch) as run:
            training, data, dev, start = self.settled(data, run, dev=dev, start=start)
            trained = training.train(data, run, dev=dev, start=start)
        emptied = trained.model.info.get("too_strong")
        if emptied is not None:
            warn(str(TooStrong(**emptied)))
        return trained

    def settled(
        self, data: Data, run: Run, *, dev: Any = None, start: Any = None
    ) -> tuple[Self, Data, Any, Any]:
        """This training once all its strengths are chosen, and what it trains with; see `tasks/tuning.py`."""
        return self, data, dev, start

    def limited_memory(self) -> AbstractContextManager[None]:
        """A context with no more memory than `memory` allows, for reading data as well as for training."""
        return at_most(parse_size(self.memory) if isinstance(self.memory, str) else self.memory)

    @contextmanager
    def started(self, data: Data, began: float | None = None, watch: Watch | None = None) -> Iterator[Run]:
        """A context for any computation on data, such as a path: checks options, limits memory, and gives a run."""
        self.check()
        with self.limited_memory():
            run = self.start_run(data, began, watch)
            try:
                yield run
            except KeyboardInterrupt:  # there is no model yet, but finished work need not be repeated
                run.keep_what_is_done()
                raise

    def start_run(self, data: Data, began: float | None = None, watch: Watch | None = None) -> Run:
        """A run with the limits and the checkpoint of this training."""
        run = Run(self.time_limit, self.callbacks, began, watch)
        if self.checkpoint is not None:
            run.keep_in(Path(self.checkpoint), self.checkpoint_every, self._mark(data), resume=self.resume)
        elif self.resume:
            raise ParsimonError("there is no checkpoint to resume from; name one.")
        return run

    def _mark(self, data: Data) -> str:
        """Identifies the data and the options, so that a run only resumes from its own checkpoint."""
        lasting = {name: getattr(self, name) for name, each in options_of(type(self)).items() if each.lasting}
        epochs = lasting_settings(self.solver, self.max_iter, self.seed)
        return fingerprint(self.kind, lasting, epochs, *self.content(data))

    # ---- what subclasses call ---------------------------------------------------------------------------------

    @property
    def chosen_solver(self) -> str | Solver:
        """The solver of the options, or what a task prefers where that is `auto`."""
        return self.solver

    @property
    def iterations(self) -> int | None:
        """The limit of iterations of a fit: that of the options, or a task's own where there is none."""
        return self.max_iter

    def solver_for(self, task: Task[Any]) -> Solver:
        """The solver, set up for the problem of a task."""
        return self.set_up(task.problem, task.features)

    def set_up(
        self,
        problem: Problem,
        features: FeatureDescriptions | None = None,
        *,
        unit: int | None = None,
    ) -> Solver:
        """The solver, set up for a problem."""
        return set_up_solver(
            self.chosen_solver,
            problem,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.seed,
            n_threads=self.n_threads,
            unit=unit,
            features=features,
        )

    def solve(
        self,
        task: Task[Any],
        start: Weights | None = None,
        run: Run | None = None,
        *,
        dev: Any = None,
        name: str = "fit",
        history: Sequence[Event] = (),
    ) -> Result:
        """Fits weights from `start` (default: zero), with early stopping if there are development data; then prunes.

        `history` has the events of earlier fits. Where a task keeps to some features, no others get a weight.
        """
        if isinstance(task, KeepsFeatures) and task.kept is not None:
            inside = Within.of(task, task.kept)
            first = None if start is None else inside.narrowed(start)
            return inside.result(self.solve(inside, first, run, dev=dev, name=name, history=history))
        run = run or Run(self.time_limit, self.callbacks)
        solver = self.solver_for(task)
        result = run.fit(
            name,
            solver,
            task.problem,
            Weights.zeros(task.problem.n_features) if start is None else start,
            max_iter=self.iterations,
            validation=None if dev is None else self.validation(task, dev, solver),
            history=history,
        )
        return self.finished(task, result, run)

    def validation(self, task: Task[Any], dev: Any, solver: Solver) -> Validation:
        """Early stopping on development data."""
        assert isinstance(self, DevelopmentOptions)
        return Validation(
            task.development_score(dev),
            every=validation_interval(solver),
            patience=self.patience,
            tolerance=self.dev_tolerance,
        )

    def finished(self, task: Task[Any], result: Result, run: Run) -> Result:
        """The result after pruning, and a warning if it is worse than none. Subclasses may do more."""
        astray = worse_than_none(task.problem, result)
        if astray is not None:
            warn(astray)
        if isinstance(self, PruningOptions) and self.prune > 0:
            pruned = result.weights.without_small(self.prune)
            if not pruned.n_active and result.weights.n_active:
                warn(f"nothing was kept: prune={self.prune:g} drops every weight; give a smaller share.")
            result = replace(result, weights=pruned)
        return result

    def describe(self, task: Task[Any], result: Result) -> dict[str, Any]:
        """What a model records about its training. Times are left out, so the same training gives the same file."""
        penalty = task.problem.penalty
        elastic = penalty if isinstance(penalty, ElasticPenalty) else None
        settings: dict[str, Any] = {
            "loss": task.problem.loss.name,
            "penalty": repr(penalty),
            "l1": None if elastic is None else elastic.l1,
            "l2": None if elastic is None else elastic.l2,
            "threshold": penalty.threshold,
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "random_state": self.seed,
        }
        if isinstance(self, PruningOptions):
            settings["prune"] = self.prune
        emptied = too_strong(task.problem, result.weights, self.group_strength)
        if emptied is not None:
            settings["too_strong"] = emptied.to_dict()
        return {**settings, **task.facts(), **result.to_dict(), "support": result.support}


class Run:
    """One training in progress: its clock, limits, callbacks and checkpoint.

    A training is a sequence of named fits. The checkpoint keeps the results of finished fits and the state of
    unfinished ones: the current fit, and earlier fits that a limit cut short. A resumed run goes through the same names
    and only does the remaining work.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        callbacks: Sequence[Callable[[Event], object]] = (),
        began: float | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.time_limit = time_limit
        self.callbacks = tuple(callbacks)
        self.began = time.perf_counter() if began is None else began
        self.watch = NobodyWatches() if watch is None else watch
        self._path: Path | None = None
        self._every = float("inf")
        self._kept = Checkpoint("")
        self._passed: set[str] = set()  # the names of the fits so far
        self._written = self.began
        self._interrupted = threading.Event()

    def keep_in(self, path: Path, every: float, mark: str, *, resume: bool) -> None:
        """Keeps a checkpoint in a file. With `resume`, goes on from the file, which must have the same mark."""
        self._path, self._every = path, every or float("inf")
        self._kept = Checkpoint.load(path, mark) if resume else Checkpoint(mark)
        self.began -= self._kept.seconds
        self._written = time.perf_counter()

    def phase(self, text: str, done: float | None = None) -> None:
        """Announces a phase. `done` is the share of the training that is complete by then, if that is known."""
        self.watch.phase(text, done)

    @property
    def seconds(self) -> float:
        """The training time so far, including the time before the run was resumed."""
        return time.perf_counter() - self.began

    @property
    def stopped(self) -> Status | None:
        """Why nothing more should begin, if so: Ctrl-C came during a fit, or the time limit is reached."""
        if self._interrupted.is_set():
            return Status.INTERRUPTED
        late = self.time_limit is not None and self.seconds >= self.time_limit
        return Status.TIME if late else None

    def monitor(self, **settings: Any) -> Monitor:
        """A monitor with the same limits and callbacks, for solvers that run inside a selection."""
        shared = {"time_limit": self.time_limit, "callbacks": self.callbacks, "started": self.began}
        return Monitor(**{**shared, **settings}, interrupted=self._interrupted)

    def once(
        self,
        name: str,
        find_out: Callable[[], Value],
        to_dict: Callable[[Value], dict[str, Any]],
        from_dict: Callable[[dict[str, Any]], Value],
    ) -> Value:
        """A result that precedes learning, such as a selection. It is kept at once, and never computed again.

        Ctrl-C while it is computed raises `KeyboardInterrupt`: part of it is of no use.
        """
        if name in self._kept.values:
            try:
                return from_dict(self._kept.values[name])
            except DAMAGE as error:
                raise ParsimonError(
                    f"{self._path} is damaged: its {name} cannot be read ({told(error)})."
                ) from error
        self._write()  # so that there is a checkpoint to resume from, even if nothing is finished
        before = self._interrupted.is_set()
        value = find_out()
        if self._interrupted.is_set() and not before:
            raise KeyboardInterrupt
        self._kept.values[name] = to_dict(value)
        self._write()
        return value

    def done(self, name: str) -> Result | None:
        """The result of a fit that is finished, for callers that can then do without its problem."""
        self._passed.add(name)
        return self._kept.finished.get(name)

    def fit(
        self,
        name: str,
        solver: Solver,
        problem: Problem,
        start: Weights,
        *,
        max_iter: int | None = None,
        validation: Validation | None = None,
        history: Sequence[Event] = (),
        needed: bool = False,
        brief: bool = False,
        whole: bool = False,
        proper_end: Sequence[Status] = (),
        callbacks: Sequence[Callable[[Event], object]] | None = None,
    ) -> Result:
        """Runs a solver within the limits of the run.

        name:
            Identifies the fit in the checkpoint.
        needed:
            Later fits depend on this one, so there is no model yet: Ctrl-C raises `KeyboardInterrupt`.
        brief:
            One of many short fits. The checkpoint is written when it is due, not after each of them.
        whole:
            If the run is killed during this fit, the resumed run repeats it from the beginning. Use this where the same
            bits matter: a solver without a state, restarted in the middle, reaches the same optimum but not the same
            bits. Solvers that are not resumable are always treated so.
        proper_end:
            Statuses that count as the end of the fit. Without them, a fit that a limit has cut short goes on when the
            run is resumed.
        """
        done = self.done(name)
        if done is not None:
            self._check(done.weights, problem, solver)
            return done
        monitor = self.monitor(
            max_iter=max_iter,
            callbacks=self.callbacks if callbacks is None else callbacks,
            validation=validation,
            history=list(history),
            counted_from=len(history),
        )
        resumable = is_resumable(solver)
        whole = whole or not resumable
        if resumable:
            start = self._taken_up(name, solver, start, monitor, problem)
        self.watch.fit(max_iter, expected_end(problem, tolerance_of(solver), start))
        self._save_during(name, monitor, whole=whole)
        result = ended(solver, start, monitor) or self._driven(solver, problem, start, monitor)
        if needed and result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if whole:  # in the form in which a checkpoint returns it
            result = replace(result, weights=result.weights.nonzero())
        limited = result.status.stopped_early or result.status is Status.ITERATIONS
        if not limited or result.status in proper_end:
            self._finish(name, result, at_once=not (needed or brief))
        elif whole:
            can_go_on = resumable and not needed and not proper_end
            self._cut_short(name, result, monitor, can_go_on=can_go_on)
        if needed and self._interrupted.is_set():  # the solver was ending anyway
            raise KeyboardInterrupt
        return result

    def _taken_up(
        self, name: str, solver: Solver, start: Weights, monitor: Monitor, problem: Problem
    ) -> Weights:
        """Where a fit starts: where it was left, if the checkpoint has it."""
        running = self._kept.running.get(name)
        if running is not None:
            start = running.take_up(monitor)
            self._check(start, problem, solver)
        return start

    def _save_during(self, name: str, monitor: Monitor, *, whole: bool) -> None:
        """Has checkpoints written during a fit: with its state, or with earlier results only if it is kept whole."""
        if whole:
            monitor.checkpoint, monitor.checkpoint_every = self._write_when_due, 0.0
        elif self._path is not None:
            monitor.checkpoint, monitor.checkpoint_every = partial(self._keep, name, monitor), self._every

    def _driven(self, solver: Solver, problem: Problem, start: Weights, monitor: Monitor) -> Result:
        """Runs the solver. Later fits may depend on weights that change now, so their results are dropped."""
        self._kept.only(self._passed)
        try:
            return drive(solver, problem, start, monitor)
        except DamagedState as error:
            raise ParsimonError(f"{self._path} is damaged: {error}") from None

    def _finish(self, name: str, result: Result, *, at_once: bool) -> None:
        """Keeps the result of a fit that has come to its end; many short ones are written now and then."""
        self._kept.finished[name] = result
        self._kept.running.pop(name, None)
        if at_once:
            self._write()
        else:
            self._write_when_due()

    def _cut_short(self, name: str, result: Result, monitor: Monitor, *, can_go_on: bool) -> None:
        """Writes the checkpoint after a limit has ended a fit, with its state if a resumed run can go on from it."""
        if can_go_on:
            self._kept.running[name] = Running.of(name, result.weights, monitor)
        self._write()

    def _check(self, weights: Weights, problem: Problem, solver: Solver) -> None:
        """Refuses weights of another problem, and those that no fit can have come to.

        Online learners check their own state; a gradient of all features would need more memory than they do.
        """
        if weights.n_features != problem.n_features:
            raise ParsimonError(
                f"{self._path} is damaged: it has {weights.n_features} features, "
                f"but the data have {problem.n_features}."
            )
        checks_itself = weights.state is not None or epochs_of(solver) is not None
        if weights.n_active and not checks_itself:
            here, at_zero = (objective(problem, w) for w in (weights, Weights.zeros(weights.n_features)))
            if not here <= ASTRAY * (abs(at_zero) + 1):
                raise ParsimonError(
                    f"{self._path} is damaged: its weights are much worse than none, with an objective of {here:.3g}."
                )

    def keep_what_is_done(self) -> None:
        """Writes the checkpoint, unless there is nothing to keep: an older file may be of more use."""
        if self._kept.finished or self._kept.values or self._kept.running:
            self._write()

    def _keep(self, name: str, monitor: Monitor, weights: Weights, *_: object) -> None:
        self._kept.running[name] = Running.of(name, weights, monitor)
        self._kept.seconds = self.seconds
        assert self._path is not None
        self._kept.save(self._path)

    def _write_when_due(self, *_: object) -> None:
        if time.perf_counter() - self._written >= self._every:
            self._write()

    def _write(self) -> None:
        if self._path is not None:
            self._kept.seconds = self.seconds
            self._kept.save_or_warn(self._path)
            self._written = time.perf_counter()


# --- Parts of trainings ---------------------------------------------------------------------------------------


def debiased(task: Task[Any], result: Result, l2: float, run: Run) -> Result:
    """Refits the remaining features by L-BFGS, with an L2 penalty of strength `l2` in place of the penalty."""
    kept = result.weights.nonzero()
    assert kept.features is not None
    problem = task.problem.restrict(kept.features).with_penalty(L2(l2))
    run.phase("debiasing")
    refit = run.fit(
        "debias",
        LBFGS(tol=1e-5),
        problem,
        Weights(kept.values, None, len(kept.values)),
        max_iter=100,
        history=result.history,
    )
    weights = Weights(refit.weights.values, kept.features, kept.n_features)
    return replace(refit, weights=weights, status=result.status)


def along_path(
    training: Training[Any, Model], task: Task[Model], strengths: Sequence[float]
) -> Iterator[tuple[float, Model]]:
    """Models for decreasing strengths of the penalty, each with a warm start from the one before."""
    weights = Weights.zeros(task.problem.n_features)
    for strength in sorted(strengths, reverse=True):
        scaled = task.problem.with_penalty(task.problem.penalty.scaled(strength))
        here: Any = replace(task, problem=scaled)  # type: ignore[type-var]
        result = training.solve(here, weights)
        weights = result.weights
        yield strength, here.model(result, training.describe(here, result))


def largest_strength(problem: Problem) -> float:
    """The smallest strength of the penalty at which every weight that it can drop is zero."""
    return problem.penalty.dual_norm(free_gradient(problem)[0])


def free_gradient(problem: Problem) -> tuple[Array, float]:
    """The gradient of the loss, and the loss, where all weights are best that no strength drops and the others zero."""
    free = never_dropped(problem.penalty, problem.n_features)
    values: Array = np.zeros(len(free))
    if len(free):
        alone = problem.restrict(free).with_penalty(L2(0.0))
        values = drive(LBFGS(), alone, Weights(values, None, len(free))).weights.dense()
    loss, gradient = problem.loss_and_gradient(Weights(values, free, problem.n_features))
    gradient[free] = 0.0  # up to rounding
    return gradient, loss


def named_loss(loss: str | Loss) -> str:
    """The name of a loss that is given as a name or an object."""
    return get_loss(loss).name
