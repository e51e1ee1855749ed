"""The one loop around every solver: clock, limits, events, development set, checkpoints, Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from threadpoolctl import threadpool_limits

from parsimon.errors import ParsimonError, warn
from parsimon.problem import Problem
from parsimon.solvers.base import Event, Iterate, Result, Solver, Status
from parsimon.weights import Weights

TOO_LARGE = "scale down the values of features or the weights of instances, or learn in smaller steps"


@dataclass
class Validation:
    """Early stopping: scores weights on a development set every few iterations, keeps the best.

    Training stops when `patience` scores in a row have not beaten the best one. Of iterates whose score is within
    `tolerance` of the best, the one with the fewest features is kept: scores are uncertain, sparse models come late.
    """

    score: Callable[[Weights], float]
    every: int = 5
    patience: int = 10
    tolerance: float = 0.0
    best: float = field(default=float("-inf"), init=False)
    best_iterate: Iterate | None = field(default=None, init=False)
    _since_best: int = field(default=0, init=False)
    _kept: float = field(default=float("-inf"), init=False)  # the score of the iterate that is kept

    def see(self, iterate: Iterate) -> float:
        """Scores an iterate."""
        score = self.score(iterate.weights)
        self._since_best = 0 if score > self.best else self._since_best + 1
        self.best = max(self.best, score)
        kept, enough = self.best_iterate, self.best - self.tolerance
        if score >= enough and (
            kept is None or self._kept < enough or iterate.weights.n_active < kept.weights.n_active
        ):
            self.best_iterate, self._kept = iterate, score
        return score

    @property
    def since_best(self) -> int:
        """How many scores there were since the best one."""
        return self._since_best

    @property
    def kept(self) -> float:
        """The score of the iterate that is kept, which may be a little below the best."""
        return self._kept

    def resume(
        self, best: float, since: int, weights: Weights, objective: float, kept: float | None = None
    ) -> None:
        """Continues where another run stopped."""
        self.best, self._kept, self._since_best = best, best if kept is None else kept, since
        self.best_iterate = Iterate(weights, objective, 0)

    @property
    def exhausted(self) -> bool:
        """Whether patience has run out."""
        return self._since_best >= self.patience


@dataclass
class Monitor:
    """What is observed while a solver runs: limits, callbacks, a development set, checkpoints."""

    max_iter: int | None = None
    time_limit: float | None = None
    callbacks: Sequence[Callable[[Event], Any]] = ()
    validation: Validation | None = None
    checkpoint: Callable[[Weights, list[Event], Validation | None], None] | None = None
    checkpoint_every: float = 30.0
    started: float = field(default_factory=time.perf_counter)
    history: list[Event] = field(default_factory=list)
    counted_from: int | None = None  # the event from which on iterations count; None for the next
    interrupted: threading.Event = field(default_factory=threading.Event)  # set by the first Ctrl-C


@contextmanager
def interruptible(flag: threading.Event) -> Iterator[None]:
    """A context in which the first Ctrl-C sets a flag; a second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        if flag.is_set() and callable(previous):
            previous(number, frame)
        flag.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def drive(solver: Solver, problem: Problem, start: Weights, monitor: Monitor | None = None) -> Result:
    """Runs a solver until it converges or the monitor says stop; Ctrl-C returns the best model so far.

    The monitor's flag stays set if Ctrl-C came when the solver was ending anyway, so that the caller can stop as well.
    """
    watch = monitor or Monitor()
    first = len(watch.history) if watch.counted_from is None else watch.counted_from
    last_checkpoint = time.perf_counter()
    last: Iterate | None = None
    status: Status | None = None
    # BLAS with one thread: its sums must not depend on how many processors there are.
    with interruptible(watch.interrupted), threadpool_limits(1, user_api="blas"):
        for here in _computable(solver.iterate(problem, start), problem.penalty.projection):
            if not here.whole:
                status = _cut_short(watch)
                if status is None:
                    continue
                here = lowest(problem, start, last, here)
                if here is last:
                    break
            last = here
            number = len(watch.history) - first
            event = _observe(watch, last, number)
            for callback in watch.callbacks:
                callback(event)
            now = watch.started + event.seconds
            if watch.checkpoint is not None and now - last_checkpoint >= watch.checkpoint_every:
                keep(watch, last.weights)
                last_checkpoint = time.perf_counter()
            status = status or last.status or _stop(watch, number)
            if status is not None:
                break
    assert last is not None, "a solver yields at least once"
    if watch.checkpoint is not None:
        keep(watch, last.weights)
    return _result(watch, last, status or Status.CONVERGED)


