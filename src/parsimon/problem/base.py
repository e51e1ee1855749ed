"""What a solver asks of a learning problem. Where the instances live is the problem's own business.

`Problem` is all that most solvers need. What only some of them need is a further protocol, with one method that
returns an object of its own, or ``None`` if the data does not allow it:

| protocol          | method                | for                                           |
|-------------------|-----------------------|-----------------------------------------------|
| `HasChunks`       | `chunks(most)`        | solvers that learn from a few instances at a time |
| `HasMargins`      | `margins()`           | cutting planes and Frank–Wolfe                |
| `HasCoordinates`  | `coordinates()`       | proximal Newton and ADMM                      |
| `HasOnline`       | `online()`            | online learners                               |
| `HasCumulativeL1` | `cumulative_online()` | SGD with a cumulative L1 penalty              |
| `HasBlocks`       | `blocks()`            | block coordinate descent                      |

`HasHeldOut` cuts a problem in two, for selections that choose how much to keep by what they have not seen.
`HasCovariances` has a question of its own and the method that answers it, for proximal quasi-Newton, and
`HasExpectedCosts` has two methods of its own, for the bounds of smoothed hinge losses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeAlias, runtime_checkable

from parsimon._core import BlockDescent, LinearMap
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.base import OnlineLearner, SparseVectors, SummedLearner
from parsimon.losses.base import Loss
from parsimon.penalties.base import Penalty
from parsimon.structures.base import Oracle
from parsimon.weights import Weights

Marginals: TypeAlias = object  # opaque: only the problem that made it, and its restrictions, can read it


@dataclass(frozen=True)
class Evaluation:
    """The sum of losses at some weights and its derivatives, without the penalty."""

    loss: float
    gradient: Array = field(repr=False)
    curvature: Array | None = field(default=None, repr=False)  # the Hessian's diagonal, if it was asked for
    marginals: Marginals = field(default=None, repr=False)  # for `Problem.diagonal`, if they were asked for


@dataclass(frozen=True)
class Screened:
    """The features with a large gradient, and what else one pass over the data has shown."""

    loss: float
    features: IntArray  # those above the threshold, ascending
    gradient: Array  # theirs
    of_active: Array  # the gradient of the features that have a weight
    marginals: Marginals = field(repr=False)  # for `Problem.diagonal`


class Problem(Protocol):
    """Σ_i loss_i(w) + Ω(w). A solver sees nothing else: no text, no labels, no batches."""

    @property
    def loss(self) -> Loss:
        """The loss of an instance."""
        ...

    @property
    def penalty(self) -> Penalty:
        """Ω."""
        ...

    @property
    def n_features(self) -> int:
        """The length of w."""
        ...

    @property
    def n_instances(self) -> int:
        """How many instances the sum is over. There may be none."""
        ...

    @property
    def oracles(self) -> frozenset[Oracle]:
        """The questions that all structures can answer."""
        ...

    @property
    def threads(self) -> int:
        """How many threads work on it, so that a solver may use as many for what it does in between."""
        ...

    @property
    def exact(self) -> bool:
        """Whether all marginals and best outputs are exact. Those of loopy belief propagation are not."""
        ...

    @property
    def labels_known(self) -> bool:
        """Whether no label is missing."""
        ...

    @property
    def convex(self) -> bool:
        """Whether Σ loss is convex: it need not be with missing labels or with inexact marginals."""
        ...

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        """Σ loss and its gradient; with the diagonal of its Hessian (nearly) or marginals, if asked for.

        `Weights` with few features cost what these features cost. Only smooth losses have a curvature and marginals.
        """
        ...

    def loss_and_gradient(self, w: Array | Weights) -> tuple[float, Array]:
        """The first two of an evaluation."""
        ...

    def objective(self, w: Array) -> float:
        """Σ loss + Ω."""
        ...

    def diagonal(self, marginals: Marginals) -> Array:
        """The diagonal of the Hessian, or nearly, from marginals of this problem or of one that it restricts."""
        ...

    def screen(self, weights: Weights, threshold: float | Array, narrow: Problem | None = None) -> Screened:
        """The features whose gradient at `weights` is above a threshold (of all, or of each feature).

        `narrow` is this problem restricted to the features of `weights`, if the caller has it.
        """
        ...

    def restrict(self, features: IntArray) -> Problem:
        """The problem in which only these features (ascending) may be other than zero."""
        ...

    def with_loss(self, loss: Loss) -> Problem:
        """The same instances with another loss."""
        ...

    def with_penalty(self, penalty: Penalty) -> Problem:
        """The same instances with another penalty."""
        ...


class BaseProblem:
    """What follows from the rest."""

    @property
    def threads(self) -> int:
        """One, unless a problem says otherwise."""
        return 1

    @property
    def convex(self: Problem) -> bool:
        """Exact marginals and known labels."""
        return self.exact and self.labels_known

    def loss_and_gradient(self: Problem, w: Array | Weights) -> tuple[float, Array]:
        """The first two of an evaluation."""
        there = self.evaluate(w)
        return there.loss, there.gradient

    def objective(self: Problem, w: Array) -> float:
        """Σ loss + Ω."""
        return self.evaluate(w).loss + self.penalty.value(w)


# --- What only some solvers need ----------------------------------------------------------------------------


@runtime_checkable
class HasChunks(Protocol):
    """A problem that can be cut into small ones."""

    def chunks(self, most: int) -> Sequence[Problem]:
        """The same instances, at most so many in each problem; their losses add up to that of the whole."""
        ...


@dataclass(frozen=True)
class Violated:
    """One output y for each of some instances: that with the largest h(y) = cost(y) − w·Δf(y).

    Δf(y) = f(gold) − f(y), so the hinge loss of an instance is max_y h(y).
    """

    instances: IntArray  # their numbers
    height: Array  # h
    cost: Array
    vectors: list[SparseVectors]  # Δf
    loss: float  # Σ weight · h


class MarginInstances(Protocol):
    """Instances of a hinge loss: which outputs violate their margins."""

    def instance_weights(self) -> Array:
        """How much each instance counts."""
        ...

    def most_violated(self, w: Array) -> Iterator[Violated]:
        """The most violated output of every instance, some instances at a time, in their order."""
        ...

    def chunks(self, most: int) -> Sequence[Self]:
        """The same instances, at most so many in each, numbered as in the whole."""
        ...


@runtime_checkable
class HasMargins(Protocol):
    """A problem that finds violated outputs."""

    def margins(self) -> MarginInstances | None:
        """Its instances, or None if the features of outputs cannot be compared."""
        ...


@runtime_checkable
class HasCovariances(Protocol):
    """A problem that draws outputs from its model: second derivatives of some features, estimated."""

    @property
    def has_covariances(self) -> bool:
        """Whether all of its instances can."""
        ...

    def covariance(self, w: Array, features: IntArray, draws: int, seed: int) -> Array:
        """The Hessian of the log loss by some features (ascending), without bias, from so many pairs of outputs."""
        ...


@runtime_checkable
class HasExpectedCosts(Protocol):
    """A problem with marginals whose loss has a cost: what bounds on the hinge loss are made of."""

    def expected_cost(self, weights: Weights) -> tuple[float, Array]:
        """Σ of the expected cost under the marginals at these weights, and Φᵀ(μ − gold)."""
        ...

    def log_outputs(self) -> float:
        """Σ weight · log |outputs| over instances."""
        ...


@runtime_checkable
class HasHeldOut(Protocol):
    """A problem of which some instances can be held out, to count the mistakes on them."""

    def held_out(self, share: float, seed: int) -> tuple[Problem, HasHeldOut]:
        """The problem of most instances, and that of the others: about this share of all, drawn at random."""
        ...

    def mistakes(self, weights: Weights) -> Array:
        """The number of wrong labels (states, heads) in every instance's best output."""
        ...


