"""What every design offers: Φ, the sparse linear map from weights to part scores; and what some offer besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

from parsimon._core import BlockDescent, LinearMap
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.structures.base import Gold, Parts

# The kind of structure that goes with a design: chains with `ChainDesign`, and so on.
OwnStructure: TypeAlias = Any
# The compiled learner that a design makes and teaches.
OwnLearner: TypeAlias = Any
# Sparse vectors, one an instance: the number of the first feature; where each vector starts; features, counted from
# that first one; values.
SparseVectors: TypeAlias = tuple[int, IntArray, IntArray, Array]


class Design(Protocol):
    """The map Φ of one batch of instances, for a set of features."""

    @property
    def n_features(self) -> int:
        """The length of w."""
        ...

    def scores(self, w: Array) -> Parts:
        """Φ w, as parts."""
        ...

    def scores_of(self, values: Array, features: IntArray) -> Parts:
        """Φ w where only the given features (ascending) are not zero."""
        ...

    def pullback(self, parts: Parts, out: Array) -> None:
        """out += Φᵀ parts."""
        ...

    def pullback_squared(self, parts: Parts, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts, the values of features squared."""
        ...

    def restrict(self, features: IntArray) -> Design:
        """The map of some features only (ascending numbers)."""
        ...

    def adapt(self, structure: OwnStructure) -> OwnStructure:
        """The structure with parts as this design scores them: fewer features may need fewer parts."""
        ...

    def part(self, where: slice) -> Design:
        """The map of some instances: those whose outputs are there in an array of outputs."""
        ...


@runtime_checkable
class ComparesOutputs(Protocol):
    """A design for max-margin solvers, which keep outputs as sparse vectors of features."""

    def differences(self, structure: OwnStructure, gold: Gold, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output) of every instance; features ascend from one element of the list to the next."""
        ...


@runtime_checkable
class ScreensFeatures(Protocol):
    """A design that finds large gradients without computing the gradient of all features."""

    def with_own_memory(self) -> Self:
        """The same design, with scores that stay valid when those of other batches are made."""
        ...

    def screen(
        self, batches: Sequence[tuple[Any, OwnStructure, Parts]], threshold: float
    ) -> tuple[IntArray, Array]:
        """All features, ascending, with |gradient| above the threshold, and their gradients.

        The gradient is Σ Φᵀ parts over batches, each a design of this kind, its structure `with_own_memory` (see
        `RecordsOrigins`) and the parts that this structure has made.
        """
        ...


class CompiledPass(Protocol):
    """The log loss of many batches in one call of the core."""

    def evaluate(
        self, w: Array, curvature: bool, marginals: bool, threads: int
    ) -> tuple[Array, Array, Array, Array | None, list[Array] | None, int]:
        """The loss of each batch, log Z of each instance, the gradient, and what was asked for.

        Last, the number of a batch with an instance that has no output with a finite score, or −1.
        """
        ...

    def diagonal(self, marginals: Sequence[Array], threads: int) -> Array:
        """The diagonal of the Hessian, or nearly, from marginals of labels of each batch."""
        ...


class SteepFeatures(NamedTuple):
    """What a look at all features finds."""

    loss: float
    features: IntArray  # with a gradient above the threshold, ascending
    gradient: Array  # theirs
    of_active: Array  # the gradient of the features that have weights
    marginals: list[Array]  # of labels, of each batch


@runtime_checkable
class WorksTogether(Protocol):
    """A design of which many batches are dealt with in one call of the core, by all threads."""

    def restrict_all(self, designs: Sequence[Any], features: IntArray) -> list[Any]:
        """The maps of some features only, for designs of this kind with the same features."""
        ...

    def new_pass(self, batches: Sequence[tuple[Any, OwnStructure, Gold]]) -> CompiledPass | None:
        """The log loss of batches with designs of this kind; None if it has to be found batch by batch."""
        ...

    def screen_together(
        self,
        batches: Sequence[tuple[Any, OwnStructure, Gold]],
        values: Array,
        features: IntArray,
        threshold: float,
    ) -> SteepFeatures | None:
        """What `screen` finds, under the log loss with weights on some features; None if that takes `screen`."""
        ...


@runtime_checkable
class ScoresByMargins(Protocol):
    """A design over vectors: Φw is a matrix of margins Xw, laid out as parts."""

    @property
    def map(self) -> LinearMap:
        """X."""
        ...

    @property
    def threads(self) -> int:
        """How many threads products with X use."""
        ...

    def margins(self, w: Array) -> Array:
        """Xw, (instances, columns)."""
        ...

    def parts(self, margins: Array) -> Parts:
        """Margins as the scores of all labels."""
        ...

    def columns(self, parts: Parts) -> Array:
        """Of parts, the columns that have weights."""
        ...

    def restrict(self, features: IntArray) -> Self:
        """The map of some features only (ascending numbers)."""
        ...


class OnlineLearner(Protocol):
    """Rounds of online learning, compiled. Weights exist only once an update has touched them."""

    @property
    def n_sequences(self) -> int:
        """How many instances it learns from."""
        ...

    @property
    def n_weights(self) -> int:
        """How many weights exist."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds it has behind it."""
        ...

    def run(
        self, order: IntArray, question: int, cost: float, passive_aggressive: bool, step: float
    ) -> tuple[float, int]:
        """A round for each instance (question 0 argmax, 1 cost-augmented argmax, 2 marginals): loss, mistakes."""
        ...

    def scale(self, factors: Array) -> None:
        """Multiplies the weights of each block; times zero they leave the memory."""
        ...

    def norms(self, running: bool = False) -> Array:
        """The 2-norm of each block, summed anew or (running) as kept along the way."""
        ...

    def row_norms(self, blocks: BoolArray) -> Array:
        """The 2-norms of the rows of attributes in the blocks marked."""
        ...

    def magnitudes(self, blocks: BoolArray) -> Array:
        """The absolute weights in the blocks marked."""
        ...

    def pull_rows(self, by: float, blocks: BoolArray) -> None:
        """Takes that much from every row's norm, when the row next fires."""
        ...

    def pull_weights(self, by: float, blocks: BoolArray) -> None:
        """Takes that much from every weight, when it next fires."""
        ...

    def drop_rows(self, limit: float, blocks: BoolArray) -> None:
        """Drops the rows whose norm is at most that, in the blocks marked."""
        ...

    def drop_weights(self, limit: float, blocks: BoolArray) -> None:
        """Drops the weights that are at most that in absolute value, in the blocks marked."""
        ...

    def forget_average(self) -> None:
        """Averages are over the rounds from here on."""
        ...

    def settle(self) -> None:
        """Applies what was put off, and frees weights that are zero."""
        ...

    def weights(self, averaged: bool = False) -> tuple[IntArray, Array]:
        """Ascending features and their weights, or the averages of these over all rounds."""
        ...

    def replace(self, values: Array) -> None:
        """Sets the weights that exist, in the order of `weights`."""
        ...

    def start(self, features: IntArray, values: Array) -> None:
        """Weights to begin with."""
        ...

    def state(self) -> tuple[Array | IntArray, ...]:
        """All that rounds to come depend on."""
        ...

    def restore(self, *state: Any) -> None:
        """Goes on from such a state as if there had been no break."""
        ...


