"""Proximal quasi-Newton for a smooth loss and an L1 penalty, or one on disjoint groups.

At every step the loss is replaced by a quadratic model with the L-BFGS matrix B, and the *penalised* model is
minimised (Lee, Sun & Saunders 2014; Scheinberg & Tang 2016):

    d = argmin_d  g·d + ½ dᵀ B d + Ω(w + d)

OWL-QN takes a direction first and projects it into an orthant afterwards, which spoils the direction for features
that depend on each other; here the penalty is part of the model, so features leave as soon as the model says so.
B starts from the (damped) diagonal of the Hessian, which for words that occur once and words that occur
everywhere differs by orders of magnitude. Where a problem can draw outputs from its model, B has a block of features
with all of their covariances as well (`curvature_block.py`); the rest of it stays diagonal.

A trial point that does not decrease the objective is not backtracked from. It has shown what the curvature is in its
direction: that pair enters B, and the model is solved again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from parsimon._core import (
    descend,
    dot,
    quadratic_rows,
    take_pair,
    tall_gram,
    tall_times,
    tall_transposed_times,
)
from parsimon.arrays import Array, IntArray
from parsimon.problem import Evaluation, Problem
from parsimon.solvers.base import Iterate, Status, paused
from parsimon.solvers.capabilities import (
    COVARIANCES,
    CURVED,
    DISJOINT_GROUPS,
    ELASTIC_OR_GROUPS,
    PROX,
    SINGLE_OR_BLOCKS,
    SMOOTH_LOSS,
    Capability,
    Requires,
)
from parsimon.solvers.convergence import goal_of
from parsimon.solvers.curvature_block import EMPTY, CurvatureBlock, that_move_most
from parsimon.solvers.group_kinks import GroupKinks
from parsimon.solvers.owlqn import pseudo_gradient
from parsimon.weights import Weights

POSITIVE = 1e-12  # a pair is of use if s·y is more than this share of y·y: there is curvature along it
LEAST_CURVATURE = 1e-3  # the diagonal of B, by which coordinate descent divides, stays above this share of D
FEW_ROWS = 4096  # of the matrix of pairs, moved at a time
IN_MODEL = 0.9  # zero weights whose gradient is above this share of their threshold may move in a step
SUFFICIENT = (
    1e-4  # the share of the promised decrease that a step must bring (Nocedal & Wright 2006, eq. 3.4)
)
# The diagonal is renewed twice early on, when so many pairs are known and weights still move far, and then regularly.
RENEW_AT, RENEW_EVERY = (2, 7), 20
# A rejected point teaches the model something, so the model is solved again as it is. But with few pairs, or after
# a few rejections in a row, the diagonal is too small as well, and is damped twice as much. After many it is hopeless.
FEW_PAIRS, FEW_REJECTIONS, MOST_REJECTIONS = 10, 3, 25
# After an accepted step damping falls, quickly while it is large, and slowly when it has done its work.
LARGE_DAMPING, QUICKLY, SLOWLY = 12, 0.85, 0.98
# All pairs take at most so many bytes (of which features of whole templates have millions), but there are always a few.
MOST_BYTES, FEWEST_PAIRS = 1 << 29, 6
DIVERGED = 1e6  # times as steep as at first: coordinate descent goes up where rounding has made B indefinite
SHORTEST = 1e-3  # share of a Newton step on a face that is tried
LIFT = 1.0  # of the diagonal of the Hessian, which may be zero
# The block has so many features, of so many draws of two outputs an instance, and is made anew after so many steps.
BLOCK, DRAWS, BLOCK_STEPS = 512, 8, 40


@dataclass
class CurvaturePairs:
    """Steps s and changes of gradient y, and how far the diagonal is damped; survives a change of working set.

    A pair lives in a slot: columns 2j and 2j + 1 of `columns`, so that all that is known of a feature lies side by
    side. When all slots are taken, the oldest pair gives up its own.
    """

    memory: int
    damping: float
    threads: int = 1
    taken: int = 0  # pairs taken in so far
    columns: Array | None = None  # features × 2·memory: s, y, s, y, …
    block: CurvatureBlock = EMPTY  # of B₀ before it is damped
    blocks: int = 0  # made so far
    steps: int = 0  # since then
    _sy: Array = field(default_factory=lambda: np.zeros((0, 0)))  # SᵀY
    # The diagonal that B₀ was made with, D outside of the block, and SᵀDS.
    _sds: tuple[Array | None, Array | None, Array] = (None, None, np.zeros((0, 0)))

    def __len__(self) -> int:
        return min(self.taken, self.memory)

    def add(self, s: Array, y: Array) -> None:
        """Takes in a pair, unless the curvature along it is not positive."""
        if not dot(s, y) > POSITIVE * dot(y, y):
            return
        if self.columns is None:
            self.memory = self.fitting(len(s))
            self.columns = np.zeros((len(s), 2 * self.memory))
            self._sy = np.zeros((self.memory, self.memory))
        slot = self.taken % self.memory
        self.taken += 1
        _, D, sds = self._sds
        with_all = take_pair(self.columns, slot, s, y, D, self.threads)
        self._sy[slot], self._sy[:, slot] = with_all[0, 1::2], with_all[1, 0::2]
        if D is not None:
            sds[slot] = sds[:, slot] = with_all[2, 0::2]

    def middle(self, D: Array) -> Array:
        """M = [[Sᵀ B₀ S, L], [Lᵀ, −diag(SᵀY)]] for the damped B₀; rows and columns s, y, s, y, …"""
        assert self.columns is not None
        if self._sds[0] is not D:
            outside = self.block.outside(D)
            self._sds = D, outside, tall_gram(self.columns, outside, self.threads)[0::2, 0::2].copy()
        n = len(self)
        slots = np.arange(n)
        age = (self.taken - 1 - slots) % self.memory
        sy = self._sy[:n, :n]
        lower = np.where(age[:, None] < age, sy, 0.0)
        out = np.empty((2 * n, 2 * n))
        inside = self.columns[self.block.features, 0 : 2 * n : 2]
        out[0::2, 0::2] = self.damping * (self._sds[2][:n, :n] + inside.T @ (self.block.matrix @ inside))
        out[0::2, 1::2], out[1::2, 0::2] = lower, lower.T
        out[1::2, 1::2] = -np.diag(np.diag(sy))
        return out

    def rows(self, chosen: IntArray) -> Array:
        """What is known of some features: (s, y, s, y, …) each, of the slots in use."""
        if self.columns is None:
            return np.zeros((len(chosen), 0))
        return self.columns[chosen, : 2 * len(self)]

    def take_block(self, block: CurvatureBlock) -> None:
        """Another block of B₀."""
        self.block, self.blocks, self.steps = block, self.blocks + 1, 0
        self._forget_products()

    def _forget_products(self) -> None:
        self._sds = None, None, np.zeros((self.memory, self.memory))

    def fitting(self, n_features: int) -> int:
        """How many pairs there is room for."""
        return min(self.memory, max(FEWEST_PAIRS, MOST_BYTES // (16 * max(n_features, 1))))

    def keep_newest(self, memory: int) -> None:
        """Goes on with fewer slots."""
        if self.columns is None or memory >= self.memory:
            return
        kept = (self.taken - 1 - np.arange(min(len(self), memory))[::-1]) % self.memory  # oldest first
        columns = np.zeros((len(self.columns), 2 * memory))
        columns[:, 0 : 2 * len(kept) : 2] = self.columns[:, 2 * kept]
        columns[:, 1 : 2 * len(kept) : 2] = self.columns[:, 2 * kept + 1]
        self.columns, self.memory, self.taken = columns, memory, len(kept)

    def carry(self, old: IntArray, new: IntArray) -> None:
        """From one set of features to another; nothing is known of features that are new.

        Pairs along which the curvature is not positive any more, for want of features that were dropped, are forgotten.
        """
        if self.columns is None:
            return
        self.keep_newest(self.fitting(len(new)))
        at = np.minimum(np.searchsorted(old, new), len(old) - 1)
        self.columns = self.columns[at]
        self.columns[old[at] != new] = 0.0
        self.block = self.block.carried(old, new)
        products = tall_gram(self.columns, np.ones(len(new)), self.threads)
        sy, yy = products[0::2, 1::2], products[1::2, 1::2]
        curved = np.diag(sy) > POSITIVE * np.diag(yy)
        if not curved[: len(self)].all():
            by_age = (self.taken - len(self) + np.arange(len(self))) % self.memory  # oldest first
            kept = by_age[curved[by_age]]
            self.taken = len(kept)
            for row in range(0, len(new), FEW_ROWS):  # no second array of this size
                part = self.columns[row : row + FEW_ROWS]
                S, Y = part[:, 2 * kept], part[:, 2 * kept + 1]
                part[:] = 0.0
                part[:, 0 : 2 * len(kept) : 2], part[:, 1 : 2 * len(kept) : 2] = S, Y
            still = np.zeros((self.memory, self.memory))
            still[: len(kept), : len(kept)] = sy[np.ix_(kept, kept)]
            sy = still
        self._sy = sy.copy()
        self._forget_products()


@dataclass(frozen=True)
class QuadraticModel:
    """g·d + ½ dᵀ B d on some features, with B = B₀ − W M⁻¹ Wᵀ (Byrd, Nocedal & Schnabel 1994, theorem 2.3).

    W = [B₀ S, Y],  M = [[Sᵀ B₀ S, L], [Lᵀ, −diag(SᵀY)]],  L the part of SᵀY where s is newer than y. S and Y are taken
    over all features; rows of W over those the model is about. Their columns are in the order s, y, s, y, …, and then
    zeros up to a multiple of four (where M has ones on its diagonal).
    """

    gradient: Array
    diagonal: Array  # of B₀
    block: CurvatureBlock  # of B₀
    columns: Array  # W, features × 2m
    projected: Array  # W M⁻¹
    middle: Array  # M
    inverse: Array  # M⁻¹
    curvature: Array  # the diagonal of B
    threads: int

    @classmethod
    def build(cls, gradient: Array, D: Array, pairs: CurvaturePairs, chosen: IntArray) -> QuadraticModel:
        """The model at a point with this gradient and this initial diagonal (to be damped), on the chosen features."""
        g, d = gradient[chosen], pairs.damping * D[chosen]
        if not len(pairs):
            nothing, none = np.zeros((len(chosen), 0)), np.zeros((0, 0))
            return cls(g, d, EMPTY, nothing, nothing, none, none, d, pairs.threads)
        assert pairs.columns is not None
        used = 2 * len(pairs)
        middle = np.eye(-(-used // 4) * 4)
        middle[:used, :used] = pairs.middle(D)
        inverse = np.linalg.inv(middle)
        inverse = (inverse + inverse.T) / 2
        W, V, curvature = quadratic_rows(
            pairs.columns, chosen, used, d, inverse, LEAST_CURVATURE, pairs.threads
        )
        damped = CurvatureBlock(pairs.block.features, pairs.damping * pairs.block.matrix)
        S = pairs.columns[damped.features, 0:used:2]
        block = damped.among(chosen)
        inside = np.isin(damped.features, chosen, assume_unique=True)
        at, own = block.features, block.diagonal
        W[at, 0:used:2] = (damped.matrix @ S)[inside]
        V[at], d[at] = W[at] @ inverse, own
        curvature[at] = np.maximum(own - np.einsum("ij,ij->i", W[at], V[at]), LEAST_CURVATURE * own)
        return cls(g, d, block, W, V, middle, inverse, curvature, pairs.threads)

    def without_pairs(self) -> QuadraticModel:
        """The same with B = B₀."""
        nothing, none = np.zeros((len(self.gradient), 0)), np.zeros((0, 0))
        return replace(
            self,
            columns=nothing,
            projected=nothing,
            middle=none,
            inverse=none,
            curvature=self.diagonal,
        )

    def moment(self, d: Array) -> Array:
        """Wᵀ d."""
        return tall_transposed_times(self.columns, d, self.threads)

    def first_times(self, d: Array) -> Array:
        """B₀ d."""
        out = self.diagonal * d
        out[self.block.features] = self.block.matrix @ d[self.block.features]
        return out

    def slope(self, d: Array, moment: Array | None = None) -> Array:
        """g + B d; Wᵀ d may be known already."""
        moment = self.moment(d) if moment is None else moment
        out: Array = self.gradient + self.first_times(d) - tall_times(self.projected, moment, self.threads)
        return out

    def value(self, d: Array) -> float:
        """g·d + ½ dᵀ B d."""
        moment = self.moment(d)
        bent = dot(self.first_times(d), d) - dot(moment, self.inverse @ moment)
        return float(dot(self.gradient, d) + 0.5 * bent)

    def newton_step(self, slope: Array, face: IntArray) -> Array:
        """−B⁻¹ slope on the given coordinates, by the Woodbury identity."""
        inside = np.zeros(len(slope))
        inside[face] = 1.0 / self.diagonal[face]
        of_block = np.flatnonzero(inside[self.block.features])
        at = self.block.features[of_block]
        inside[at] = 0.0
        step = -slope * inside
        solved = self.block.solve(of_block, np.column_stack([-slope[at], self.columns[at]]))
        step[at] = solved[:, 0]
        if self.columns.shape[1]:
            bends = tall_gram(self.columns, inside, self.threads) + self.columns[at].T @ solved[:, 1:]
            bent = np.asarray(np.linalg.solve(self.middle - bends, self.moment(step)), np.float64)
            step = step + tall_times(self.columns, bent, self.threads) * inside
            step[at] += solved[:, 1:] @ bent
        return np.asarray(step[face])


def minimise(
    model: QuadraticModel, w: Array, l1: Array, *, tol: float = 0.15, rounds: int = 20, sweeps: int = 4
) -> Array:
    """argmin_d model(d) + Σ l1 |w + d|: sweeps of coordinate descent find the face, a Newton step its minimum.

    Ends when the slope that is left (in the norm of D⁻¹) is `tol` times what it was.
    """

    def left(d: Array, moment: Array) -> tuple[Array, float]:
        p = pseudo_gradient(w + d, model.slope(d, moment), l1)
        return p, float(np.sqrt(dot(p, p / model.diagonal)))

    d, moment = np.zeros(len(w)), np.zeros(model.columns.shape[1])
    _, first = left(d, moment)
    for _ in range(rounds):
        descend(
            model.gradient,
            model.diagonal,
            model.curvature,
            model.columns,
            model.projected,
            model.block.features,
            model.block.matrix,
            w,
            l1,
            sweeps,
            d,
            moment,
        )
        slope, remaining = left(d, moment)
        if remaining <= tol * first:
            break
        if not remaining <= DIVERGED * first and model.columns.shape[1]:
            return minimise(model.without_pairs(), w, l1, tol=tol, rounds=rounds, sweeps=sweeps)
        d = step_on_face(model, w, l1, d, slope)
        moment = model.moment(d)
    return d


def step_on_face(model: QuadraticModel, w: Array, l1: Array, d: Array, slope: Array) -> Array:
    """A Newton step among the weights that are not zero at w + d, halved until the penalised model falls.

    Weights that would change sign become zero. Returns d itself if no step will do.
    """

    def value(d: Array) -> float:
        return model.value(d) + dot(l1, np.abs(w + d))

    x = w + d
    face = np.flatnonzero(x)
    step = model.newton_step(slope, face)
    now, length = value(d), 1.0
    while length > SHORTEST:
        trial = x.copy()
        trial[face] += length * step
        trial[np.sign(trial) == -np.sign(x)] = 0.0
        if value(trial - w) < now:
            return trial - w
        length /= 2
    return d


class Kinks(Protocol):
    """What of a penalty is not smooth, and how a model with it is minimised."""

    def lift(self, violation: float) -> Array | float:
        """The curvature of what is smooth, and what keeps the diagonal of B away from zero at such violations."""
        ...

    @property
    def most_in_block(self) -> int:
        """How many features of B₀ may have more than a diagonal."""
        ...

    def rise(self, old: Array, new: Array) -> float:
        """By how much it is higher at new weights than at old ones."""
        ...

    def largest_violation(self, w: Array, gradient: Array) -> float:
        """The largest violation of the optimality conditions; `gradient` is that of all that is smooth."""
        ...

    def propose(self, w: Array, gradient: Array, diagonal: Array, pairs: CurvaturePairs) -> Array:
        """The step to the minimum of the penalised model."""
        ...


@dataclass(frozen=True)
class SingleKinks:
    """Σ_k l1_k |w_k|."""

    l1: Array
    l2: Array | float
    most_in_block: ClassVar[int] = BLOCK

    @classmethod
    def of(cls, problem: Problem) -> SingleKinks:
        """Those of a problem's penalty."""
        penalty = CURVED.of(problem)
        l1 = np.broadcast_to(np.asarray(penalty.l1_strength, np.float64), problem.n_features)
        return cls(l1, penalty.l2_strength)

    def lift(self, violation: float) -> Array | float:
        """The L2 part, and one."""
        return self.l2 + LIFT

    def rise(self, old: Array, new: Array) -> float:
        """By how much it is higher at new weights than at old ones."""
        return float(dot(self.l1, np.abs(new) - np.abs(old)))

    def largest_violation(self, w: Array, gradient: Array) -> float:
        """The largest pseudo-gradient."""
        return float(np.max(np.abs(pseudo_gradient(w, gradient, self.l1)), initial=0.0))

    def propose(self, w: Array, gradient: Array, diagonal: Array, pairs: CurvaturePairs) -> Array:
        """The step, on the weights that are not zero or nearly want to leave zero."""
        l1 = self.l1
        chosen = np.flatnonzero((w != 0) | (np.abs(gradient) > IN_MODEL * l1))
        model = QuadraticModel.build(gradient, diagonal, pairs, chosen)
        d = np.zeros(len(w))
        d[chosen] = minimise(model, w[chosen], np.ascontiguousarray(l1[chosen]))
        return d


