"""The one frame around every training: limits, development data, checkpoints, progress, Ctrl-C, memory, description.

A kind of model supplies a class that inherits `Training` and says how its problem is made and what model comes out. The
order of calls in `Training.run`:

    1. `check`                  the options
    2. `content`                what tells these data apart, for checkpoints
    3. `train`, the kind's own, which calls
         3a. `Run.once`         for what is found out before learning (a selection of templates), kept in checkpoints
         3b. `Training.solve`   for a fit with development data, pruning and debiasing, or `Run.fit` for a bare one
         3c. `Training.describe` for what the model remembers
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.losses import Loss, get_loss
from parsimon.memory import at_most, parse_size
from parsimon.penalties import L2, never_dropped
from parsimon.problem import InMemoryProblem
from parsimon.selection import Candidates, Selected, Selection
from parsimon.solvers import LBFGS, Event, Monitor, Result, Solver, Status, Validation, Weights, drive
from parsimon.solvers.base import thin_history
from parsimon.solvers.choice import set_up_solver
from parsimon.tasks.checkpoint import Checkpoint, Finished, Running, ended, lasting_settings
from parsimon.tasks.fingerprint import fingerprint
from parsimon.tasks.options import DevelopmentOptions, PruningOptions, TrainingOptions, options_of

Model_co = TypeVar("Model_co", covariant=True)
Model = TypeVar("Model")
Data = TypeVar("Data")
Value = TypeVar("Value")
CUT_SHORT = (Status.INTERRUPTED, Status.TIME, Status.ITERATIONS)


class Watch(Protocol):
    """Who looks on: a progress bar, for one."""

    def phase(self, text: str, done: float | None = None) -> Any:
        """Something begins. `done` is the share of the training that is done by then, where that can be said."""
        ...

    def fit(self, max_iter: int | None, tolerance: float | None) -> Any:
        """A solver begins: after how many iterations it ends, and at which share of the first residual."""
        ...


class NobodyWatches:
    """Nobody looks on."""

    def phase(self, text: str, done: float | None = None) -> None:
        """Nothing."""

    def fit(self, max_iter: int | None, tolerance: float | None) -> None:
        """Nothing."""


class Task(Protocol[Model_co]):
    """A problem together with what its features mean."""

    @property
    def problem(self) -> InMemoryProblem:
        """Σ loss + Ω."""
        ...

    @property
    def features(self) -> Any:
        """What the features mean, for solvers whose groups are found among them; or None."""
        ...

    def development_score(self, dev: Any) -> Callable[[Weights], float]:
        """How good weights are on development data: the larger, the better."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a model remembers of the data."""
        ...

    def model(self, result: Result, info: dict[str, Any]) -> Model_co:
        """The model that a result stands for."""
        ...


@dataclass(frozen=True)
class Trained(Generic[Model_co]):
    """A model, and how its solver ended."""

    model: Model_co
    result: Result


