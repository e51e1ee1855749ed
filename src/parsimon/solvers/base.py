"""What every solver is: a generator of iterates. A driver (`drive`) owns the loop around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.losses import some_missing
from parsimon.penalties.base import Penalty
from parsimon.penalties.elastic_net import ElasticNet
from parsimon.problem import Problem
from parsimon.structures.base import Oracle
from parsimon.weights import Weights


class Status(Enum):
    """Why a solver stopped."""

    CONVERGED = "converged: the optimality conditions hold to the tolerance asked for"
    STALLED = "stalled: no step decreases the objective any more at this precision"
    ITERATIONS = "stopped at the limit of iterations"
    DONE = "done: all epochs were run"
    TIME = "stopped at the time limit"
    DEVELOPMENT = "stopped early: the development score no longer improves"
    INTERRUPTED = "interrupted: this is the best model so far"


@dataclass(frozen=True)
class Iterate:
    """Where a solver stands after a step. `kkt` is only given when it holds for all features."""

    weights: Weights
    objective: float
    evaluations: int
    kkt: float | None = None
    gap: float | None = None
    phase: str = ""
    status: Status | None = None
    instantiated: tuple[int, ...] = ()  # how many weights existed, along the way
    selected: int | None = None  # how many features were ever looked at more closely
    support: int | None = (
        None  # outputs that the weights are made of: those with a multiplier that is not zero
    )
    relevance: Array | None = field(
        default=None, repr=False
    )  # the norm of every group's copies of its weights


@dataclass(frozen=True)
class Event:
    """One line of a training history."""

    iteration: int
    seconds: float
    objective: float
    active: int
    evaluations: int
    phase: str = ""
    kkt: float | None = None
    gap: float | None = None
    dev: float | None = None
    instantiated: tuple[int, ...] = ()
    selected: int | None = None
    support: int | None = None

    @classmethod
    def from_told(cls, told: dict[str, Any]) -> Event:
        """From its fields, as they come out of JSON."""
        return cls(**{**told, "instantiated": tuple(told["instantiated"])})


def thinned(history: list[Event], most: int = 200) -> list[dict[str, Any]]:
    """A history short enough for a model file, and without times."""
    every = max(1, len(history) // most)
    return [
        {
            k: round(v, 6) if isinstance(v, float) else v
            for k, v in vars(event).items()
            if k != "seconds" and v not in (None, "")
        }
        for i, event in enumerate(history)
        if i % every == 0 or i == len(history) - 1
    ]


@dataclass(frozen=True)
class Result:
    """What a solver found."""

    weights: Weights
    status: Status
    objective: float
    kkt: float | None = None
    gap: float | None = None
    history: list[Event] = field(default_factory=list)
    support: int | None = None
    relevance: Array | None = field(default=None, repr=False)  # as of an iterate

    def told(self) -> dict[str, Any]:
        """What model files say of how training ended."""
        return {
            "status": self.status.value,
            "objective": self.objective,
            "kkt": self.kkt,
            "gap": self.gap,
            "iterations": len(self.history),
            "history": thinned(self.history),
        }


@dataclass(frozen=True)
class Requires:
    """What a solver needs of a problem; checked before any work."""

    smooth_loss: bool = False
    smooth_penalty: bool = False
    separable_penalty: bool = False
    separable_or_groups: bool = False  # a penalty whose violations say which features or groups are missing
    groups: bool = False
    hinge_loss: bool = False
    sizes_matter: bool = False  # a loss that is not smallest where all weights are zero
    marginals: bool = False
    online: bool = False
    cumulative_l1: bool = False  # an online learner whose L1 penalty adds up from round to round
    blocks: bool = False
    log_loss: bool = False
    all_labels: bool = False
    uniform_penalty: bool = False  # the same strengths for every weight
    separable_or_blocks: bool = False  # one weight, or one group, after the other
    coordinates: bool = False  # scores that are linear in the values of attributes: vectors, not sequences
    splitting: bool = False  # a penalty whose groups may be given copies of their weights
    proximal: bool = True  # a penalty with a proximal operator
    strictly_convex_squares: bool = False  # Σ_k b_k w_k² with b_k > 0, and nothing else
    pure_l1: bool = False  # Σ_k l1_k |w_k|, and nothing else
    majorizer: bool = False  # a penalty that lies below parabolas
    differences: bool = False  # f(gold) − f(y) as sparse vectors

    def missing(self, problem: Problem) -> str | None:
        """What the problem lacks, in words, or ``None``."""
        if self.smooth_loss and not problem.loss.smooth:
            return f"a smooth loss, and {problem.loss.name} is not"
        if self.smooth_penalty and not problem.penalty.smooth:
            return "a smooth penalty, and an L1 part is not"
        if self.separable_penalty and not problem.penalty.separable:
            return "a penalty that treats every weight by itself"
        if self.separable_or_blocks and not (
            problem.penalty.separable or getattr(problem.penalty, "blocks", False)
        ):
            return "a penalty on single weights, or on disjoint groups with the norm 2"
        if self.separable_or_groups and not (problem.penalty.separable or problem.penalty.groups is not None):
            return "a penalty on single weights or on groups of them"
        if (
            (self.separable_or_groups or self.separable_or_blocks or self.blocks)
            and problem.penalty.separable
            and not hasattr(problem.penalty, "separated")
        ):
            return "an L1 or L2 penalty or both, or a penalty on groups"
        if self.groups and problem.penalty.groups is None:
            return "a penalty on groups"
        if self.hinge_loss and problem.loss.oracle is not Oracle.COST_ARGMAX:
            return f"the hinge loss, not the {problem.loss.name} loss"
        if self.sizes_matter and problem.loss.trivial_at_zero:
            return f"a loss that asks for margins, and the {problem.loss.name} loss is smallest at w = 0"
        if self.marginals and any(Oracle.MARGINALS not in b.structure.oracles for b in problem.batches):
            return "a structure with marginals"
        if self.online and any(not hasattr(batch.design, "new_learner") for batch in problem.batches):
            return "a structure with an online learner"
        if self.cumulative_l1 and any(
            not hasattr(batch.design, "new_summed_learner") for batch in problem.batches
        ):
            return "sequences to label"
        if self.online and not np.isscalar(getattr(problem.loss, "cost", 0.0)):
            return "a cost that is one number for every wrong label, and this one depends on the labels"
        if self.blocks and any(not hasattr(batch.design, "new_descent") for batch in problem.batches):
            return "a structure with block coordinate descent"
        if (self.online or self.blocks) and any(
            getattr(batch.design, "forbidden", None) is not None for batch in problem.batches
        ):
            return "chains in which any label may follow any other, so an order of 1"
        if self.log_loss and problem.loss.name != "log":
            return f"the log loss, not the {problem.loss.name} loss"
        if self.all_labels and any(some_missing(batch.gold) for batch in problem.batches):
            return "the label of every token, and some are missing"
        if self.coordinates and not (
            len(problem.batches) == 1 and hasattr(problem.batches[0].design, "margins")
        ):
            return "vectors to classify, not sequences"
        if self.splitting and not hasattr(problem.penalty, "split"):
            return "a penalty on groups, with the norm 2"
        if self.proximal and not getattr(problem.penalty, "proximal", True):
            return (
                "a penalty with a proximal operator, and groups that have a feature several times have none"
            )
        if self.strictly_convex_squares and not _is_squares(problem.penalty):
            return "an L2 penalty on all weights, biases included, and nothing else"
        if self.pure_l1 and not _is_l1(problem.penalty):
            return "an L1 penalty on all weights, biases included, and nothing else"
        if self.majorizer and not hasattr(problem.penalty, "majorizer"):
            return "a penalty that lies below parabolas, such as L1, SquaredL1 or KLNorm"
        if self.majorizer and np.any(getattr(problem.penalty, "weight", None) == 0):
            return "a penalty on all weights, biases included"
        if self.differences and any(not hasattr(batch.design, "differences") for batch in problem.batches):
            return "a structure whose outputs can be told apart feature by feature"
        if self.uniform_penalty and getattr(problem.penalty, "weight", None) is not None:
            return "a penalty that is the same for all weights, biases included"
        return None


def _is_squares(penalty: Penalty) -> bool:
    """Whether Ω(w) = Σ_k b_k/2 w_k² with every b_k above zero."""
    return isinstance(penalty, ElasticNet) and penalty.l1 == 0 and bool(np.all(penalty.l2_strength > 0))


def _is_l1(penalty: Penalty) -> bool:
    """Whether Ω(w) = Σ_k l1_k |w_k| with every l1_k above zero."""
    return isinstance(penalty, ElasticNet) and penalty.l2 == 0 and bool(np.all(penalty.l1_strength > 0))


@dataclass(frozen=True)
class Known:
    """What somebody has already computed at the point where a solver starts."""

    loss: float
    gradient: Array = field(repr=False)
    curvature: Array | None = field(default=None, repr=False)


def residual(penalty: Penalty, w: Array, gradient: Array) -> float:
    """The largest violation of the optimality conditions: of a weight, or of a group (then its 2-norm)."""
    if penalty.groups is None:
        return float(np.max(penalty.violation(w, gradient), initial=0.0))
    worst = float(np.max(penalty.group_violation(w, gradient), initial=0.0))
    if penalty.groups.covers:
        return worst
    return max(worst, float(np.max(penalty.violation(w, gradient), initial=0.0)))


def scale_at_zero(problem: Problem) -> float:
    """The largest violation of the optimality conditions at w = 0, by which tolerances are measured."""
    zero = np.zeros(problem.n_features)
    _, gradient = problem.loss_and_gradient(zero)
    return residual(problem.penalty, zero, gradient)


class Solver(Protocol):
    """An algorithm. It never sees text or labels, keeps no state between calls and has no loop limits of its own."""

    name: ClassVar[str]

    @property
    def requires(self) -> Requires:
        """What it needs."""
        ...

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Better and better iterates; ends after one whose `status` is set."""
        ...


def check_compatible(
    solver: Solver, problem: Problem, alternatives: dict[str, Solver], name: str | None = None
) -> None:
    """Refuses, in one sentence, a combination that cannot work."""
    missing = solver.requires.missing(problem)
    oracle = problem.loss.oracle
    for batch in problem.batches[:1]:
        if oracle not in batch.structure.oracles:
            raise ParsimonError(
                f"the {problem.loss.name} loss needs {oracle.value}, which this structure does not have."
            )
        if not problem.loss.partial_labels and any(some_missing(b.gold) for b in problem.batches):
            raise ParsimonError(
                f"the {problem.loss.name} loss needs every label, but some are missing; "
                "use the log loss for partially labelled sequences."
            )
    if missing is not None:
        able = [name for name, other in alternatives.items() if other.requires.missing(problem) is None]
        advice = f"use {' or '.join(able)}" if able else "no solver of this library will do for it"
        raise ParsimonError(f"the solver {name or solver.name} needs {missing}; {advice}.")
