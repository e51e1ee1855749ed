"""Strengths at which a penalty leaves nothing: the solver converges, and the model is empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from parsimon.arrays import Array
from parsimon.penalties import ElasticNet, Penalty, never_dropped
from parsimon.penalties.base import ElasticPenalty
from parsimon.problem import Problem
from parsimon.solvers import Weights

DIGITS = 4  # of a strength in a message
ROUNDING = 1e-9  # a limit below that only says that nothing in the data tells labels apart


@dataclass(frozen=True)
class TooStrong:
    """A strength that drops everything, and the smallest one that is known to do so."""

    name: str  # of the option
    given: float
    limit: float

    @property
    def limit_text(self) -> str:
        """From where on a strength is too large."""
        return f"{self.name}={self.limit:.{DIGITS}g}"

    def __str__(self) -> str:
        """One sentence."""
        return (
            f"the penalty has left nothing that it can drop: {self.name}={self.given:g} is too strong, as it drops "
            f"everything from {self.limit_text} on; give a smaller number."
        )

    def to_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return asdict(self)


def too_strong(problem: Problem, weights: Weights, group_strength: str) -> TooStrong | None:
    """The strength that is why a solution has none of the weights that the penalty can drop; None if that is not so.

    `group_strength` is the name of the option for the strength of groups.
    """
    if has_kept(problem.penalty, weights):
        return None
    _, gradient = problem.loss_and_gradient(weights)
    return next(
        (
            TooStrong(name, given, limit)
            for name, given, limit in _limits(problem.penalty, gradient, group_strength)
            if ROUNDING < limit <= given
        ),
        None,
    )


def has_kept(penalty: Penalty, weights: Weights) -> bool:
    """Whether a weight is not zero that the penalty could have dropped."""
    features = weights.nonzero().features
    assert features is not None
    return len(never_dropped(penalty.restrict(features), len(features))) < len(features)


def _limits(penalty: Penalty, gradient: Array, group_strength: str) -> Iterator[tuple[str, float, float]]:
    """Every strength by its name, with its value and the one from which on w = 0 is optimal, all others being equal."""
    if isinstance(penalty, ElasticPenalty) and penalty.l1 > 0:
        alone = ElasticNet(penalty.l1, weight=penalty.weight)
        yield "l1", penalty.l1, alone.dual_norm(gradient)
    if penalty.groups is not None and penalty.strength > 0:
        yield group_strength, penalty.strength, penalty.dual_norm(gradient)