@dataclass(kw_only=True)
class Training(TrainingOptions, ABC, Generic[Data, Model]):
    """How a model is trained. What its options are follows from its fields."""

    kind: ClassVar[str]

    @abstractmethod
    def content(self, data: Data) -> Sequence[Any]:
        """What tells data apart, as `fingerprint` takes it."""

    @abstractmethod
    def train(self, data: Data, run: Run, *, dev: Any = None, start: Any = None) -> Trained[Model]:
        """The kind's own part: makes the problem, has it solved, and makes the model."""

    def run(
        self,
        data: Data,
        *,
        dev: Any = None,
        start: Any = None,
        began: float | None = None,
        watch: Watch | None = None,
    ) -> Trained[Model]:
        """Trains; `watch` hears what is being done, and `began` is when the clock started."""
        with self.started(data, began, watch) as run:
            return self.train(data, run, dev=dev, start=start)

    @contextmanager
    def started(self, data: Data, began: float | None = None, watch: Watch | None = None) -> Iterator[Run]:
        """The frame around what is computed from data, such as a path: options, memory, and a run with its limits."""
        self.check()
        memory = parse_size(self.memory) if isinstance(self.memory, str) else self.memory
        with at_most(memory):
            run = self.start_run(data, began, watch)
            try:
                yield run
            except KeyboardInterrupt:  # there is no model yet, but what is done need not be done again
                run.keep_what_is_done()
                raise

    def start_run(self, data: Data, began: float | None = None, watch: Watch | None = None) -> Run:
        """The clock, the limits and the checkpoint of one training."""
        run = Run(self.time_limit, self.callbacks, began, watch)
        if self.checkpoint is not None:
            run.keep_in(Path(self.checkpoint), self.checkpoint_every, self._mark(data), resume=self.resume)
        elif self.resume:
            raise ParsimonError("there is no checkpoint to resume from; name one.")
        return run

    def _mark(self, data: Data) -> str:
        """Tells trainings apart, so that a checkpoint is only taken up by the one it belongs to."""
        lasting = {name: getattr(self, name) for name, each in options_of(type(self)).items() if each.lasting}
        epochs = lasting_settings(self.solver, self.max_iter, self.seed)
        return fingerprint(self.kind, lasting, epochs, *self.content(data))

    # ---- what kinds share ------------------------------------------------------------------------------------

    def solver_for(self, task: Task[Any]) -> Solver:
        """The solver, set up for a problem."""
        return self.set_up(task.problem, task.features)

    def set_up(self, problem: InMemoryProblem, features: Any = None, *, unit: int | None = None) -> Solver:
        """The solver, set up for a problem that is not a task."""
        return set_up_solver(
            self.solver,
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
        max_iter: int | None = None,
        history: Sequence[Event] = (),
    ) -> Result:
        """The weights: from those given (or none), with an eye on development data, pruned if that was asked for.

        `max_iter` takes the place of the option's; `history` is what came before.
        """
        run = run or Run(self.time_limit, self.callbacks)
        solver = self.solver_for(task)
        result = run.fit(
            name,
            solver,
            task.problem,
            Weights.zeros(task.problem.n_features) if start is None else start,
            max_iter=self.max_iter if max_iter is None else max_iter,
            validation=None if dev is None else self.validation(task, dev, solver),
            history=history,
        )
        return self.finished(task, result, run)

    def validation(self, task: Task[Any], dev: Any, solver: Solver) -> Validation:
        """Scores on development data, and when they end a training."""
        assert isinstance(self, DevelopmentOptions)
        return Validation(
            task.development_score(dev),
            every=getattr(solver, "validate_every", 5),
            patience=self.patience,
            tolerance=self.dev_tolerance,
        )

    def finished(self, task: Task[Any], result: Result, run: Run) -> Result:
        """What is done to the weights in the end."""
        if isinstance(self, PruningOptions) and self.prune > 0:
            result = replace(result, weights=result.weights.without_small(self.prune))
        return result

    def describe(self, task: Task[Any], result: Result) -> dict[str, Any]:
        """What a model remembers of its training. Not how long it took: the same training makes the same file."""
        penalty = task.problem.penalty
        told: dict[str, Any] = {
            "loss": task.problem.loss.name,
            "penalty": repr(penalty),
            "l1": getattr(penalty, "l1", None),
            "l2": getattr(penalty, "l2", None),
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "random_state": self.seed,
        }
        if isinstance(self, PruningOptions):
            told["prune"] = self.prune
        return {**told, **task.facts(), **result.to_dict(), "support": result.support}


