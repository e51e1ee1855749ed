"""Structural SVMs to a certified optimum: the hinge loss is smoothed, and the smoothing withdrawn (Nesterov 2005).

The loss T log Σ exp((s + cost)/T) is smooth, so every solver for CRFs can minimise it, with any penalty. Its marginals
μ are a point of the hinge problem's dual. Together with the hinge objective at the same weights they give a duality gap
(parsimon/solvers/certificate.py), and the temperature falls until that gap is small.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from parsimon.arrays import Array
from parsimon.losses import SmoothedHinge
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Solver, Status
from parsimon.solvers.capabilities import EXPECTED_COSTS, HINGE_LOSS, MARGINALS, Requires
from parsimon.solvers.certificate import lower_bound
from parsimon.weights import Weights

FIRST_TOL = 1e-4  # to which the first smoothed problem is solved,
SHARPER = 0.1  # and by what factor more exactly later ones are, when only accuracy is missing;
LEAST_TOL = 1e-10  # below that, rounding is all that is left
LITTLE = 0.3  # of the gap that is wanted: where smoothing itself costs no more, the temperature may stay


@dataclass(frozen=True)
class Smoothing:
    """Minimises the hinge loss plus any penalty; stops when the duality gap is `tol` of the objective.

    `inner` makes the solver for a smoothed problem and a tolerance; by default the one that fits the penalty best.
    """

    tol: float = 1e-3
    inner: Callable[[Problem, float], Solver] | None = None
    factor: float = 0.3
    steps: int = 1000  # of the inner solver at one temperature
    name: ClassVar[str] = "smoothing"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = (HINGE_LOSS, MARGINALS, EXPECTED_COSTS)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the best weights so far, by the hinge objective, after every temperature.

        Steps of the inner solver are yielded as within one.
        """
        from parsimon.solvers import choose_solver

        make = self.inner or (lambda smooth, tol: choose_solver("auto", smooth, tol))
        cost = HINGE_LOSS.of(problem).bound_cost()
        weights, evaluations, temperature, tol, floor = start.nonzero(), 0, 1.0, FIRST_TOL, 0.0
        best: Iterate | None = None
        while True:
            smooth = problem.with_loss(SmoothedHinge(temperature, cost))
            step = yield from self._at_one_temperature(make(smooth, tol), smooth, weights)
            weights, evaluations = step.weights, evaluations + step.evaluations + 2
            objective, bound = self._judge(problem, smooth, weights)
            if (
                step.gap is not None
            ):  # the smoothed optimum is known to within that, and is not far above the other
                bound = max(bound, step.objective - step.gap - above_hinge(smooth))
            floor = max(floor, bound)
            if best is None or objective < best.objective:
                best = Iterate(weights.nonzero(), objective, evaluations)
            gap, wanted = best.objective - floor, self.tol * abs(best.objective)
            status = Status.CONVERGED if gap <= wanted else Status.STALLED if tol < LEAST_TOL else None
            phase = f"temperature {temperature:.2g}"
            yield replace(best, evaluations=evaluations, gap=gap, phase=phase, status=status)
            if status is not None:
                return
            # The smoothed objective lies above the hinge objective; once that is little, only accuracy is missing.
            if step.objective - objective <= LITTLE * wanted:
                tol *= SHARPER
            else:
                temperature *= self.factor

    def _at_one_temperature(
        self, inner: Solver, smooth: Problem, start: Weights
    ) -> Generator[Iterate, None, Iterate]:
        """Where the inner solver ends, or is after so many steps."""
        number = 0
        for step in inner.iterate(smooth, start):
            number += step.whole
            if step.status is not None or number > self.steps:
                break
            yield step.within()
        return step

    def _judge(self, problem: Problem, smooth: Problem, weights: Weights) -> tuple[float, float]:
        """The hinge objective, and a lower bound on its optimum from the smoothed problem's marginals."""
        kept = weights.nonzero()
        assert kept.features is not None
        objective = problem.evaluate(kept).loss + problem.penalty.restrict(kept.features).value(kept.values)
        if not problem.penalty.proximal:  # then the solver within has a bound of its own
            return objective, 0.0
        expected, gradient = expected_cost(smooth, kept)
        return objective, lower_bound(expected, gradient, problem.penalty)


def above_hinge(smooth: Problem) -> float:
    """How far a smoothed loss can be above the hinge loss: Σ weight · T log |outputs| over instances."""
    assert isinstance(smooth.loss, SmoothedHinge)
    return float(smooth.loss.temperature * EXPECTED_COSTS.of(smooth).log_outputs())


def expected_cost(smooth: Problem, weights: Weights) -> tuple[float, Array]:
    """Σ of the expected cost under the smoothed problem's marginals, and Φᵀ(μ − gold)."""
    return EXPECTED_COSTS.of(smooth).expected_cost(weights)
