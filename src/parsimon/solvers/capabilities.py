"""What solvers need of a problem, each with the sentence that refuses a problem without it.

A solver declares `requires`, a tuple of capabilities, and in `iterate` gets what it needs from them with its type:

    penalty = SEPARABLE.of(problem)  # mypy knows that there is an `l1_strength`

Which capabilities a penalty, a loss, a structure or a design has follows from the protocols next to `Penalty`, `Loss`,
`Structure` and `Design`, and what a problem as a whole can do from those next to `Problem`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.losses.base import CostLoss, Loss, SmoothLoss
from parsimon.penalties.base import (
    BlockwisePenalty,
    CurvedPenalty,
    ElasticPenalty,
    GroupNormPenalty,
    MajorizedPenalty,
    Penalty,
    SeparablePenalty,
    SeparatedPenalty,
    SplitPenalty,
)
from parsimon.penalties.elastic_net import ElasticNet
from parsimon.penalties.groups import Groups
from parsimon.problem.base import (
    BlockInstances,
    Coordinates,
    HasBlocks,
    HasChunks,
    HasCoordinates,
    HasCovariances,
    HasCumulativeL1,
    HasExpectedCosts,
    HasMargins,
    HasOnline,
    MarginInstances,
    OnlineInstances,
    Problem,
    SummedInstances,
)
from parsimon.structures.base import Oracle

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Capability(Generic[T]):
    """Something that a problem may be able to do.

    `find` returns it, or None. `sentence` ends "the solver … needs"; ``{loss}`` in it is the name of the loss.

    >>> from parsimon.penalties import L1
    >>> from parsimon.losses import Hinge
    >>> from parsimon.problem import InMemoryProblem
    >>> from parsimon.solvers.capabilities import SEPARABLE, SMOOTH_LOSS
    >>> problem = InMemoryProblem((), Hinge(), L1(2.0), 0)
    >>> SMOOTH_LOSS.missing(problem)
    'a smooth loss, and hinge is not'
    >>> SEPARABLE.of(problem).l1_strength
    2.0
    """

    sentence: str
    find: Callable[[Problem], T | None]

    def missing(self, problem: Problem) -> str | None:
        """What the problem lacks, in words, or None."""
        return None if self.find(problem) is not None else self.sentence.format(loss=problem.loss.name)

    def of(self, problem: Problem) -> T:
        """What there is, with its type; refused if it is missing."""
        found = self.find(problem)
        if found is None:
            raise ParsimonError(f"this needs {self.sentence.format(loss=problem.loss.name)}.")
        return found


Requires: TypeAlias = tuple[Capability[Any], ...]


def first_missing(requires: Iterable[Capability[Any]], problem: Problem) -> str | None:
    """The first thing that the problem lacks, in words, or None."""
    return next((lack for each in requires if (lack := each.missing(problem)) is not None), None)


# --- Losses -------------------------------------------------------------------------------------------------


def _smooth_loss(problem: Problem) -> SmoothLoss | None:
    loss = problem.loss
    return loss if loss.smooth and isinstance(loss, SmoothLoss) else None


def _hinge_loss(problem: Problem) -> CostLoss | None:
    loss = problem.loss
    return loss if loss.oracle is Oracle.COST_ARGMAX and isinstance(loss, CostLoss) else None


def _margin_loss(problem: Problem) -> Loss | None:
    return None if problem.loss.trivial_at_zero else problem.loss


def _log_loss(problem: Problem) -> Loss | None:
    return problem.loss if problem.loss.name == "log" else None


def _scalar_cost(problem: Problem) -> float | None:
    if not isinstance(problem.loss, CostLoss):
        return 0.0
    cost = problem.loss.bound_cost()
    return None if isinstance(cost, np.ndarray) else float(cost)


SMOOTH_LOSS = Capability("a smooth loss, and {loss} is not", _smooth_loss)
HINGE_LOSS = Capability("the hinge loss, not the {loss} loss", _hinge_loss)
MARGIN_LOSS = Capability(
    "a loss that asks for margins, and the {loss} loss is smallest at w = 0", _margin_loss
)
LOG_LOSS = Capability("the log loss, not the {loss} loss", _log_loss)
SCALAR_COST = Capability(
    "a cost that is one number for every wrong label, and this one depends on the labels", _scalar_cost
)


# --- Penalties ----------------------------------------------------------------------------------------------


def _smooth_penalty(problem: Problem) -> Penalty | None:
    return problem.penalty if problem.penalty.smooth else None


def _separable(problem: Problem) -> SeparablePenalty | None:
    penalty = problem.penalty
    return penalty if penalty.separable and isinstance(penalty, SeparablePenalty) else None


def _curved(problem: Problem) -> CurvedPenalty | None:
    penalty = problem.penalty
    return penalty if penalty.separable and isinstance(penalty, CurvedPenalty) else None


def _elastic(problem: Problem) -> ElasticPenalty | None:
    return problem.penalty if isinstance(problem.penalty, ElasticPenalty) else None


def _elastic_net(problem: Problem) -> ElasticNet | None:
    return problem.penalty if isinstance(problem.penalty, ElasticNet) else None


def _norms_if_groups(problem: Problem) -> Penalty | None:
    penalty = problem.penalty
    return penalty if penalty.groups is None or isinstance(penalty, GroupNormPenalty) else None


def _single_or_blocks(problem: Problem) -> Penalty | None:
    penalty = problem.penalty
    blocks = isinstance(penalty, BlockwisePenalty) and penalty.blocks
    return penalty if penalty.separable or blocks else None


def _blockwise(problem: Problem) -> BlockwisePenalty | None:
    penalty = problem.penalty
    return penalty if isinstance(penalty, BlockwisePenalty) and penalty.blocks else None


def _single_or_groups(problem: Problem) -> Penalty | None:
    penalty = problem.penalty
    return penalty if penalty.separable or penalty.groups is not None else None


def _elastic_or_groups(problem: Problem) -> Penalty | None:
    penalty = problem.penalty
    return None if penalty.separable and not isinstance(penalty, SeparatedPenalty) else penalty


def _separated(problem: Problem) -> SeparatedPenalty | None:
    return problem.penalty if isinstance(problem.penalty, SeparatedPenalty) else None


def _groups(problem: Problem) -> Groups | None:
    return problem.penalty.groups


def _group_norms(problem: Problem) -> GroupNormPenalty | None:
    penalty = problem.penalty
    return penalty if penalty.groups is not None and isinstance(penalty, GroupNormPenalty) else None


def _split(problem: Problem) -> SplitPenalty | None:
    return problem.penalty if isinstance(problem.penalty, SplitPenalty) else None


def _prox(problem: Problem) -> Penalty | None:
    return problem.penalty if problem.penalty.proximal else None


def _squares(problem: Problem) -> ElasticNet | None:
    penalty = problem.penalty
    found = isinstance(penalty, ElasticNet) and penalty.l1 == 0 and bool(np.all(penalty.l2_strength > 0))
    return penalty if found and isinstance(penalty, ElasticNet) else None


def _pure_l1(problem: Problem) -> ElasticNet | None:
    penalty = problem.penalty
    found = isinstance(penalty, ElasticNet) and penalty.l2 == 0 and bool(np.all(penalty.l1_strength > 0))
    return penalty if found and isinstance(penalty, ElasticNet) else None


def _majorizer(problem: Problem) -> MajorizedPenalty | None:
    return problem.penalty if isinstance(problem.penalty, MajorizedPenalty) else None


def _everywhere(problem: Problem) -> Penalty | None:
    weight = problem.penalty.weight
    return None if weight is not None and np.any(weight == 0) else problem.penalty


def _uniform(problem: Problem) -> Penalty | None:
    return problem.penalty if problem.penalty.weight is None else None


SMOOTH_PENALTY = Capability("a smooth penalty, and an L1 part is not", _smooth_penalty)
SEPARABLE = Capability("a penalty that treats every weight by itself", _separable)
ELASTIC_NET = Capability("an L1 or L2 penalty or both", _elastic_net)
NORMS_IF_GROUPS = Capability("a penalty on single weights or on the norms of groups", _norms_if_groups)
ELASTIC = Capability("an L1 or L2 penalty or both", _elastic)
CURVED = Capability("an L1 or L2 penalty or both", _curved)
SINGLE_OR_BLOCKS = Capability(
    "a penalty on single weights, or on disjoint groups with the norm 2", _single_or_blocks
)
DISJOINT_GROUPS = Capability("a penalty on disjoint groups with the norm 2", _blockwise)
SINGLE_OR_GROUPS = Capability("a penalty on single weights or on groups of them", _single_or_groups)
ELASTIC_OR_GROUPS = Capability("an L1 or L2 penalty or both, or a penalty on groups", _elastic_or_groups)
SEPARATED = Capability("a penalty made of an L1 part, an L2 part and groups", _separated)
GROUPS = Capability("a penalty on groups", _groups)
GROUP_NORMS = Capability("a penalty on the norms of groups", _group_norms)
SPLIT = Capability("a penalty on groups, with the norm 2", _split)
PROX = Capability(
    "a penalty with a proximal operator, and groups that have a feature several times have none", _prox
)
SQUARES = Capability("an L2 penalty on all weights, biases included, and nothing else", _squares)
PURE_L1 = Capability("an L1 penalty on all weights, biases included, and nothing else", _pure_l1)
MAJORIZER = Capability("a penalty that lies below parabolas, such as L1, SquaredL1 or KLNorm", _majorizer)
PENALISES_ALL = Capability("a penalty on all weights, biases included", _everywhere)
UNIFORM = Capability("a penalty that is the same for all weights, biases included", _uniform)


# --- Structures, designs and problems -----------------------------------------------------------------------


def _marginals(problem: Problem) -> Problem | None:
    return problem if Oracle.MARGINALS in problem.oracles else None


def _labels(problem: Problem) -> Problem | None:
    return problem if problem.labels_known else None


def _chunks(problem: Problem) -> HasChunks | None:
    return problem if isinstance(problem, HasChunks) else None


def _margins(problem: Problem) -> MarginInstances | None:
    return problem.margins() if isinstance(problem, HasMargins) else None


def _coordinates(problem: Problem) -> Coordinates | None:
    return problem.coordinates() if isinstance(problem, HasCoordinates) else None


def _online(problem: Problem) -> OnlineInstances | None:
    return problem.online() if isinstance(problem, HasOnline) else None


def _cumulative(problem: Problem) -> SummedInstances | None:
    return problem.cumulative_online() if isinstance(problem, HasCumulativeL1) else None


def _covariances(problem: Problem) -> HasCovariances | None:
    return problem if isinstance(problem, HasCovariances) and problem.has_covariances else None


def _expected_costs(problem: Problem) -> HasExpectedCosts | None:
    return problem if isinstance(problem, HasExpectedCosts) else None


def _blocks(problem: Problem) -> BlockInstances | None:
    return problem.blocks() if isinstance(problem, HasBlocks) else None


def _free_transitions(problem: Problem) -> Problem | None:
    online, blocks = _online(problem), _blocks(problem)
    restricted = (online is not None and online.restricts_transitions) or (
        blocks is not None and blocks.restricts_transitions
    )
    return None if restricted else problem


MARGINALS = Capability("a structure with marginals", _marginals)
EXPECTED_COSTS = Capability("a problem that knows the expected costs of its outputs", _expected_costs)
ALL_LABELS = Capability("the label of every token, and some are missing", _labels)
COVARIANCES = Capability(
    "a log loss of outputs that can be drawn from the model and compared feature by feature", _covariances
)
CHUNKS = Capability("a problem that can be cut into small ones", _chunks)
MARGINS = Capability("a structure whose outputs can be compared feature by feature", _margins)
COORDINATES = Capability("vectors to classify, not sequences", _coordinates)
ONLINE = Capability("a structure with an online learner", _online)
CUMULATIVE_L1 = Capability("sequences to label", _cumulative)
BLOCKS = Capability("a structure with block coordinate descent", _blocks)
FREE_TRANSITIONS = Capability(
    "chains in which any label may follow any other, so an order of 1", _free_transitions
)
