"""The learning problem whose instances are in memory, in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np

from parsimon._core import BlockDescent, LinearMap, add_outer_products
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.base import (
    ComparesOutputs,
    CompiledPass,
    DescendsByBlocks,
    Design,
    OnlineLearner,
    ScoresByMargins,
    ScreensFeatures,
    SummedLearner,
    TeachesLearners,
    TeachesSummedLearners,
    WorksTogether,
)
from parsimon.errors import ParsimonError
from parsimon.losses.base import CostLoss, Loss, SmoothLoss, some_missing
from parsimon.losses.log import Log
from parsimon.magnitudes import LARGEST_SCORE
from parsimon.penalties.base import Penalty
from parsimon.problem.base import (
    BaseProblem,
    BlockInstances,
    Coordinates,
    Evaluation,
    LinearPoint,
    Marginals,
    MarginInstances,
    OnlineInstances,
    Problem,
    Screened,
    SummedInstances,
    Violated,
)
from parsimon.structures.base import (
    CountsInstances,
    DrawsOutputs,
    Gold,
    Oracle,
    Parts,
    RecordsOrigins,
    Structure,
    WorksAlone,
)
from parsimon.weights import Weights

Result = TypeVar("Result")
AT_ONCE = 1 << 26  # numbers in the gradients of batches that are worked on at the same time: 512 MB
# So many instances are needed to hold some out, and they are cut into so many pieces.
FEWEST_TO_SPLIT, PIECES = 20, 200
PIECE = 1 << 20  # features compared with their thresholds at a time: no second array as long as the gradient


@dataclass(frozen=True)
class Batch:
    """Some instances: Φ, their structure and their known outputs (labels, −1 where one is missing, or a `Table`)."""

    design: Design
    structure: Structure
    gold: Gold

    def scores(self, w: Array | Weights) -> Parts:
        """Φw."""
        if not isinstance(w, Weights):
            return self.design.scores(w)
        if w.features is None:
            return self.design.scores(w.values)
        return self.design.scores_of(w.values, w.features)

    def restrict(self, features: IntArray) -> Batch:
        """The same instances, scored by some features (ascending) only."""
        return self.scored_by(self.design.restrict(features))

    def scored_by(self, design: Design) -> Batch:
        """The same instances with another design of them."""
        return replace(self, design=design, structure=design.adapt(self.structure))

    def part(self, first: int, last: int) -> Batch:
        """The instances from `first` to before `last`."""
        structure, where = self.structure.part(first, last)
        design = self.design.part(where)
        return Batch(design, design.adapt(structure), self.gold[where])

    @property
    def can_screen(self) -> bool:
        """Whether large gradients can be found without the gradient of all features."""
        return isinstance(self.design, ScreensFeatures) and isinstance(self.structure, RecordsOrigins)

    def with_own_memory(self) -> Batch:
        """The same, with parts that stay valid when those of other batches are made; for screening."""
        assert isinstance(self.design, ScreensFeatures)
        assert isinstance(self.structure, RecordsOrigins)
        design, structure = self.design.with_own_memory(), self.structure.with_own_memory()
        return replace(self, design=cast(Design, design), structure=cast(Structure, structure))

    def most_violated(self, w: Array, cost: float | Array, first: int) -> Violated:
        """The cost-augmented argmax of every instance; `first` is the number of the first one."""
        assert isinstance(self.design, ComparesOutputs)
        structure, scores = self.structure, self.design.scores(w)
        best, output = structure.cost_argmax(scores, self.gold, cost)
        price = structure.cost(self.gold, output, cost)
        height = best - structure.score(scores, self.gold)
        differences = self.design.differences(structure, self.gold, output)
        instances = np.arange(first, first + structure.n_instances)
        return Violated(instances, height, price, differences, structure.weigh(height))

    @property
    def can_draw(self) -> bool:
        """Whether outputs can be drawn from the model and compared feature by feature."""
        draws = isinstance(self.structure, DrawsOutputs) and self.structure.draws_independently
        return draws and isinstance(self.design, ComparesOutputs)

    def covariance(self, w: Array, features: IntArray, draws: int, seed: int) -> Array:
        """Σ weight · Cov(features) under the model: half the mean of Δ Δᵀ, where Δ is what two draws differ by.

        Two independent draws differ at few tokens, so the Δ of an instance has few entries; and E Δ Δᵀ is twice the
        covariance, whatever parts of the output depend on each other.
        """
        assert isinstance(self.structure, DrawsOutputs)
        outputs = self.structure.sample(self.design.scores(w), 2 * draws, seed)
        few = self.restrict(features)
        assert isinstance(few.design, ComparesOutputs)
        times = _weights_of(few.structure) / (2 * draws)
        out = np.zeros((len(features), len(features)))
        for one, other in zip(outputs[::2], outputs[1::2], strict=True):
            add_outer_products(few.design.differences(few.structure, one, other), times, out)
        return out

    @property
    def threads(self) -> int:
        """How many threads could each be on a batch of their own; one if batches have to be done one by one."""
        if isinstance(self.design, WorksAlone) and isinstance(self.structure, WorksAlone):
            return self.design.threads
        return 1

    def alone(self, worker: int) -> Batch:
        """The same on one thread, in memory that is this worker's own."""
        assert isinstance(self.design, WorksAlone)
        assert isinstance(self.structure, WorksAlone)
        design, structure = self.design.alone(worker), self.structure.alone(worker)
        return replace(self, design=cast(Design, design), structure=cast(Structure, structure))