def _computable(iterates: Iterator[Iterate], may_be_outside: bool) -> Iterator[Iterate]:
    """The iterates of a solver while they are numbers; without that, any of them would count as an optimum.

    Where a penalty allows no weights outside of a set, the objective is infinite there, which is no mistake.
    """
    try:
        for iterate in iterates:
            for what, value in (("objective", iterate.objective), ("violation of optimality", iterate.kkt)):
                outside = may_be_outside and value == math.inf
                if iterate.whole and value is not None and not math.isfinite(value) and not outside:
                    raise ParsimonError(f"the {what} is not finite any more ({value}); {TOO_LARGE}.")
            yield iterate
    except (OverflowError, FloatingPointError) as error:
        raise ParsimonError(f"{error}; {TOO_LARGE}.") from None


def lowest(problem: Problem, start: Weights, whole: Iterate | None, within: Iterate) -> Iterate:
    """The lower one of the last whole iterate and one within a step, whose objective is not known yet.

    Where there is no whole iterate, the start takes its place, unless the loss is smallest where nothing is learnt.
    """
    if whole is not None and within.weights is whole.weights:
        return whole
    here = evaluated(problem, within, within.weights)
    if whole is None and not problem.loss.trivial_at_zero:
        whole = evaluated(problem, within, start)
    if whole is None:
        return here
    if whole.objective <= here.objective:
        return whole
    return here if whole.gap is None else replace(here, gap=whole.gap - (whole.objective - here.objective))


def evaluated(problem: Problem, within: Iterate, weights: Weights) -> Iterate:
    """A whole iterate with these weights."""
    some = weights.nonzero()
    assert some.features is not None
    objective = problem.restrict(some.features).objective(some.values)
    return replace(within, weights=some, objective=objective, kkt=None, gap=None, whole=True)


def _observe(watch: Monitor, iterate: Iterate, number: int) -> Event:
    """An iterate as the next event of the history; scored, if it is its turn or the last."""
    now, dev = time.perf_counter(), None
    if watch.validation is not None and (number % watch.validation.every == 0 or iterate.status is not None):
        dev = watch.validation.see(iterate)
    event = Event(
        iteration=len(watch.history),
        seconds=now - watch.started,
        objective=iterate.objective,
        active=iterate.weights.n_active,
        evaluations=iterate.evaluations,
        phase=iterate.phase,
        kkt=iterate.kkt,
        gap=iterate.gap,
        dev=dev,
        instantiated=iterate.instantiated,
        selected=iterate.selected,
        support=iterate.support,
    )
    watch.history.append(event)
    return event


def _result(watch: Monitor, last: Iterate, status: Status) -> Result:
    """The last iterate, or that with the best development score."""
    if watch.validation is not None:
        if watch.history[-1].dev is None:  # stopped between two scores
            watch.validation.see(last)
        last = watch.validation.best_iterate or last
    return Result(
        replace(last.weights, state=None),  # which would keep the solver's memory
        status,
        last.objective,
        last.kkt,
        last.gap,
        watch.history,
        support=last.support,
        relevance=last.relevance,
    )


def keep(watch: Monitor, weights: Weights) -> None:
    """Writes a checkpoint. If that fails (a full disk), training goes on with a warning."""
    assert watch.checkpoint is not None
    try:
        watch.checkpoint(weights, watch.history, watch.validation)
    except ParsimonError as error:
        warn(f"no checkpoint was kept: {error}")


def _stop(watch: Monitor, iteration: int) -> Status | None:
    if watch.interrupted.is_set():
        return Status.INTERRUPTED
    if watch.validation is not None and watch.validation.exhausted:
        return Status.DEVELOPMENT
    if watch.max_iter is not None and iteration >= watch.max_iter:
        return Status.ITERATIONS
    return _cut_short(watch)


def _cut_short(watch: Monitor) -> Status | None:
    """What may stop a solver within a step, too."""
    if watch.interrupted.is_set():
        return Status.INTERRUPTED
    if watch.time_limit is not None and time.perf_counter() - watch.started >= watch.time_limit:
        return Status.TIME
    return None
