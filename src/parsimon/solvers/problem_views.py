"""Views of a problem, for solvers inside other solvers: they pass on what is asked, but for what they override."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsimon.arrays import Array, IntArray
from parsimon.losses.base import Loss
from parsimon.penalties.base import Penalty
from parsimon.problem import BaseProblem, Evaluation, Marginals, Problem, Screened
from parsimon.structures.base import Oracle
from parsimon.weights import Weights


@dataclass(frozen=True)
class ProblemView(BaseProblem):
    """Passes everything on to another problem."""

    seen: Problem

    @property
    def loss(self) -> Loss:
        """That of the problem."""
        return self.seen.loss

    @property
    def penalty(self) -> Penalty:
        """That of the problem."""
        return self.seen.penalty

    @property
    def n_features(self) -> int:
        """As many as the problem has."""
        return self.seen.n_features

    @property
    def n_instances(self) -> int:
        """As many as the problem has."""
        return self.seen.n_instances

    @property
    def oracles(self) -> frozenset[Oracle]:
        """Those of the problem."""
        return self.seen.oracles

    @property
    def threads(self) -> int:
        """As many as the problem has."""
        return self.seen.threads

    @property
    def exact(self) -> bool:
        """As the problem is."""
        return self.seen.exact

    @property
    def labels_known(self) -> bool:
        """As in the problem."""
        return self.seen.labels_known

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        """As the problem does."""
        return self.seen.evaluate(w, curvature=curvature, marginals=marginals)

    def diagonal(self, marginals: Marginals) -> Array:
        """As the problem does."""
        return self.seen.diagonal(marginals)

    def screen(self, weights: Weights, threshold: float | Array, narrow: Problem | None = None) -> Screened:
        """As the problem does."""
        return self.seen.screen(weights, threshold, narrow)

    def restrict(self, features: IntArray) -> Problem:
        """The problem itself, restricted."""
        return self.seen.restrict(features)

    def with_loss(self, loss: Loss) -> Problem:
        """The same view with another loss."""
        return replace(self, seen=self.seen.with_loss(loss))

    def with_penalty(self, penalty: Penalty) -> Problem:
        """The same view with another penalty."""
        return replace(self, seen=self.seen.with_penalty(penalty))
