"""ADMM for sparse overlapping group lasso (Yogatama & Smith 2014, algorithm 1; Boyd et al. 2010).

Every group has copies v of its weights, one for every member, and the copies must agree with w: v = Mw.

    w ← argmin  loss(w) + elastic net(w) + ρ/2 Σ_i N_i (w_i − μ_i)²      μ_i: the mean of v + u/ρ over the N_i copies
    v_g ← group soft threshold of (Mw − u/ρ)_g at λ_g/ρ
    u ← u + ρ (v − Mw)

The w step is a proximal Newton method that goes on from where it was; v and u are one compiled pass over all members
(core/learners/group_copies.hpp).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from parsimon._core import GroupCopies
from parsimon.arrays import Array, BoolArray
from parsimon.errors import ParsimonError
from parsimon.penalties.elastic_net import ElasticNet
from parsimon.penalties.group_lasso import Split
from parsimon.penalties.pulled import Pulled
from parsimon.problem import Problem
from parsimon.solvers.base import Iterate, Status, paused
from parsimon.solvers.capabilities import COORDINATES, SMOOTH_LOSS, SPLIT, Requires
from parsimon.solvers.certificate import SplitDual, split_lower_bound
from parsimon.solvers.proximal_newton import Point, newton_step
from parsimon.weights import Weights

Stopping = Literal["certified", "paper"]

BALANCE = 10.0  # ρ changes when one residual is so many times the other,
FACTOR = 2.0  # and then by this
LOOK = 10  # iterations between two looks at the duality gap
PAPER_TOL = 1e-5  # to which w steps are solved with the paper's stopping rule
FIRST_TOL = 1e-3  # to which the first certified w step is solved;
# later ones, within these limits, to this share of the squared residuals: an objective is off by the square of what
# weights are
RESIDUAL_SHARE, LOOSEST, TIGHTEST = 0.01, 1e-4, 1e-16
ROUNDING = 1e-14  # residuals below it cannot fall any further
NEWTON_STEPS = 50  # of one w step at most, and
SOLVED = 0.01  # how well each solves its quadratic model


@dataclass(frozen=True)
class Residuals:
    """How far copies and weights are apart (primal) and how far copies have moved (dual), relative to their size."""

    primal: float
    dual: float


@dataclass
class Copies:
    """v and u of all groups, and their sums over the copies of each weight."""

    compiled: GroupCopies | None  # None if no group has a strength: copies then are what they are copies of
    held: BoolArray  # which groups have one
    counts: Array  # N_i
    rho: float
    relaxation: float
    threads: int
    copies: Array = field(init=False)  # Mᵀv
    multipliers: Array = field(init=False)  # Mᵀu/ρ
    value: float = field(default=0.0, init=False)  # Σ_g λ_g ‖w_g‖

    def __post_init__(self) -> None:
        self.copies, self.multipliers = np.zeros_like(self.counts), np.zeros_like(self.counts)

    @classmethod
    def of(cls, split: Split, n_features: int, rho: float, relaxation: float, threads: int) -> Copies:
        """All zero."""
        sizes = np.diff(split.ptr)
        held = split.strength > 0
        loose = not np.any(held & (sizes > 0))
        ptr, member, strength = split.ptr, split.member, split.strength
        if not loose and not np.all(held):
            member = member[np.repeat(held, sizes)]
            ptr, strength = np.concatenate([[0], np.cumsum(sizes[held])]), strength[held]
        start = ptr.astype(np.int64)
        counts = np.bincount(member, minlength=n_features).astype(np.float64)
        made = None if loose else GroupCopies(start, member.astype(np.int32), strength, n_features)
        return cls(made, held, counts, rho, relaxation, threads)

    def pull(self, net: ElasticNet) -> Pulled:
        """What the w step minimises besides the loss: ρ/2 Σ_i N_i (w_i − μ_i)², with the elastic net."""
        total = self.copies + self.multipliers
        means = np.divide(total, self.counts, out=np.zeros_like(total), where=self.counts > 0)
        return Pulled(net, self.rho * self.counts, means)

    def update(self, w: Array) -> Residuals:
        """New v and u."""
        before = self.copies
        if self.compiled is None:
            self.copies = self.counts * w
            return Residuals(0.0, _ratio(np.linalg.norm(self.copies - before), np.linalg.norm(self.copies)))
        self.copies = np.empty_like(before)
        apart, copies, weights, self.value = self.compiled.step(
            w, self.rho, self.relaxation, self.copies, self.multipliers, self.threads
        )
        moved = self.rho * float(np.linalg.norm(self.copies - before))
        size = self.rho * float(np.linalg.norm(self.multipliers))
        return Residuals(_ratio(np.sqrt(apart), np.sqrt(max(copies, weights))), _ratio(moved, size))

    def balance(self, residuals: Residuals) -> bool:
        """Residual balancing (Boyd et al. 2010, §3.4.1): ρ grows while copies disagree, falls while they crawl."""
        factor = 1.0
        if residuals.primal > BALANCE * residuals.dual:
            factor = FACTOR
        elif residuals.dual > BALANCE * residuals.primal:
            factor = 1 / FACTOR
        if factor == 1.0 or self.compiled is None:
            return False
        self.rho *= factor
        self.compiled.rescale(1 / factor)
        self.multipliers /= factor
        return True

    def relevance(self) -> Array:
        """‖v_g‖ of every group: zero where it was found irrelevant (Yogatama & Smith 2014, §5.4)."""
        out = np.full(len(self.held), np.nan)
        if self.compiled is not None:
            out[self.held] = self.compiled.norms(self.rho)
        return out

    def dual(self) -> SplitDual:
        """Multipliers, as a point of the dual problem."""
        if self.compiled is None:  # no ball has room for anything
            return SplitDual(self.multipliers, np.zeros_like(self.counts), lambda shift: 0.0)
        compiled = self.compiled
        return SplitDual(
            self.rho * self.multipliers, self.counts, lambda e: compiled.gauge(self.rho, e, self.threads)
        )


def _ratio(size: float | np.floating[Any], of: float | np.floating[Any]) -> float:
    return float(size / of) if of > 0 else 0.0 if size == 0 else 1.0


@dataclass(frozen=True)
class ADMM:
    """Alternating directions on weights and the copies that groups have of them.

    With ``stopping="certified"`` ρ is adapted, steps are over-relaxed, the w step is only as exact as the residuals
    justify, and it stops at a duality gap of `tol` times the objective. ``"paper"`` does as the paper does: ρ is
    constant, a w step ends when it changes its objective by less than 10⁻⁵, and it stops at a relative change of w
    below `tol`. Stopping that early, for instance by a development set, is a regulariser too: weights leave zero only
    gradually, and the more copies a weight has, the more slowly.
    """

    tol: float = 1e-4
    rho: float | None = None
    stopping: Stopping = "certified"
    relaxation: float = 1.6
    threads: int = 1
    name: ClassVar[str] = "admm"
    requires: ClassVar[Requires] = (SMOOTH_LOSS, COORDINATES, SPLIT)

    def __post_init__(self) -> None:
        if self.stopping not in get_args(Stopping):
            raise ParsimonError(f"stopping is {self.stopping!r}; give {' or '.join(get_args(Stopping))}.")
        if self.rho is not None and not self.rho > 0:
            raise ParsimonError(f"rho must be above zero, not {self.rho}.")
        if not 0 < self.relaxation < 2:
            raise ParsimonError(f"over-relaxation must be between 0 and 2, not {self.relaxation}.")

    @property
    def resumable(self) -> bool:
        """Whether a fit may go on from its weights alone: where the paper's stopping ends, copies matter, too."""
        return self.stopping != "paper"

    def iterate(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        """Yields after every round: the best weights so far if certified, the present ones otherwise."""
        return (
            self._certified(problem, start) if self.stopping == "certified" else self._paper(problem, start)
        )

    def prepare(self, problem: Problem, start: Weights) -> tuple[Point, Split, Copies]:
        """The starting point, the penalty split into elastic net and groups, and the copies."""
        scores, split = COORDINATES.of(problem), SPLIT.of(problem).split(problem.n_features)
        relaxation = self.relaxation if self.stopping == "certified" else 1.0
        copies = Copies.of(split, problem.n_features, self.rho or 1.0, relaxation, self.threads)
        w = start.dense().copy()
        copies.copies = copies.counts * w  # so that the first w step stays near a warm start
        return Point.at(scores, w, scores.margins(w)), split, copies

    def _with_zeros(self, problem: Problem, best: Iterate, split: Split, floor: float) -> Iterate:
        """Sets the weights to zero of which a group has zero copies, if the certificate allows it.

        Copies become exactly zero, while weights only converge to them.
        """
        assert best.relevance is not None
        w = best.weights.dense().copy()
        w[split.member[np.repeat(best.relevance == 0, np.diff(split.ptr))]] = 0.0
        loss, _ = problem.loss_and_gradient(w)
        objective = loss + problem.penalty.value(w)
        if objective - floor > self.tol * abs(objective):
            return best
        return replace(best, weights=Weights(w, None, problem.n_features), objective=objective)

    def _paper(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        now, split, copies = self.prepare(problem, start)
        evaluations = 1
        here = Iterate(start, np.inf, evaluations, whole=False)
        while True:
            before = now.w
            now, used = yield from paused(
                minimise(problem.with_penalty(copies.pull(split.net)), now, PAPER_TOL), here
            )
            evaluations += used
            copies.update(now.w)
            change = _ratio(np.linalg.norm(now.w - before), np.linalg.norm(now.w))
            status = Status.CONVERGED if change <= self.tol else None
            reached = Iterate(
                Weights(now.w, None, problem.n_features),
                now.loss + split.net.value(now.w) + copies.value,
                evaluations,
                phase="ADMM",
                status=status,
                relevance=copies.relevance(),
            )
            yield reached
            if status is not None:
                return
            here = reached.within()

    def _certified(self, problem: Problem, start: Weights) -> Iterator[Iterate]:
        now, split, copies = self.prepare(problem, start)
        evaluations, floor, rounds, wait, tol = 1, -np.inf, 0, 0, FIRST_TOL
        best: Iterate | None = None
        here = Iterate(start, np.inf, evaluations, whole=False)
        while True:
            step = minimise(problem.with_penalty(copies.pull(split.net)), now, tol)
            now, used = yield from paused(step, here if best is None else best.within())
            evaluations, rounds, wait = evaluations + used, rounds + 1, wait + 1
            residuals = copies.update(now.w)
            objective = now.loss + split.net.value(now.w) + copies.value
            if best is None or objective < best.objective:
                weights = Weights(now.w, None, problem.n_features)
                best = Iterate(weights, objective, evaluations, relevance=copies.relevance())
            small = max(residuals.primal, residuals.dual)
            status, gap = None, None
            if rounds % LOOK == 0 or small < self.tol:
                floor = max(
                    floor, split_lower_bound(COORDINATES.of(problem), now.there, split.net, copies.dual())
                )
                gap = best.objective - floor
                if gap <= self.tol * abs(best.objective):
                    status = Status.CONVERGED
                    best = self._with_zeros(problem, best, split, floor)
                    gap = best.objective - floor
                elif small < ROUNDING:
                    status = Status.STALLED
            yield replace(
                best, evaluations=evaluations, gap=gap, phase=f"ρ = {copies.rho:.3g}", status=status
            )
            if status is not None:
                return
            tol = min(LOOSEST, max(RESIDUAL_SHARE * small**2, TIGHTEST))
            if wait >= LOOK and copies.balance(residuals):
                wait = 0


def minimise(problem: Problem, start: Point, tol: float) -> Generator[None, None, tuple[Point, int]]:
    """The w step: Newton steps until one lowers the objective by less than `tol` of it; with their number.

    Pauses after each.
    """
    now, objective = start, start.loss + problem.penalty.value(start.w)
    for steps in range(NEWTON_STEPS):
        violation = problem.penalty.violation(now.w, now.gradient)
        new = yield from newton_step(problem, now, violation, SOLVED)
        if new is None:
            return now, steps
        yield
        before, now = objective, new
        objective = new.loss + problem.penalty.value(new.w)
        if before - objective <= tol * abs(objective):
            return now, steps + 1
    return now, NEWTON_STEPS