@dataclass(frozen=True)
class BatchMarginals:
    """Marginals of labels, batch by batch."""

    of_labels: list[Array]


@dataclass(frozen=True)
class Sums:
    """The gradient of some batches, and their part of the Hessian's diagonal."""

    gradient: Array
    curvature: Array | None

    @classmethod
    def zeros(cls, n_features: int, with_curvature: bool) -> Sums:
        """Of no batch."""
        return cls(np.zeros(n_features), np.zeros(n_features) if with_curvature else None)

    def add(self, other: Sums) -> None:
        """Adds the sums of other batches."""
        np.add(self.gradient, other.gradient, out=self.gradient)
        if self.curvature is not None and other.curvature is not None:
            np.add(self.curvature, other.curvature, out=self.curvature)


@dataclass(frozen=True)
class InMemoryProblem(BaseProblem):
    """A problem over batches in memory. Part scores and marginals exist for one batch at a time."""

    batches: tuple[Batch, ...]
    loss: Loss
    penalty: Penalty
    n_features: int

    # --- what is known of the instances ---

    @property
    def n_instances(self) -> int:
        """How many there are in all batches."""
        return sum(batch.structure.n_instances for batch in self.batches)

    @property
    def oracles(self) -> frozenset[Oracle]:
        """What the structures of all batches can answer; without batches, every question."""
        out = frozenset(Oracle)
        for batch in self.batches:
            out &= batch.structure.oracles
        return out

    @cached_property
    def threads(self) -> int:
        """As many as are on one batch at a time."""
        return min((batch.threads for batch in self.batches), default=1)

    @property
    def exact(self) -> bool:
        """Whether all structures are."""
        return all(batch.structure.exact for batch in self.batches)

    @property
    def labels_known(self) -> bool:
        """Whether no label of any batch is missing."""
        return not any(some_missing(batch.gold) for batch in self.batches)

    # --- evaluation ---

    def evaluate(self, w: Array | Weights, *, curvature: bool = False, marginals: bool = False) -> Evaluation:
        """One pass over the batches."""
        if not isinstance(w, Weights) and self._pass is not None:
            return self._evaluate_compiled(self._pass, w, curvature, marginals)
        smooth = self._smooth_loss() if curvature or marginals else None
        sums = Sums.zeros(self.n_features, curvature)
        apart = self._workers > 1

        def add(batch: Batch) -> tuple[float, Sums, Array | None]:
            mine = Sums.zeros(self.n_features, curvature) if apart else sums
            if smooth is None:
                value, parts = self.loss(batch.structure, batch.scores(w), batch.gold)
                batch.design.pullback(parts, mine.gradient)
                return value, mine, None
            value, parts, of_labels = smooth.with_marginals(batch.structure, batch.scores(w), batch.gold)
            batch.design.pullback(parts, mine.gradient)
            if mine.curvature is not None:
                batch.design.pullback_squared(smooth.variances(batch.structure, of_labels), mine.curvature)
            return value, mine, of_labels

        total, kept = 0.0, []
        for value, of_batch, of_labels in self._of_batches(add):
            total += value
            if apart:
                sums.add(of_batch)
            if marginals and of_labels is not None:
                kept.append(of_labels)
        return Evaluation(total, sums.gradient, sums.curvature, BatchMarginals(kept) if marginals else None)

    def _evaluate_compiled(
        self, compiled: CompiledPass, w: Array, curvature: bool, marginals: bool
    ) -> Evaluation:
        losses, log_z, gradient, diagonal, of_labels, failed = compiled.evaluate(
            w, curvature, marginals, self.threads
        )
        if failed >= 0 or not np.all(log_z <= LARGEST_SCORE):
            for batch in self.batches:  # the one with which something is wrong says what
                self.loss(batch.structure, batch.scores(w), batch.gold)
        kept = None if of_labels is None else BatchMarginals(of_labels)
        return Evaluation(float(np.sum(losses)), gradient, diagonal, kept)

    @cached_property
    def _pass(self) -> CompiledPass | None:
        """All batches in one call of the core, where the loss and the designs have that."""
        kind = self._together
        return None if kind is None else kind.new_pass(self._instances)

    @cached_property
    def _together(self) -> WorksTogether | None:
        """A design that stands for those of all batches, if they are dealt with together under this loss."""
        if not (self.batches and isinstance(self.loss, Log) and self.labels_known):
            return None
        first = self.batches[0].design
        if any(type(batch.design) is not type(first) for batch in self.batches):
            return None
        return cast(WorksTogether, first) if isinstance(first, WorksTogether) else None

    @property
    def _instances(self) -> list[tuple[Design, Structure, Gold]]:
        return [(batch.design, batch.structure, batch.gold) for batch in self.batches]

    def objective(self, w: Array) -> float:
        """Σ loss + Ω, without a gradient."""
        loss = sum(self._of_batches(lambda b: self.loss(b.structure, b.design.scores(w), b.gold)[0]))
        return loss + self.penalty.value(w)

    def diagonal(self, marginals: Marginals) -> Array:
        """(Φ∘Φ)ᵀ p(1 − p)."""
        assert isinstance(marginals, BatchMarginals), "these marginals are of another kind of problem"
        if self._pass is not None:
            return self._pass.diagonal(marginals.of_labels, self.threads)
        smooth, out = self._smooth_loss(), np.zeros(self.n_features)
        apart = self._workers > 1

        def add(batch: Batch, of_labels: Array) -> Array:
            mine = np.zeros(self.n_features) if apart else out
            batch.design.pullback_squared(smooth.variances(batch.structure, of_labels), mine)
            return mine

        for of_batch in self._of_batches(add, marginals.of_labels):
            if apart:
                out += of_batch
        return out

    @cached_property
    def _workers(self) -> int:
        """How many batches are worked on at a time: as many as there are threads, if that is enough for all of them.

        Each needs a gradient of its own, which there may be no room for.
        """
        threads = self.threads
        return threads if len(self.batches) >= threads and threads * self.n_features <= AT_ONCE else 1

    def _of_batches(self, work: Callable[..., Result], *each: Sequence[Any]) -> Iterator[Result]:
        """What work makes of the batches, in their order, so that sums are the same for any number of threads.

        `each` has further arguments of work for each batch.
        """
        workers = self._workers
        if workers == 1:
            yield from map(work, self.batches, *each)
            return
        waiting: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            for number, (batch, *more) in enumerate(zip(self.batches, *each, strict=True)):
                if len(waiting) > workers:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(work, batch.alone(number % (workers + 1)), *more))
            while waiting:
                yield waiting.popleft().result()

    @property
    def has_covariances(self) -> bool:
        """Whether the Hessian is that of a log loss with known labels, whose outputs can be drawn."""
        drawn = all(batch.can_draw for batch in self.batches)
        return drawn and isinstance(self.loss, Log) and self.labels_known

    def covariance(self, w: Array, features: IntArray, draws: int, seed: int) -> Array:
        """Σ weight · Cov(features), estimated from drawn outputs; batches draw with seeds of their own."""
        out, first = np.zeros((len(features), len(features))), seed * len(self.batches)

        def estimate(batch: Batch, number: int) -> Array:
            return batch.covariance(w, features, draws, first + number)

        for of_batch in self._of_batches(estimate, range(len(self.batches))):
            out += of_batch
        return out

    def screen(self, weights: Weights, threshold: float | Array, narrow: Problem | None = None) -> Screened:
        """By compiled screening where the designs have it and there is one threshold; else from all gradients.

        The memory of a compiled screening goes with the data and with what is found, not with the number of features.
        """
        assert weights.features is not None
        if np.ndim(threshold) == 0 and self.batches and all(batch.can_screen for batch in self.batches):
            values, features = weights.values, weights.features
            if self._together is not None:
                steep = self._together.screen_together(self._instances, values, features, float(threshold))
                if steep is not None:
                    return Screened(*steep[:-1], BatchMarginals(steep.marginals))
            return self._screen_compiled(values, features, float(threshold), narrow)
        there = self.evaluate(weights, marginals=True)
        found = []
        for first in range(0, self.n_features, PIECE):
            part = slice(first, min(first + PIECE, self.n_features))
            least = threshold[part] if isinstance(threshold, np.ndarray) and threshold.ndim else threshold
            found.append(np.flatnonzero(np.abs(there.gradient[part]) > least) + first)
        features = np.concatenate([np.zeros(0, np.int64), *found])
        of_active = there.gradient[weights.features]
        return Screened(there.loss, features, there.gradient[features], of_active, there.marginals)

    def _screen_compiled(
        self, values: Array, features: IntArray, threshold: float, narrow: Problem | None
    ) -> Screened:
        smooth, of_active = self._smooth_loss(), np.zeros(len(features))
        known = narrow.batches if isinstance(narrow, InMemoryProblem) else None

        def look(restricted: Batch) -> tuple[float, Array, Structure, Parts, Array]:
            small = restricted.with_own_memory()
            value, parts, of_labels = smooth.with_marginals(
                small.structure, small.design.scores(values), small.gold
            )
            gradient = np.zeros(len(features))
            small.design.pullback(parts, gradient)
            return value, gradient, small.structure, parts, of_labels

        total, kept, evaluated = 0.0, [], []
        new = self._of_batches(lambda batch: look(batch.restrict(features)))
        looks = new if known is None else map(look, known)
        for batch, (value, gradient, structure, parts, of_labels) in zip(self.batches, looks, strict=True):
            of_active += gradient
            kept.append(of_labels)
            evaluated.append((batch.design, structure, parts))
            total += value
        design = self.batches[0].design
        assert isinstance(design, ScreensFeatures)
        found, gradient = design.screen(evaluated, threshold)
        return Screened(total, found, gradient, of_active, BatchMarginals(kept))

    def _smooth_loss(self) -> SmoothLoss:
        if not isinstance(self.loss, SmoothLoss):
            raise TypeError(f"the {self.loss.name} loss is not smooth: it has no marginals and no curvature")
        return self.loss

    def predict(self, weights: Weights) -> Iterator[IntArray]:
        """The best outputs of all instances, batch by batch."""
        kept = weights.nonzero()
        assert kept.features is not None
        for batch in self.batches:
            small = batch.restrict(kept.features)
            yield small.structure.argmax(small.design.scores(kept.values))[1]

    # --- other problems on the same instances ---

    def restrict(self, features: IntArray) -> InMemoryProblem:
        """The problem in which only these features (ascending) may be other than zero."""
        if self._together is None:
            batches = tuple(batch.restrict(features) for batch in self.batches)
        else:
            designs = self._together.restrict_all([batch.design for batch in self.batches], features)
            batches = tuple(
                batch.scored_by(design) for batch, design in zip(self.batches, designs, strict=True)
            )
        return replace(
            self, batches=batches, penalty=self.penalty.restrict(features), n_features=len(features)
        )

    def with_loss(self, loss: Loss) -> InMemoryProblem:
        """The same instances with another loss."""
        return replace(self, loss=loss)

    def with_penalty(self, penalty: Penalty) -> InMemoryProblem:
        """The same instances with another penalty."""
        return replace(self, penalty=penalty)

    def chunks(self, most: int) -> list[InMemoryProblem]:
        """One batch each."""
        return [replace(self, batches=(batch,)) for batch in _cut(self.batches, most)]

    # --- what only some solvers need ---

    def held_out(self, share: float, seed: int) -> tuple[InMemoryProblem, InMemoryProblem]:
        """Instances are drawn in pieces, at most some hundred, so that batches do not become too small."""
        if self.n_instances < FEWEST_TO_SPLIT:
            raise ParsimonError(
                f"there are {self.n_instances} instances, too few to hold any out; it takes {FEWEST_TO_SPLIT}."
            )
        pieces = list(_cut(self.batches, max(1, self.n_instances // PIECES)))
        aside = np.zeros(len(pieces), bool)
        n = min(max(1, round(share * len(pieces))), len(pieces) - 1)
        aside[np.random.default_rng(seed).permutation(len(pieces))[:n]] = True
        learnt, held = (
            replace(self, batches=tuple(pieces[i] for i in np.flatnonzero(mask).tolist()))
            for mask in (~aside, aside)
        )
        return learnt, held

    def mistakes(self, weights: Weights) -> Array:
        """Wrong labels of every instance."""
        found = [
            batch.structure.cost(batch.gold, output, 1.0)
            for batch, output in zip(self.batches, self.predict(weights), strict=True)
        ]
        return np.concatenate(found)

    def margins(self) -> MarginInstances | None:
        """Its instances, if their designs compare outputs."""
        if all(isinstance(batch.design, ComparesOutputs) for batch in self.batches):
            return _Margins(self.batches, self.loss)
        return None

    def expected_cost(self, weights: Weights) -> tuple[float, Array]:
        """Σ of the expected cost under the marginals at these weights, and Φᵀ(μ − gold)."""
        assert isinstance(self.loss, CostLoss)
        cost, gradient, total = self.loss.bound_cost(), np.zeros(self.n_features), 0.0
        for batch in self.batches:
            _, parts = self.loss(batch.structure, batch.scores(weights), batch.gold)
            total += batch.structure.expected_cost(parts, batch.gold, cost)
            batch.design.pullback(parts, gradient)
        return total, gradient

    def log_outputs(self) -> float:
        """Σ weight · log |outputs| over instances."""
        structures = (batch.structure for batch in self.batches)
        return float(sum(each.weigh(each.log_outputs()) for each in structures))

    def coordinates(self) -> Coordinates | None:
        """The scores of the one batch that there must be, if they are margins."""
        if len(self.batches) != 1 or not isinstance(self.batches[0].design, ScoresByMargins):
            return None
        return _Coordinates(self.batches[0], self.batches[0].design, self._smooth_or_none())

    def _smooth_or_none(self) -> SmoothLoss | None:
        return self.loss if isinstance(self.loss, SmoothLoss) else None

    def online(self) -> OnlineInstances | None:
        """Its instances, if their designs teach online learners."""
        taught = [(b, b.design) for b in self.batches if isinstance(b.design, TeachesLearners)]
        return _Online(taught) if len(taught) == len(self.batches) else None

    def cumulative_online(self) -> SummedInstances | None:
        """Its instances, if their designs teach learners with a cumulative L1 penalty."""
        taught = [(b, b.design) for b in self.batches if isinstance(b.design, TeachesSummedLearners)]
        return _Summed(taught) if len(taught) == len(self.batches) else None

    def blocks(self) -> BlockInstances | None:
        """Its instances, if their designs have block coordinate descent."""
        known = [(b, b.design) for b in self.batches if isinstance(b.design, DescendsByBlocks)]
        return _Blocks(known) if len(known) == len(self.batches) else None


def _cut(batches: Sequence[Batch], most: int) -> Iterator[Batch]:
    """The same instances in batches of at most so many, as even as can be."""
    for batch in batches:
        n = batch.structure.n_instances
        cuts = np.linspace(0, n, -(-n // most) + 1).astype(int).tolist()
        yield from (batch.part(first, last) for first, last in pairwise(cuts))


@dataclass(frozen=True)
class _Margins:
    batches: Sequence[Batch]
    loss: Loss
    first: int = 0  # the number of the first instance

    def instance_weights(self) -> Array:
        return np.concatenate([np.zeros(0), *(_weights_of(batch.structure) for batch in self.batches)])

    def most_violated(self, w: Array) -> Iterator[Violated]:
        assert isinstance(self.loss, CostLoss)
        first, cost = self.first, self.loss.bound_cost()
        for batch in self.batches:
            yield batch.most_violated(w, cost, first)
            first += batch.structure.n_instances

    def chunks(self, most: int) -> list[_Margins]:
        out, first = [], self.first
        for batch in _cut(self.batches, most):
            out.append(_Margins((batch,), self.loss, first))
            first += batch.structure.n_instances
        return out


def _weights_of(structure: Structure) -> Array:
    return np.ones(structure.n_instances) if structure.weights is None else structure.weights


@dataclass(frozen=True)
class _Coordinates:
    batch: Batch
    design: ScoresByMargins
    loss: SmoothLoss | None

    @property
    def map(self) -> LinearMap:
        return self.design.map

    def margins(self, w: Array) -> Array:
        return self.design.margins(w)

    def at(self, margins: Array) -> LinearPoint:
        loss, parts, marginals = self._smooth.with_marginals(
            self.batch.structure, self.design.parts(margins), self.batch.gold
        )
        residual = self.design.columns(parts)
        return LinearPoint(margins, loss, self.pullback(residual), residual, marginals)

    def second_derivatives(self, point: LinearPoint) -> Array:
        return self.design.columns(self._smooth.variances(self.batch.structure, point.marginals))

    def dual_values(self, point: LinearPoint) -> tuple[Array, Array]:
        structure = self.batch.structure
        assert isinstance(structure, CountsInstances)
        values, parts, _ = self._smooth.each(structure, self.design.parts(point.margins), self.batch.gold)
        residual = self.design.columns(parts)
        return structure.counted(values) - np.sum(point.margins * residual, axis=1), residual

    def pullback(self, residual: Array) -> Array:
        gradient = np.zeros(self.map.n_features)
        self.map.pullback(np.ascontiguousarray(residual), gradient, self.design.threads)
        return gradient

    def contributions(self, residual: Array, features: IntArray) -> Array:
        few = self.design.restrict(features)
        units = np.eye(len(features))
        return np.stack([np.sum(few.margins(unit) * residual, axis=1) for unit in units])

    @property
    def _smooth(self) -> SmoothLoss:
        assert self.loss is not None, "margins have derivatives if the loss is smooth"
        return self.loss


def _check_gold(gold: Gold) -> Gold:
    if np.any(gold < 0):
        raise ParsimonError("online learning needs every label, but some are missing.")
    return gold


def _none_to_learn_from() -> ParsimonError:
    return ParsimonError("there are no instances to learn from; give at least one.")


@dataclass(frozen=True)
class _Online:
    taught: Sequence[tuple[Batch, TeachesLearners]]

    @property
    def restricts_transitions(self) -> bool:
        return any(design.restricts_transitions for _, design in self.taught)

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        if not self.taught:
            raise _none_to_learn_from()
        return self.taught[0][1].attribute_starts()

    def learner(self, node_block: IntArray, pair_block: IntArray, n_blocks: int) -> OnlineLearner:
        if not self.taught:
            raise _none_to_learn_from()
        first, design = self.taught[0]
        learner: OnlineLearner = design.new_learner(first.structure, node_block, pair_block, n_blocks)
        for batch, design in self.taught:
            design.teach(learner, batch.structure, _check_gold(batch.gold))
        return learner


@dataclass(frozen=True)
class _Summed:
    taught: Sequence[tuple[Batch, TeachesSummedLearners]]

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        if not self.taught:
            raise _none_to_learn_from()
        return self.taught[0][1].attribute_starts()

    def learner(self, node_exempt: BoolArray, pair_exempt: BoolArray) -> SummedLearner:
        if not self.taught:
            raise _none_to_learn_from()
        learner: SummedLearner = self.taught[0][1].new_summed_learner(node_exempt, pair_exempt)
        for batch, design in self.taught:
            design.teach(learner, batch.structure, _check_gold(batch.gold))
        return learner


@dataclass(frozen=True)
class _Blocks:
    known: Sequence[tuple[Batch, DescendsByBlocks]]

    @property
    def restricts_transitions(self) -> bool:
        return any(design.restricts_transitions for _, design in self.known)

    @property
    def threads(self) -> int:
        return self.known[0][1].threads

    def descent(self) -> BlockDescent:
        if not self.known:
            raise _none_to_learn_from()
        descent = self.known[0][1].new_descent()
        for batch, design in self.known:
            design.teach_descent(descent, batch.structure, batch.gold)
        descent.make_blocks()
        return descent
