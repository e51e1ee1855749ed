"""What every structure offers: a batch of instances, part scores in, outputs or part marginals out."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from parsimon.arrays import Array, IntArray

# Numbers for parts (scores, marginals, indicators), in an object whose kind a structure and its design agree on:
# `ChainParts`, `FlatParts`, … It has an array `node`, and `subtract(other)` and `scale(factor)` in place.
Parts: TypeAlias = Any
# The outputs of a batch: an array of labels, or of numbers, or a `Table`. The structure knows which.
Gold: TypeAlias = Any


class Oracle(Enum):
    """The questions a structure may be able to answer about the scores of its parts."""

    ARGMAX = "argmax"
    COST_ARGMAX = "cost-augmented argmax"
    MARGINALS = "marginals"
    KBEST = "k-best"
    SAMPLE = "sampling"
    MEAN = "the mean of a real output"
    CONDITIONALS = "the probability of each label given all others"


class Structure(Protocol):
    """A batch of instances of one kind of structured output.

    Part scores, marginals and indicators of outputs are all `Parts` of one shape; adding up parts over an
    instance's output gives its score. An output is an array of labels in which −1 means "not given". Parts that
    are returned count every instance by its weight.
    """

    oracles: ClassVar[frozenset[Oracle]]

    @property
    def exact(self) -> bool:
        """Whether answers are right, or only nearly so."""
        ...

    @property
    def n_instances(self) -> int:
        """How many instances there are."""
        ...

    @property
    def weights(self) -> Array | None:
        """How much every instance counts; None if each counts once."""
        ...

    def argmax(self, scores: Parts) -> tuple[Array, IntArray]:
        """The best output of every instance, and its score."""
        ...

    def cost_argmax(self, scores: Parts, gold: Gold, cost: float | Array) -> tuple[Array, IntArray]:
        """The output with the largest score + cost, and that value.

        The cost is that of one wrong label, whichever it is, or a table of (gold, given) with a zero diagonal.
        """
        ...

    def augment(self, scores: Parts, gold: Gold, cost: float | Array) -> Parts:
        """New scores, with the cost of wrong labels added."""
        ...

    def marginals(self, scores: Parts) -> tuple[Array, Parts]:
        """log Z of every instance, and the marginals of all parts (may overwrite `scores`)."""
        ...

    def variances(self, marginals: Array) -> Parts:
        """p(1 − p) of every part, or nearly, from the marginals of labels: the second derivative by its score."""
        ...

    def score(self, scores: Parts, output: Gold) -> Array:
        """The score of a complete output of every instance."""
        ...

    def indicators(self, output: IntArray) -> Parts:
        """The parts that an output is made of."""
        ...

    def add_output(self, parts: Parts, output: Gold, times: float) -> None:
        """parts += times · indicators(output)."""
        ...

    def expected_cost(self, parts: Parts, gold: Gold, cost: float | Array) -> float:
        """Σ_y μ(y)·cost(gold, y) over all labels, where `parts` is μ − gold; instances count by their weights."""
        ...

    def log_outputs(self) -> Array:
        """The logarithm of how many outputs every instance has."""
        ...

    def constrain(self, scores: Parts, output: IntArray) -> Parts:
        """Scores under which only outputs that agree with the given labels are possible."""
        ...

    def weigh(self, values: Array) -> float:
        """Σ weight · value over instances."""
        ...

    def cost(self, gold: Gold, output: IntArray, cost: float | Array) -> Array:
        """What every instance's output costs: so much for a wrong label, or as a table of (gold, given) says."""
        ...

    def part(self, first: int, last: int) -> tuple[Self, slice]:
        """The instances from `first` to before `last`, and where in an output array they are."""
        ...


@runtime_checkable
class CountsInstances(Protocol):
    """A structure that weighs numbers of instances one by one."""

    def counted(self, values: Array) -> Array:
        """Every instance's numbers times its weight."""
        ...


@runtime_checkable
class WorksAlone(Protocol):
    """A structure, or a design, of which one thread can do a batch while others are on other batches."""

    threads: int

    def alone(self, worker: int) -> Self:
        """The same on one thread, in memory that is this worker's own."""
        ...


@runtime_checkable
class RecordsOrigins(Protocol):
    """A structure whose parts can say which recursions and outputs they were made of, as screening needs to know."""

    def with_own_memory(self) -> Self:
        """The same instances; parts record their origins, and stay valid when those of other batches are made."""
        ...


@runtime_checkable
class DrawsOutputs(Protocol):
    """A structure that draws independent outputs from p(y) ∝ exp(score)."""

    @property
    def draws_independently(self) -> bool:
        """Whether it does; draws of a Markov chain do not count."""
        ...

    def sample(self, scores: Parts, n: int = 1, seed: int = 0) -> IntArray:
        """n outputs of each instance, one a row; the same for any number of threads."""
        ...


@runtime_checkable
class AnswersConditionals(Protocol):
    """A structure that knows the probability of each label given all others."""

    def conditionals(self, scores: Parts, gold: Gold) -> tuple[Array, Parts, Array]:
        """−Σ_v log p(y_v | others) of every instance, its derivatives by part scores, and means and variances."""
        ...

    def conditional_variances(self, moments: Array) -> Parts:
        """The second derivatives by part scores, or nearly."""
        ...