@dataclass(frozen=True)
class LinearPoint:
    """The loss at some margins, with its derivatives."""

    margins: Array  # Xw, (instances, columns)
    loss: float
    gradient: Array  # by features
    residual: Array  # by margins: μ − gold
    marginals: Array


class Coordinates(Protocol):
    """Scores that are linear in the values of attributes: margins Xw, with one row an instance."""

    @property
    def map(self) -> LinearMap:
        """X."""
        ...

    def margins(self, w: Array) -> Array:
        """Xw."""
        ...

    def at(self, margins: Array) -> LinearPoint:
        """The loss and its derivatives."""
        ...

    def second_derivatives(self, point: LinearPoint) -> Array:
        """By each margin."""
        ...

    def dual_values(self, point: LinearPoint) -> tuple[Array, Array]:
        """Of each instance, its a(μ) (see solvers/certificate.py) times its weight; and μ − gold by margins."""
        ...

    def pullback(self, residual: Array) -> Array:
        """Xᵀ residual."""
        ...

    def contributions(self, residual: Array, features: IntArray) -> Array:
        """What every instance adds to the gradient by these features: (features, instances)."""
        ...


@runtime_checkable
class HasCoordinates(Protocol):
    """A problem over vectors."""

    def coordinates(self) -> Coordinates | None:
        """Its scores, or None if they are not linear in single values."""
        ...


class OnlineInstances(Protocol):
    """What an online learner learns from."""

    @property
    def restricts_transitions(self) -> bool:
        """Whether some labels may not follow each other."""
        ...

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        ...

    def learner(self, node_block: IntArray, pair_block: IntArray, n_blocks: int) -> OnlineLearner:
        """A learner that knows all instances; blocks partition the attributes."""
        ...


@runtime_checkable
class HasOnline(Protocol):
    """A problem that can be learnt online."""

    def online(self) -> OnlineInstances | None:
        """Its instances, or None if its structure has no online learner."""
        ...


class SummedInstances(Protocol):
    """What an online learner with a cumulative L1 penalty learns from."""

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        ...

    def learner(self, node_exempt: BoolArray, pair_exempt: BoolArray) -> SummedLearner:
        """A learner that knows all instances; the attributes marked are not penalised."""
        ...


@runtime_checkable
class HasCumulativeL1(Protocol):
    """A problem that can be learnt online with a cumulative L1 penalty."""

    def cumulative_online(self) -> SummedInstances | None:
        """Its instances, or None if its structure has no such learner."""
        ...


class BlockInstances(Protocol):
    """What block coordinate descent works on."""

    @property
    def restricts_transitions(self) -> bool:
        """Whether some labels may not follow each other."""
        ...

    @property
    def threads(self) -> int:
        """How many threads a sweep may use."""
        ...

    def descent(self) -> BlockDescent:
        """The compiled sweeps, with all instances and their blocks."""
        ...


@runtime_checkable
class HasBlocks(Protocol):
    """A problem for block coordinate descent."""

    def blocks(self) -> BlockInstances | None:
        """Its instances, or None if its structure does not allow it."""
        ...
