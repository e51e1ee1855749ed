"""Strengths chosen on a development set: all of a grid, or few fits that are stopped when they fall behind.

A *trial* is one setting and how well it did. Trials are compared by score on the development set; of equals the smaller
model is better (Yogatama & Smith 2014, §5.2).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.solvers import Event, Iterate, Result, Status, Validation, Weights
from parsimon.tasks.documents.training import ROUNDS, DocumentTask, DocumentTraining
from parsimon.tasks.training import Run

Settings = Mapping[str, Any]

PAPER = {"sentence": (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3), "l1": (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)}
PAPER_RHO = (1e-1, 1.0, 1e1, 1e2, 1e3)


@dataclass(frozen=True)
class Trial:
    """One setting, and what came of it."""

    settings: Settings
    score: float  # on the development set
    size: int  # features that are not zero
    iterations: int  # at which that was
    rounds: int  # that were run
    seconds: float
    result: Result = field(repr=False)

    @property
    def rank(self) -> tuple[float, int]:
        """The larger, the better."""
        return self.score, -self.size


def best_trial(trials: Iterable[Trial]) -> Trial:
    """The best score; of equals the smallest model, and of those the first."""
    return max(trials, key=lambda trial: trial.rank)


def grid_search(
    training: DocumentTraining,
    task: DocumentTask,
    watch: Callable[[], Validation],
    grid: Mapping[str, Sequence[float]],
    *,
    jobs: int = 1,
) -> list[Trial]:
    """Every combination. Settings that differ in `l1` alone are a path, from the strongest on.

    With a certified optimum each fit of a path starts at the one before; ADMM that stops as in the paper must start at
    zero, for where it stops depends on where it started. Paths run on `jobs` threads.
    """
    others = [name for name in grid if name != "l1"]
    along = sorted(grid.get("l1", ()), reverse=True)
    paths = []
    for values in product(*(grid[name] for name in others)):
        fixed = dict(zip(others, values, strict=True))
        paths.append([{**fixed, "l1": l1} for l1 in along] if along else [fixed])

    def run(path: Sequence[Settings]) -> list[Trial]:
        trials: list[Trial] = []
        for settings in path:
            warm = trials and training.stopping == "certified"
            trials.append(
                fit_one(training, task, watch(), settings, trials[-1].result.weights if warm else None)
            )
        return trials

    if jobs == 1:
        return [trial for path in paths for trial in run(path)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(jobs) as pool:
        return [trial for trials in pool.map(run, paths) for trial in trials]


def fit_one(
    training: DocumentTraining,
    task: DocumentTask,
    watch: Validation,
    settings: Settings,
    start: Weights | None = None,
) -> Trial:
    """One fit. A certified optimum is scored at its end, anything else at every iteration."""
    began = time.perf_counter()
    mine = replace(training, **settings)
    here = mine.again(task)
    stopped = mine.stopping == "paper"
    result = Run(mine.time_limit, mine.callbacks).fit(
        "fit",
        mine.solver_for(here),
        here.problem,
        Weights.zeros(here.problem.n_features) if start is None else start,
        max_iter=mine.iterations,
        validation=watch if stopped else None,
    )
    at = len(result.history)
    if stopped:
        at = next((e.iteration + 1 for e in result.history if e.dev == watch.best), at)
    else:
        watch.see(Iterate(result.weights, result.objective, 0))
    seconds = time.perf_counter() - began
    return Trial(settings, watch.best, result.weights.n_active, at, len(result.history), seconds, result)


@dataclass
class Racer:
    """A fit that can be paused: what a setting has come to so far."""

    settings: Settings
    iterates: Iterator[Iterate]
    watch: Validation
    rounds: int = 0
    seconds: float = 0.0
    last: Iterate | None = None
    done: bool = False

    def run(self, until: int) -> None:
        """Goes on until so many rounds in all."""
        began = time.perf_counter()
        while not self.done and self.rounds < until:
            self.last = next(self.iterates)
            if not self.last.whole:
                continue
            self.rounds += 1
            self.watch.see(self.last)
            self.done = self.last.status is not None or self.watch.exhausted
        self.seconds += time.perf_counter() - began

    @property
    def rank(self) -> tuple[float, int]:
        """The larger, the better."""
        kept = self.watch.best_iterate
        return self.watch.best, 0 if kept is None else -kept.weights.n_active

    def trial(self) -> Trial:
        """As far as it came."""
        kept = self.watch.best_iterate
        assert kept is not None
        status = kept.status or (Status.DEVELOPMENT if self.done else Status.ITERATIONS)
        history: list[Event] = []
        result = Result(
            kept.weights, status, kept.objective, kept.kkt, kept.gap, history, relevance=kept.relevance
        )
        size = kept.weights.n_active
        return Trial(
            self.settings, self.watch.best, size, kept.evaluations, self.rounds, self.seconds, result
        )


def successive_halving(
    training: DocumentTraining,
    task: DocumentTask,
    watch: Callable[[], Validation],
    ranges: Mapping[str, tuple[float, float]],
    *,
    n: int = 27,
    factor: int = 3,
    first: int = 4,
    most: int = ROUNDS,
    seed: int = 0,
) -> list[Trial]:
    """Many settings for few rounds, a third of them for three times as many, and so on (Jamieson & Talwalkar 2016).

    Settings are drawn evenly on a logarithmic scale: a Latin hypercube, so that each range is covered. What is rationed
    is rounds of ADMM, so `training` must stop as in the paper; a fit that goes on is one that was only paused.
    """
    if training.stopping != "paper":
        raise ParsimonError("successive halving rations rounds of ADMM, so it needs stopping='paper'.")
    racers = []
    drawn: list[Settings] = [*latin_hypercube(ranges, n, seed)]
    for settings in drawn:
        mine = replace(training, **settings)
        here = mine.again(task)
        iterates = mine.solver_for(here).iterate(here.problem, Weights.zeros(here.problem.n_features))
        racers.append(Racer(settings, iterates, watch()))
    running, until = racers, first
    with threadpool_limits(1, user_api="blas"):
        while True:
            for racer in running:
                racer.run(min(until, most))
            if len(running) == 1 or until >= most:
                break
            running = sorted(running, key=lambda racer: racer.rank, reverse=True)[
                : max(1, len(running) // factor)
            ]
            until *= factor
    return [racer.trial() for racer in racers]


def latin_hypercube(ranges: Mapping[str, tuple[float, float]], n: int, seed: int) -> list[dict[str, float]]:
    """n settings; on a logarithmic scale, each n-th of every range has one."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Array] = {}
    for name, (low, high) in ranges.items():
        if not 0 < low <= high:
            raise ParsimonError(f"the range of {name} must be above zero and ascend, not {low} to {high}.")
        places = (rng.permutation(n) + rng.random(n)) / n
        columns[name] = np.exp(np.log(low) + places * (np.log(high) - np.log(low)))
    return [{name: float(values[i]) for name, values in columns.items()} for i in range(n)]