class SummedLearner(Protocol):
    """Rounds of online learning with a cumulative L1 penalty, compiled."""

    @property
    def n_sequences(self) -> int:
        """How many instances it learns from."""
        ...

    @property
    def n_weights(self) -> int:
        """How many weights exist, zero or not."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds it has behind it."""
        ...

    def run(
        self,
        order: IntArray,
        question: int,
        cost: float,
        steps: Array,
        l1: float,
        l2: float,
        negligible: float,
    ) -> tuple[float, int]:
        """A round for each instance, with a step for each: loss, mistakes."""
        ...

    def weights(self) -> tuple[IntArray, Array]:
        """Ascending features whose weights are not zero, and these."""
        ...

    def start(self, features: IntArray, values: Array) -> None:
        """Weights to begin with."""
        ...

    def state(self) -> tuple[Array | IntArray, ...]:
        """All that rounds to come depend on."""
        ...

    def restore(self, *state: Any) -> None:
        """Goes on from such a state as if there had been no break."""
        ...


class Teaches(Protocol):
    """What designs for online learning have in common."""

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last), for tokens and for steps."""
        ...

    def teach(self, learner: OwnLearner, structure: OwnStructure, gold: Gold) -> None:
        """Gives a learner this batch to learn from."""
        ...


@runtime_checkable
class TeachesLearners(Teaches, Protocol):
    """A design with an online learner."""

    @property
    def restricts_transitions(self) -> bool:
        """Whether some labels may not follow each other. A learner scores labels itself and does not know that."""
        ...

    def new_learner(
        self, structure: OwnStructure, node_block: IntArray, pair_block: IntArray, n_blocks: int
    ) -> OwnLearner:
        """An online learner with these features; blocks partition the attributes."""
        ...


@runtime_checkable
class TeachesSummedLearners(Teaches, Protocol):
    """A design with an online learner whose L1 penalty adds up from round to round."""

    def new_summed_learner(self, node_exempt: BoolArray, pair_exempt: BoolArray) -> OwnLearner:
        """Such a learner with these features; the attributes marked are not penalised."""
        ...


@runtime_checkable
class DescendsByBlocks(Protocol):
    """A design for block coordinate descent."""

    @property
    def restricts_transitions(self) -> bool:
        """Whether some labels may not follow each other. The sweeps score labels themselves and do not know that."""
        ...

    @property
    def threads(self) -> int:
        """How many threads a sweep may use."""
        ...

    def new_descent(self) -> BlockDescent:
        """Sweeps over blocks of these features."""
        ...

    def teach_descent(self, descent: BlockDescent, structure: OwnStructure, gold: Gold) -> None:
        """Gives it this batch."""
        ...
