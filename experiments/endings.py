"""When a solver is asked to end, in experiments: by what it has come to, or by the processor time it has had."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsimon.problem import InMemoryProblem
from parsimon.solvers import Iterate, Solver, Status, Weights


@dataclass
class Ended:
    """A solver that some condition may end before it does so by itself."""

    inner: Solver
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.inner.name

    @property
    def requires(self) -> Any:
        """What it needs."""
        return self.inner.requires


@dataclass
class Steady(Ended):
    """Ends as the solvers of Zhu et al. do: when the objective has changed little on average over some steps."""

    change: float  # relative, a step
    steps: int = 10

    def iterate(self, problem: InMemoryProblem, start: Weights) -> Iterator[Iterate]:
        """As the inner solver, until then."""
        values: list[float] = []
        for step in self.inner.iterate(problem, start):
            if step.kkt is None:  # not all features were looked at
                yield step
                continue
            values.append(step.objective)
            ago = values[-1 - self.steps] if len(values) > self.steps else np.inf
            if step.status is None and ago - values[-1] <= self.change * self.steps * abs(values[-1]):
                yield replace(step, status=Status.CONVERGED)
                return
            yield step


@dataclass
class ProcessorTime(Ended):
    """Ends after so many seconds of this process's processor time, which are the same however busy the machine is."""

    seconds: float

    def iterate(self, problem: InMemoryProblem, start: Weights) -> Iterator[Iterate]:
        """As the inner solver, until then."""
        began = time.process_time()
        for step in self.inner.iterate(problem, start):
            if step.status is None and time.process_time() - began >= self.seconds:
                yield replace(step, status=Status.TIME)
                return
            yield step
