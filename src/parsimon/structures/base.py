"""What every structure offers: a batch of instances, part scores in, outputs or part marginals out."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, Protocol

from parsimon.arrays import Array, IntArray


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

    def argmax(self, scores: Any) -> tuple[Array, IntArray]:
        """The best output of every instance, and its score."""
        ...

    def cost_argmax(self, scores: Any, gold: IntArray, cost: float | Array) -> tuple[Array, IntArray]:
        """The output with the largest score + cost, and that value.

        The cost is that of one wrong label, whichever it is, or a table of (gold, given) with a zero diagonal.
        """
        ...

    def augment(self, scores: Any, gold: IntArray, cost: float | Array) -> Any:
        """New scores, with the cost of wrong labels added."""
        ...

    def marginals(self, scores: Any) -> tuple[Array, Any]:
        """log Z of every instance, and the marginals of all parts (may overwrite `scores`)."""
        ...

    def variances(self, marginals: Array) -> Any:
        """p(1 − p) of every part, or nearly, from the marginals of labels: the second derivative by its score."""
        ...

    def score(self, scores: Any, output: IntArray) -> Array:
        """The score of a complete output of every instance."""
        ...

    def indicators(self, output: IntArray) -> Any:
        """The parts that an output is made of."""
        ...

    def add_output(self, parts: Any, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        ...

    def expected_cost(self, parts: Any, gold: IntArray, cost: float | Array) -> float:
        """Σ_y μ(y)·cost(gold, y) over all labels, where `parts` is μ − gold; instances count by their weights."""
        ...

    def log_outputs(self) -> Array:
        """The logarithm of how many outputs every instance has."""
        ...

    def constrain(self, scores: Any, output: IntArray) -> Any:
        """Scores under which only outputs that agree with the given labels are possible."""
        ...

    def weigh(self, values: Array) -> float:
        """Σ weight · value over instances."""
        ...

    def cost(self, gold: IntArray, output: IntArray, cost: float | Array) -> Array:
        """What every instance's output costs: so much for a wrong label, or as a table of (gold, given) says."""
        ...

    def part(self, first: int, last: int) -> tuple[Any, slice]:
        """The instances from `first` to before `last`, and where in an output array they are."""
        ...