# Penalties of each kind, and their kinks: the first that a problem has.
KINKS: tuple[tuple[Capability[Any], Callable[[Problem], Kinks]], ...] = (
    (CURVED, SingleKinks.of),
    (DISJOINT_GROUPS, GroupKinks.of),
)


@dataclass(frozen=True)
class Terms:
    """The objective in parts: a smooth one, and one with kinks."""

    problem: Problem
    kinks: Kinks

    @classmethod
    def of(cls, problem: Problem) -> Terms:
        """The terms of a problem."""
        return cls(problem, next(make(problem) for kind, make in KINKS if kind.find(problem) is not None))

    def at(self, w: Array, there: Evaluation) -> Place:
        """Objective and gradient where the loss was evaluated, and the diagonal of B₀ if that is known there."""
        penalty = self.problem.penalty
        objective, gradient = there.loss + penalty.value(w), there.gradient + penalty.smooth_gradient(w)
        return Place(w, objective, gradient, there.curvature)

    def renew_block(self, w: Array, diagonal: Array, pairs: CurvaturePairs, least: float) -> None:
        """The block of B₀, of the features that move most in these steps, where the problem knows covariances.

        It lacks no covariances within, so it is right as it is where the diagonal has to be damped by `least`.
        """
        known = COVARIANCES.find(self.problem)
        if known is None or pairs.columns is None or not self.kinks.most_in_block:
            return
        steps = pairs.columns[:, 0 : 2 * len(pairs) : 2]
        features = that_move_most(diagonal, steps, self.kinks.most_in_block)
        covariance = known.covariance(w, features, DRAWS, pairs.blocks)
        pairs.take_block(CurvatureBlock.of(features, covariance, diagonal[features] - LIFT, 1 / least))

    def largest_violation(self, place: Place) -> float:
        """The largest violation of the optimality conditions."""
        return self.kinks.largest_violation(place.w, place.gradient)

    def diagonal(self, place: Place) -> Array:
        """Of the Hessian, away from zero."""
        assert place.curvature is not None
        return place.curvature + self.kinks.lift(self.largest_violation(place))


