"""Online learning: one instance at a time, and now and then a proximal step (Martins et al. 2011, Algorithm 1).

    for t = 1 … T:
        take an instance;  w ← w − η_t ∇loss_t(w)
        every K rounds, for each family j of disjoint groups:  w ← prox of η_t σ_jt Ω_j (w)

With the perceptron loss and no penalty this is the structured perceptron; with the hinge loss and a
passive-aggressive step max-loss 1-best MIRA; with the log loss stochastic gradient descent on a CRF.

The proximal steps have the strength of the problem's penalty ("gravity"), or that which leaves a budget of groups.
Rounds are compiled (core/learners/online.hpp); weights exist only once an update has touched them and until their
group is dropped. Their number is reported after every stretch of rounds and every proximal step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.base import OnlineLearner, SummedLearner
from parsimon.errors import ParsimonError
from parsimon.penalties.base import ElasticPenalty, GroupNormPenalty, Penalty
from parsimon.penalties.groupings import ByTemplate, FeatureDescriptions, Grouping
from parsimon.penalties.groups import Groups
from parsimon.problem import OnlineInstances, Problem
from parsimon.solvers.base import Iterate, Status
from parsimon.solvers.capabilities import (
    ELASTIC,
    FREE_TRANSITIONS,
    HINGE_LOSS,
    ONLINE,
    PROX,
    SCALAR_COST,
    Requires,
)
from parsimon.solvers.learner_state import RUNNING, Layout
from parsimon.solvers.online_groups import AttributeRows, Blocks, Device, SingleWeights, WholeBlocks
from parsimon.structures.base import Oracle
from parsimon.weights import DamagedState, State, Weights

ORACLE_NUMBERS = {
    Oracle.ARGMAX: 0,
    Oracle.COST_ARGMAX: 1,
    Oracle.MARGINALS: 2,
}  # as compiled learners know them
Learner: TypeAlias = OnlineLearner | SummedLearner


class Step(Protocol):
    """How far an update goes."""

    passive_aggressive: ClassVar[bool]

    def size(self, epoch: int) -> float:
        """The step of an epoch (from 0), or the most that a passive-aggressive one may be."""
        ...


@dataclass(frozen=True)
class Decreasing:
    """η_t = η0 / √⌈t/N⌉: the same within an epoch."""

    start: float = 1.0
    passive_aggressive: ClassVar[bool] = False

    def size(self, epoch: int) -> float:
        """η0 / √(epoch + 1)."""
        return self.start / float(np.sqrt(epoch + 1))

    def sizes(self, epoch: int, n: int) -> Array:
        """The same for each of the n rounds of an epoch."""
        return np.full(n, self.size(epoch))


@dataclass(frozen=True)
class PassiveAggressive:
    """As far as the loss of an instance requires, at most C: min(C, loss / ‖f(gold) − f(ŷ)‖²) (Crammer et al. 2006)."""

    most: float = 0.1
    passive_aggressive: ClassVar[bool] = True

    def size(self, epoch: int) -> float:
        """C."""
        return self.most


@dataclass(frozen=True)
class Budget:
    """How many groups may stay (Martins et al. 2011, §4, "budget-driven shrinkage").

    At a proximal step with more than `size` non-zero groups, these are put in the order of ‖w_m‖/d_m; the threshold
    is halfway between the last that may stay and the first that may not. `shrink=False` drops the latter and leaves
    the others as they are.

    Over the first `fall` epochs the budget falls from all M groups to `size`: groups are dropped one after the other,
    each after a longer trial, rather than nearly all at the first step. After a share s of that time it is
    size · (M / size)^((1 − s)^haste). With a haste of 1 it falls by the same factor at every step; with more, most
    groups go early, so that fewer weights exist at a time, and the last ones have the longest trial.
    """

    size: int
    groups: Grouping | Groups = field(default_factory=ByTemplate)
    shrink: bool = True
    fall: float = 0.0
    haste: float = 1.0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ParsimonError(f"a budget must be at least 1, not {self.size}.")
        if not 0 <= self.fall < float("inf"):
            raise ParsimonError(
                f"a budget falls over some epochs or a part of one, from 0 on, but not over {self.fall}."
            )
        if not 0 < self.haste < float("inf"):
            raise ParsimonError(f"the haste of a budget must be above zero, not {self.haste}.")

    def allowed(self, n_groups: int, epochs: float) -> int:
        """The budget after so many epochs."""
        if epochs >= self.fall or n_groups <= self.size:
            return self.size
        left = (1 - epochs / self.fall) ** self.haste
        return int(self.size * (n_groups / self.size) ** left + 0.5)

    def threshold(self, norms: Array, weight: Array | float, epochs: float = np.inf) -> float:
        """τ such that at most as many groups as are allowed have ‖w_m‖ > τ d_m; 0 when that is so already."""
        free = np.broadcast_to(np.asarray(weight) == 0, norms.shape)
        order = norms[~free] / np.broadcast_to(weight, norms.shape)[~free]
        size = self.allowed(len(order), epochs)
        if np.count_nonzero(order) <= size:
            return 0.0
        place = len(order) - size
        around = np.partition(order, [place - 1, place])
        return float(around[place - 1] + around[place]) / 2

    def family_thresholds(
        self, norms: Array, weight: Array, families: list[IntArray], epochs: float = np.inf
    ) -> Array:
        """One threshold a family: of the largest groups that are allowed, as many may stay in each as belong to it."""
        penalised = weight > 0
        order = np.where(penalised, norms / np.where(penalised, weight, 1.0), -1.0)
        size = self.allowed(int(penalised.sum()), epochs)
        best = np.argsort(-order, kind="stable")[:size]
        out = np.zeros(len(norms))
        for family in families:
            own = family[penalised[family]]
            stay = int(np.isin(own, best).sum())
            ranked = np.sort(order[own])[::-1]
            if np.count_nonzero(ranked > 0) > stay:
                upper = ranked[stay - 1] if stay else ranked[0]
                out[family] = (upper + ranked[stay]) / 2
        return out


@dataclass(frozen=True)
class Online:
    """Epochs of online learning with any loss; the penalty acts through proximal steps every `every` rounds.

    The weights of an iterate are averages over rounds if `average` is set, which proximal steps do not see. The first
    `burn_in` of all epochs do not count: weights that are still far from where they are going spoil an average
    (Shamir & Zhang 2013, "α-suffix averaging").
    """

    epochs: int = 10
    step: Step = field(default_factory=Decreasing)
    average: bool = True
    burn_in: float = 1 / 3
    budget: Budget | None = None
    every: int = 1000
    shuffle: bool = True
    seed: int = 0
    name: ClassVar[str] = "online"
    validate_every: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name, number in (("epochs", self.epochs), ("every", self.every)):
            if number < 1:
                raise ParsimonError(f"{name} must be at least 1, not {number}.")
        if not 0 <= self.burn_in < 1:
            raise ParsimonError(f"burn_in must be at least 0 and less than 1, not {self.burn_in}.")

    @property
    def requires(self) -> Requires:
        """An online learner; for a passive-aggressive step the hinge loss: the perceptron's never leaves w = 0."""
        hinge = (HINGE_LOSS,) if self.step.passive_aggressive else ()
        return (*hinge, ONLINE, SCALAR_COST, FREE_TRANSITIONS, PROX)

    def bind(self, features: FeatureDescriptions) -> Online:
        """The same with the groups of its budget found among the features."""
        if self.budget is None or isinstance(self.budget.groups, Groups):
            return self
        return replace(self, budget=replace(self.budget, groups=self.budget.groups.groups(features)))

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every epoch. The objective is the sum of losses as they were met, plus Ω."""
        steps = ProximalSteps.of(problem, self.budget)
        learner = steps.learner()
        begin(learner, start, RUNNING)
        oracle, cost = ORACLE_NUMBERS[problem.loss.oracle], SCALAR_COST.of(problem)
        n = learner.n_sequences
        for epoch, order in epochs_left(learner, self.epochs, self.seed, self.shuffle):
            if epoch == int(self.burn_in * self.epochs + AFTER_ROUNDING):
                learner.forget_average()
            size, last = self.step.size(epoch), epoch == self.epochs - 1
            loss, counts = 0.0, []
            for part in np.split(order, _cuts(epoch * n, n, self.every)):
                with summable():
                    of_part, _ = learner.run(part, oracle, cost, self.step.passive_aggressive, size)
                loss += of_part
                counts.append(learner.n_weights)
                due = learner.rounds % self.every == 0 or (last and learner.rounds == self.epochs * n)
                if steps.shrinks and due:
                    steps.shrink(learner, size, self.every / n, learner.rounds / n)
                    counts.append(learner.n_weights)
            features, values = learner.weights(self.average)
            yield Iterate(
                Weights(values, features, problem.n_features, lambda: state_of(learner, RUNNING.names)),
                finite(loss) + problem.penalty.restrict(features).value(values),
                epoch + 1,
                phase=self.name,
                instantiated=tuple(counts),
                status=Status.DONE if last else None,
            )


AFTER_ROUNDING = 1e-9  # so that a third of 30 epochs is 10, not 9


def state_of(learner: Learner, names: Sequence[str]) -> State:
    """All that the epochs to come depend on."""
    return dict(zip(names, learner.state(), strict=True))


def begin(learner: Learner, start: Weights, layout: Layout) -> None:
    """Sets a new learner's first weights, or all of its state at the end of an epoch."""
    if start.state is not None:
        arrays = layout.checked(start.state(), start.n_features)
        try:
            learner.restore(*arrays)
        except ValueError as error:
            raise DamagedState(f"the state of the learner is of something else: {error}.") from None
        if learner.rounds % max(learner.n_sequences, 1):
            raise DamagedState("the state of the learner is not that at the end of an epoch.")
        return
    given = start.nonzero()
    if given.features is not None and len(given.values):
        learner.start(given.features, given.values)


