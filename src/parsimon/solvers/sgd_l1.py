"""SGD-L1: stochastic gradient descent with a cumulative L1 penalty (Tsuruoka, Tsujii & Ananiadou 2009).

    for t = 1 … T:
        take a sequence;  w_k ← w_k − η_t ∂loss_t/∂w_k  for features k that fire in it
        u ← u + η_t ρ1/N: by how much every weight should have been pulled towards zero by now
        those weights make up for what they have missed of it, but do not cross zero

A penalty that is applied bit by bit to weights that jump about leaves few of them at exactly zero; what counts here is
the sum of all steps of a weight against the sum of all penalties (Lavergne, Cappé & Yvon 2010, §3.3).

Rounds are compiled (core/learners/summed_weights.hpp). A round costs what fires in a sequence, and weights exist only
once a step has touched them: with hundreds of labels and millions of label pairs × observations, most never are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array
from parsimon.designs.base import SummedLearner
from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNet
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import (
    CUMULATIVE_L1,
    ELASTIC_NET,
    FREE_TRANSITIONS,
    ONLINE,
    PROX,
    SCALAR_COST,
    SEPARABLE,
    Requires,
)
from parsimon.solvers.learner_state import SUMMED
from parsimon.solvers.online import ORACLE_NUMBERS, begin, epochs_left, finite, state_of, summable
from parsimon.solvers.online_groups import Blocks
from parsimon.weights import Weights


class Schedule(Protocol):
    """How steps become smaller."""

    def sizes(self, epoch: int, n: int) -> Array:
        """The steps of the n rounds of an epoch (from 0)."""
        ...


@dataclass(frozen=True)
class Exponential:
    """η_t = η0 α^(t/N), the exponential decay of Tsuruoka et al. (2009): smaller by the factor α a whole epoch later.

    With 30 epochs, Nettalk's short words do best with a start of 0.8, the longer sentences of chunking with 0.4; on
    held-out data neither makes a difference.
    """

    start: float = 0.5
    decay: float = 0.85

    def __post_init__(self) -> None:
        if not 0 < self.start < float("inf"):
            raise ParsimonError(f"the first step must be above zero, not {self.start}.")
        if not 0 < self.decay <= 1:
            raise ParsimonError(f"decay must be above 0 and at most 1, not {self.decay}.")

    def sizes(self, epoch: int, n: int) -> Array:
        """η0 α^(epoch + i/n)."""
        return self.start * np.power(self.decay, epoch + np.arange(n) / max(n, 1))


@dataclass(frozen=True)
class SGDL1:
    """Epochs of SGD-L1, with any loss. For a loss that is a sum over sequences and an elastic net as penalty.

    `negligible` keeps memory and time down: a change is left out when it could not come to that share of the L1
    penalty over a whole epoch, even if it came, in the same direction, each time the attribute fires. 0 leaves out
    nothing.
    """

    epochs: int = 30
    step: Schedule = field(default_factory=Exponential)
    negligible: float = 0.1
    shuffle: bool = True
    seed: int = 0
    name: ClassVar[str] = "sgd-l1"
    validate_every: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ParsimonError(f"epochs must be at least 1, not {self.epochs}.")
        if not 0 <= self.negligible < float("inf"):
            raise ParsimonError(f"negligible must be zero or more, not {self.negligible}.")

    @property
    def requires(self) -> Requires:
        """A cumulative L1 penalty, and a penalty on single weights."""
        return (SEPARABLE, ELASTIC_NET, ONLINE, CUMULATIVE_L1, SCALAR_COST, FREE_TRANSITIONS, PROX)

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every epoch. The objective is the sum of losses as they were met, plus Ω."""
        penalty = ELASTIC_NET.of(problem)
        learner = new_learner(problem, penalty)
        begin(learner, start, SUMMED)
        oracle, cost = ORACLE_NUMBERS[problem.loss.oracle], SCALAR_COST.of(problem)
        for epoch, order in epochs_left(learner, self.epochs, self.seed, self.shuffle):
            sizes = self.step.sizes(epoch, learner.n_sequences)
            with summable():
                loss, _ = learner.run(order, oracle, cost, sizes, penalty.l1, penalty.l2, self.negligible)
            features, values = learner.weights()
            yield Iterate(
                Weights(values, features, problem.n_features, lambda: state_of(learner, SUMMED.names)),
                finite(loss) + penalty.restrict(features).value(values),
                epoch + 1,
                phase=self.name,
                instantiated=(learner.n_weights,),
                status=Status.DONE if epoch == self.epochs - 1 else None,
            )


def new_learner(problem: Problem, penalty: ElasticNet) -> SummedLearner:
    """A learner that knows all sequences, and which attributes are not penalised."""
    instances, weight = CUMULATIVE_L1.of(problem), penalty.weight
    blocks = Blocks.of(instances.attribute_starts(), None, weight)
    if blocks is None or (weight is not None and np.any((weight != 0) & (weight != 1))):
        raise ParsimonError(
            "sgd-l1 penalises the features of an attribute all alike, fully or not at all, but their weights differ."
        )
    exempt = np.zeros(blocks.n_blocks, bool) if weight is None else weight[blocks.first] == 0
    return instances.learner(exempt[blocks.node], exempt[blocks.pair])