@dataclass(frozen=True)
class Place:
    """Weights, and the objective there."""

    w: Array
    objective: float
    gradient: Array  # of the smooth part
    curvature: Array | None  # of the loss


@dataclass(frozen=True)
class ProximalQuasiNewton:
    """Steps to the minimum of a penalised quadratic model.

    The diagonal is damped by a factor that starts at `damping` and falls to `least_damping` while steps are
    accepted: far from the optimum the model is only good nearby.
    """

    memory: int = 20
    tol: float = 1e-4
    damping: float = 40.0
    least_damping: float = 4.0
    threads: int = 1
    name: ClassVar[str] = "proximal-quasi-newton"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, SINGLE_OR_BLOCKS, ELASTIC_OR_GROUPS, PROX)

    def new_memory(self) -> CurvaturePairs:
        """What is learnt of the curvature."""
        return CurvaturePairs(self.memory, self.damping, self.threads)

    def iterate(
        self,
        problem: Problem,
        start: Weights,
        memory: CurvaturePairs | None = None,
        known: Evaluation | None = None,
    ) -> Iterator[Iterate]:
        """Yields after every step. `known` is the evaluation at the start, if the caller has it."""
        pairs = self.new_memory() if memory is None else memory
        pairs.threads = problem.threads
        terms, w, evaluations = Terms.of(problem), start.dense().copy(), 0
        if known is None or known.curvature is None:
            known, evaluations = problem.evaluate(w, curvature=True), 1
        place = terms.at(w, known)
        diagonal = terms.diagonal(place)
        goal, more = goal_of(problem, self.tol, w, terms.largest_violation(place))
        evaluations, steps = evaluations + more, 0
        while True:
            largest = terms.largest_violation(place)
            status = Status.CONVERGED if goal.reached(largest) else None
            weights = Weights(place.w, None, problem.n_features)
            here = Iterate(weights, place.objective, evaluations, kkt=largest, phase=self.name, status=status)
            yield here
            if status is not None:
                return
            renew = pairs.taken in RENEW_AT or (steps + 1) % RENEW_EVERY == 0
            steps_tried = self._step(terms, place, diagonal, pairs, renew)
            found, used = yield from paused(steps_tried, here.within())
            evaluations += used
            if found is None:
                yield replace(here, evaluations=evaluations, status=Status.STALLED)
                return
            place, steps = found, steps + 1
            if place.curvature is not None:
                diagonal = terms.diagonal(place)
            pairs.steps += 1
            if len(pairs) == pairs.memory and (not pairs.blocks or pairs.steps >= BLOCK_STEPS):
                terms.renew_block(place.w, diagonal, pairs, self.least_damping)

    def _step(
        self, terms: Terms, place: Place, diagonal: Array, pairs: CurvaturePairs, renew: bool
    ) -> Generator[None, None, tuple[Place | None, int]]:
        """The minimum of the model where the objective falls enough, and after how many evaluations.

        None if the model promises nothing, or if too many of its minima were rejected; pauses after each of these.
        """
        kinks, rejected = terms.kinks, 0
        while True:
            d = kinks.propose(place.w, place.gradient, diagonal, pairs)
            point = place.w + d
            promised = dot(place.gradient, d) + kinks.rise(place.w, point)
            if not promised < 0:
                return None, rejected
            new = terms.at(point, terms.problem.evaluate(point, curvature=renew))
            pairs.add(d, new.gradient - place.gradient)
            if new.objective < place.objective and new.objective <= place.objective + SUFFICIENT * promised:
                if not rejected:
                    self._relax(pairs)
                return new, rejected + 1
            rejected += 1
            if rejected >= FEW_REJECTIONS or len(pairs) < FEW_PAIRS:
                pairs.damping *= 2
            if rejected > MOST_REJECTIONS:
                return None, rejected
            yield

    def _relax(self, pairs: CurvaturePairs) -> None:
        """Damps less, as the model was right at once."""
        factor = QUICKLY if pairs.damping > LARGE_DAMPING else SLOWLY
        pairs.damping = max(self.least_damping, pairs.damping * factor)