class Run:
    """One training on its way: its clock and limits, who listens, and what of it is done already.

    A training is a sequence of fits with names. A checkpoint keeps the results of those that are done and how far the
    others have come: the one on its way, and those before it that a limit has cut short. A run that is resumed goes
    through the same names, and only does what is left.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        callbacks: Sequence[Callable[[Event], Any]] = (),
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
        self._passed: set[str] = set()  # the fits that were come to
        self._written = self.began

    def keep_in(self, path: Path, every: float, mark: str, *, resume: bool) -> None:
        """Keeps a checkpoint; resuming takes up the one that is there, if it has the same mark."""
        self._path, self._every = path, every or float("inf")
        self._kept = Checkpoint.load(path, mark) if resume else Checkpoint(mark)
        self.began -= self._kept.seconds
        self._written = time.perf_counter()

    def phase(self, text: str, done: float | None = None) -> None:
        """Says what begins, and which share of the training is done by then, where that can be said."""
        self.watch.phase(text, done)

    @property
    def seconds(self) -> float:
        """How long it has taken so far, the time before it was resumed included."""
        return time.perf_counter() - self.began

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is reached."""
        return self.time_limit is not None and self.seconds >= self.time_limit

    def monitor(self) -> Monitor:
        """What watches a solver that others run, as selections do: the same limit and listeners."""
        return Monitor(time_limit=self.time_limit, callbacks=self.callbacks, started=self.began)

    def once(
        self,
        name: str,
        find_out: Callable[[], Value],
        to_dict: Callable[[Value], dict[str, Any]],
        from_dict: Callable[[dict[str, Any]], Value],
    ) -> Value:
        """What is found out before learning. It may have taken long, so it is kept at once and not found out again."""
        if name in self._kept.values:
            return from_dict(self._kept.values[name])
        self._write()  # so that there is something to resume, even if it is only the beginning
        value = find_out()
        self._kept.values[name] = to_dict(value)
        self._write()
        return value

    def done(self, name: str) -> Result | None:
        """The result of a fit that is done, for callers to whom its problem is work to make."""
        self._passed.add(name)
        done = self._kept.finished.get(name)
        return None if done is None else done.result

    def fit(
        self,
        name: str,
        solver: Solver,
        problem: InMemoryProblem,
        start: Weights,
        *,
        max_iter: int | None = None,
        validation: Validation | None = None,
        history: Sequence[Event] = (),
        needed: bool = False,
        whole: bool = False,
        proper_end: Sequence[Status] = (),
        callbacks: Sequence[Callable[[Event], Any]] | None = None,
    ) -> Result:
        """Runs a solver within the limits of the run.

        A fit that is `needed` for others leaves no model that could be the best so far: Ctrl-C during it ends
        everything. One that a limit has cut short goes on when the run is resumed, unless that is a `proper_end`.
        A solver without a state that is started again in the middle comes to the same optimum, but not to the same
        bits. So a fit that is `whole` starts from its beginning if the run was killed during it, and so does that of a
        solver whose result depends on where it started.
        """
        done = self.done(name)
        if done is not None:
            return done
        monitor = Monitor(
            max_iter=max_iter,
            time_limit=self.time_limit,
            callbacks=self.callbacks if callbacks is None else callbacks,
            validation=validation,
            started=self.began,
            history=list(history),
            counted_from=len(history),
        )
        resumable = getattr(solver, "resumable", True)
        whole = whole or not resumable
        running = self._kept.running.get(name)
        if running is not None and resumable:
            start = running.take_up(monitor)
        self.watch.fit(max_iter, getattr(solver, "tol", None) if start.n_active == 0 else None)
        if whole:
            monitor.checkpoint, monitor.checkpoint_every = self._write_when_due, 0.0
        elif self._path is not None:
            monitor.checkpoint, monitor.checkpoint_every = partial(self._keep, name, monitor), self._every
        result = ended(solver, start, monitor)
        if result is None:
            self._kept.only(self._passed)  # what comes after may be made of weights that change now
            result = drive(solver, problem, start, monitor)
        if needed and result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if whole:  # as it would come back from a checkpoint
            result = replace(result, weights=result.weights.nonzero())
        if result.status not in CUT_SHORT or result.status in proper_end:
            self._kept.finished[name] = Finished(result)
            self._kept.running.pop(name, None)
            if not needed:
                self._write()
            elif whole:
                self._write_when_due()
        elif whole:
            if resumable and not needed and not proper_end:
                self._kept.running[name] = Running.of(name, result.weights, monitor)
            self._write()
        return result

    def keep_what_is_done(self) -> None:
        """Writes the checkpoint, unless nothing is done: then one that is there may be of more use."""
        if self._kept.finished or self._kept.values or self._kept.running:
            self._write()

    def _keep(self, name: str, monitor: Monitor, weights: Weights, *_: Any) -> None:
        self._kept.running[name] = Running.of(name, weights, monitor)
        self._kept.seconds = self.seconds
        assert self._path is not None
        self._kept.save(self._path)

    def _write_when_due(self, *_: Any) -> None:
        if time.perf_counter() - self._written >= self._every:
            self._write()

    def _write(self) -> None:
        if self._path is not None:
            self._kept.seconds = self.seconds
            self._kept.save_or_warn(self._path)
            self._written = time.perf_counter()