@contextmanager
def summable() -> Iterator[None]:
    """Within it, weights that outgrow what numbers can hold are an error in one sentence."""
    try:
        yield
    except RuntimeError as error:
        raise ParsimonError(f"{error}.") from None


def finite(loss: float) -> float:
    """A loss; refused if numbers cannot hold it."""
    if not np.isfinite(loss):
        raise ParsimonError("the weights have grown beyond what can be added up; use a smaller step.")
    return loss


def epochs_done(learner: Learner, epochs: int) -> int:
    """How many epochs a learner has run; refused if none is left."""
    done = int(learner.rounds // max(learner.n_sequences, 1))
    if done >= epochs:
        raise ParsimonError(f"all {epochs} epochs were run before; there is nothing to go on with.")
    return done


def epochs_left(learner: Learner, epochs: int, seed: int, shuffle: bool) -> Iterator[tuple[int, IntArray]]:
    """The epochs that a learner does not have behind it, each with the order of its instances.

    Those of the other epochs are drawn as well, so that the orders are the same as without a break.
    """
    n, random = learner.n_sequences, np.random.default_rng(seed)
    done = epochs_done(learner, epochs)
    for epoch in range(epochs):
        order = random.permutation(n) if shuffle else np.arange(n)
        if epoch >= done:
            yield epoch, order


def _cuts(done: int, n: int, every: int) -> IntArray:
    """Where an epoch is cut so that rounds counted from the beginning reach multiples of `every`."""
    first = (-done) % every
    return np.arange(first or every, n, every)


@dataclass(frozen=True)
class ProximalSteps:
    """What happens at a proximal step: operations that the learner has, or else the penalty's own prox."""

    instances: OnlineInstances
    blocks: Blocks
    l2: Array  # of each block
    gravity: tuple[tuple[Device, float], ...] = ()  # soft thresholds of the penalty, with their strengths
    budget: Budget | None = None
    kept: Device | None = None  # where the budget counts
    prox: Penalty | None = None  # a penalty without a compiled form

    @classmethod
    def of(cls, problem: Problem, budget: Budget | None) -> ProximalSteps:
        """The compiled form of the penalty and the budget, if there is one."""
        instances, penalty = ONLINE.of(problem), problem.penalty
        starts = instances.attribute_starts()
        groups = _groups_of(penalty, budget)
        small = groups is not None and groups.n_groups >= MANY
        blocks = None
        if budget is not None or _compiled(penalty):
            blocks = Blocks.of(starts, None if small else groups, penalty.weight)
        if blocks is None or (small and not _are_rows(groups, starts) and not _are_single(groups)):
            if budget is not None:
                raise ParsimonError(
                    "a budget needs groups of whole attributes, and more than 4,095 of them must all weigh the same."
                )
            whole = Blocks.of(starts, None, None)
            assert whole is not None
            return cls(instances, whole, np.zeros(whole.n_blocks), prox=penalty)
        terms, weight = ELASTIC.of(problem), penalty.weight
        marked = np.ones(blocks.n_blocks, bool) if weight is None else weight[blocks.first] > 0  # not exempt
        device = None if groups is None else _device(groups, blocks, starts, marked)
        gravity: list[tuple[Device, float]] = []
        if budget is None and device is not None:
            gravity.append((device, penalty.strength))
        if terms.l1 > 0:
            gravity.append((SingleWeights(marked), terms.l1))
        kept = device if budget else None
        return cls(instances, blocks, np.asarray(terms.l2 * marked, np.float64), tuple(gravity), budget, kept)

    @property
    def shrinks(self) -> bool:
        """Whether there is anything to do at a proximal step."""
        return self.budget is not None or bool(self.gravity) or bool(self.l2.any()) or self.prox is not None

    def learner(self) -> OnlineLearner:
        """A learner with these blocks that knows all instances."""
        if not self.blocks.n_blocks:
            raise ParsimonError("there are no features to learn; use a smaller cutoff, or more templates.")
        return self.instances.learner(self.blocks.node, self.blocks.pair, self.blocks.n_blocks)

    def shrink(self, learner: OnlineLearner, step: float, share: float, epochs: float) -> None:
        """A proximal step: the penalty's share of these rounds, then the budget."""
        if self.prox is not None:
            features, values = learner.weights()
            learner.replace(self.prox.restrict(features).prox(values, step * share))
        for device, strength in self.gravity:
            device.soften(learner, step * share * strength)
        if self.l2.any():
            learner.scale(1 / (1 + step * share * self.l2))
        if self.budget is not None and self.kept is not None:
            self._keep_to_budget(learner, epochs)
        learner.settle()

    def _keep_to_budget(self, learner: OnlineLearner, epochs: float) -> None:
        assert self.budget is not None
        assert self.kept is not None
        norms = self.kept.norms(learner)
        if isinstance(self.kept, WholeBlocks) and len(self.kept.families) > 1:
            each = self.budget.family_thresholds(norms, self.kept.weight, self.kept.families, epochs)
            self.kept.soften(learner, each, self.budget.shrink)
            return
        threshold = self.budget.threshold(norms, self.kept.weight, epochs)
        if threshold > 0:
            self.kept.soften(learner, threshold, self.budget.shrink)


MANY = (
    4096  # from so many groups on they are not blocks of their own: a step would cost as much as all of them
)


def _groups_of(penalty: Penalty, budget: Budget | None) -> Groups | None:
    """The groups that are shrunk: those of the budget, or of the penalty."""
    if budget is None:
        return penalty.groups
    assert isinstance(budget.groups, Groups)
    if penalty.groups is not None and penalty.groups is not budget.groups:
        raise ParsimonError(
            "a budget and a group penalty cannot be combined; give one of them, or an L1 or L2 penalty."
        )
    return budget.groups


def _compiled(penalty: Penalty) -> bool:
    """Whether learners have what the penalty is made of: an L1 and an L2 part, and groups with the norm 2."""
    if isinstance(penalty, GroupNormPenalty) and penalty.norm != 2:
        return False
    return isinstance(penalty, ElasticPenalty)


def _device(groups: Groups, blocks: Blocks, starts: tuple[IntArray, IntArray], marked: BoolArray) -> Device:
    """How the learner gets at the groups."""
    if groups.n_groups >= MANY:
        kind = AttributeRows if _are_rows(groups, starts) else SingleWeights
        return kind(marked, float(groups.weight[0]))
    inside = [each[marked[each]] for each in blocks.of_groups(groups)]
    return WholeBlocks(groups, inside, groups.families())


def _are_rows(groups: Groups | None, starts: tuple[IntArray, IntArray]) -> bool:
    """Whether the groups are the attributes, all with one weight."""
    if groups is None or not groups.in_order or np.ptp(groups.weight) > 0:
        return False
    both = np.concatenate([starts[0], starts[1][1:]])
    return len(both) == len(groups.ptr) and bool(np.array_equal(both, groups.ptr))


def _are_single(groups: Groups | None) -> bool:
    """Whether every feature is a group, all with one weight."""
    return (
        groups is not None
        and groups.in_order
        and bool(np.all(groups.sizes == 1))
        and np.ptp(groups.weight) == 0
    )


def mira() -> Online:
    """MIRA: online learning with passive-aggressive steps."""
    return Online(step=PassiveAggressive())
