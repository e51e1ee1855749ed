"""The L1-M3N by cutting planes (Zhu, Xing & Zhang 2009, Algorithm 1): a linear program that grows where it is violated.

The program (solvers/margin_program.py) has few rows, since few outputs support a margin, and few columns, since few
weights are not zero:

- *rows* come in where the structure finds an output that violates its margin by more than ξ_i + ε at some weights;
- *columns* come in where |Σ α_i(y) Δf_ik(y)| > l1_k for the multipliers α of the rows: no other weight could help;
- rows that have been slack for a while leave again.

The multipliers are a point of the dual, so there is a lower bound on the minimum after every round.

The program's own weights are erratic as long as outputs are missing. So these are also looked for on the way from the
best weights so far to the program's (Ben-Ameur & Neto 2007, "in-out separation"), where the useful ones are found.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array
from parsimon.problem import Problem, Violated
from parsimon.solvers.adaptive import Adaptive, Rounds
from parsimon.solvers.base import Iterate, Status, paused
from parsimon.solvers.capabilities import HINGE_LOSS, MARGINS, PROX, PURE_L1, Requires
from parsimon.solvers.certificate import lower_bound
from parsimon.solvers.frank_wolfe import FrankWolfe
from parsimon.solvers.margin_program import MarginProgram
from parsimon.weights import Weights

ROUNDING = 1e-9  # a margin that is violated by less is not


@dataclass(frozen=True)
class CuttingPlane:
    """Stops when the objective is within `tol` of its lower bound, or nothing violates a margin by `epsilon`.

    Each round looks for outputs at the program's weights and at `between` shares of the way to them from the best.
    Rows that have been slack for `idle` rounds are forgotten.
    """

    tol: float = 1e-4
    rough: float = 1e-3
    epsilon: float = 0.0
    between: tuple[float, ...] = (0.1, 0.3)
    idle: int = 5
    name: ClassVar[str] = "cutting-plane"
    validate_every: ClassVar[int] = 1
    requires: ClassVar[Requires] = (HINGE_LOSS, PROX, PURE_L1, MARGINS)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields the best weights so far after every round."""
        penalty = PURE_L1.of(problem)
        mass = MARGINS.of(problem).instance_weights()
        program = MarginProgram(np.broadcast_to(penalty.l1_strength, problem.n_features), mass)
        inside = yield from self._rough(problem, start, program)
        lowest, floor, support = np.inf, 0.0, 0
        w, slack, evaluations = inside, np.zeros(len(mass)), 0
        for number in count():
            added, points = 0, [w]
            if number:
                points += [inside + share * (w - inside) for share in self.between]
            for at, point in enumerate(points):
                more, objective = self._look(problem, program, point, slack, everywhere=at > 0)
                added += more
                evaluations += 1
                if objective < lowest:
                    lowest, inside = objective, point
                yield Iterate(Weights(inside, None, problem.n_features), lowest, evaluations, whole=False)
            gap = lowest - floor
            close = gap <= self.tol * abs(lowest)
            status = Status.CONVERGED if close else Status.STALLED if number and not added else None
            weights = Weights(inside, None, problem.n_features).nonzero()
            now = Iterate(
                weights, lowest, evaluations, gap=gap, phase=self.name, support=support, status=status
            )
            yield now
            if status is not None:
                return
            vertex = yield from paused(program.solve(), now.within())
            w, slack, support = vertex.weights, vertex.slack, vertex.n_support
            floor = max(floor, lower_bound(vertex.offset, -vertex.pull, penalty))
            program.forget(self.idle)

    def _rough(
        self, problem: Problem, start: Weights, program: MarginProgram
    ) -> Generator[Iterate, None, Array]:
        """Rough weights, by the EM-style learner; the outputs that support them are the first rows."""
        learn = Rounds(problem, FrankWolfe())
        for rough in Adaptive(tol=self.rough).continued(problem, start, learn):
            yield replace(rough, status=None)
        assert learn.dual is not None
        instance, cost, begin, index, value = learn.dual.planes.support()
        met = Violated(instance, cost, cost, [(0, begin, index, value)], loss=0.0)
        program.add(met, np.ones(len(cost), bool))
        kept = rough.weights.nonzero()
        assert kept.features is not None
        program.add_weights(kept.features, np.sign(kept.values))
        return kept.dense()

    def _look(
        self, problem: Problem, program: MarginProgram, w: Array, slack: Array, *, everywhere: bool
    ) -> tuple[int, float]:
        """Adds the most violated outputs; returns how many were new, and the objective."""
        added, total = 0, 0.0
        for found in MARGINS.of(problem).most_violated(w):
            total += found.loss
            least = ROUNDING if everywhere else slack[found.instances] + self.epsilon + ROUNDING
            added += program.add(found, found.height > least)
        return added, total + problem.penalty.value(w)