# --- Parts of trainings ---------------------------------------------------------------------------------------


def debiased(task: Task[Any], result: Result, l2: float, run: Run) -> Result:
    """L-BFGS on the surviving features only, with a small L2 penalty in place of what shrank them."""
    kept = result.weights.nonzero()
    assert kept.features is not None
    problem = replace(task.problem.restrict(kept.features), penalty=L2(l2))
    run.phase("debiasing")
    refit = run.fit(
        "debias",
        LBFGS(tol=1e-6),
        problem,
        Weights(kept.values, None, len(kept.values)),
        max_iter=100,
        history=result.history,
    )
    weights = Weights(refit.weights.values, kept.features, kept.n_features)
    return replace(refit, weights=weights, status=result.status)


def select_templates(
    selection: Selection, candidates: Callable[[], Candidates], run: Run, names: Sequence[str]
) -> Selected:
    """The first stage: which templates to keep. `names` are those there are."""
    run.phase(f"choosing templates: {selection.name}")
    selected = run.once(
        "selection",
        lambda: selection.select(candidates(), run.monitor()),
        Selected.to_dict,
        Selected.from_dict,
    )
    assert selected.names == list(names), "the fingerprint of a checkpoint has the templates in it"
    return selected


def described_selection(selection: Selection, selected: Selected) -> dict[str, Any]:
    """What a model remembers of how its templates were chosen."""
    return {
        "name": selection.name,
        "templates": [[name, round(score, 6)] for name, score in selected.order if score > 0],
        "instantiated": max((n for event in selected.history for n in event.instantiated), default=None),
        "history": thin_history(selected.history),
    }


def along_path(
    training: Training[Any, Model], task: Task[Model], strengths: Sequence[float]
) -> Iterator[tuple[float, Model]]:
    """Models for falling strengths of the penalty, each started from the one before."""
    weights = Weights.zeros(task.problem.n_features)
    for strength in sorted(strengths, reverse=True):
        scaled: Any = replace(task.problem, penalty=task.problem.penalty.scaled(strength))
        here: Any = replace(task, problem=scaled)  # type: ignore[type-var]
        result = training.solve(here, weights)
        weights = result.weights
        yield strength, here.model(result, training.describe(here, result))


def largest_strength(problem: InMemoryProblem) -> float:
    """The strength of the penalty from which on every weight that it can drop is zero."""
    free = never_dropped(problem.penalty, problem.n_features)
    values: Array = np.zeros(len(free))
    if len(free):
        alone = replace(problem.restrict(free), penalty=L2(0.0))
        values = drive(LBFGS(), alone, Weights(values, None, len(free))).weights.dense()
    _, gradient = problem.loss_and_gradient(Weights(values, free, problem.n_features))
    gradient[free] = 0.0  # but for rounding
    return problem.penalty.dual_norm(gradient)


def named_loss(loss: str | Loss) -> str:
    """The name of a loss that was given by its name or as an object."""
    return get_loss(loss).name
