"""How much longer training will take: an estimate where there is ground for one, and else none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsimon.solvers.base import Event

CERTIFICATES = 5  # residuals that there must be before a trend is trusted
RECENT = 20  # iterations whose pace is taken for that of the next ones


@dataclass
class TimeLeft:
    """Watches a training and says when it will end, by the first of its limits.

    A time limit is certain. Within a fit, a limit of iterations goes by the pace of the last ones, and convergence by
    the trend of the optimality residuals: they fall about exponentially, to `end` of the first. Of a training
    in many parts, what is left goes by the time that the parts have taken.
    """

    time_limit: float | None = None
    max_iter: int | None = None  # of the fit on its way
    end: Callable[[float], float] | None = (
        None  # the last residual, given the first; None where it is not known
    )
    _seconds: list[float] = field(default_factory=list)
    _residuals: list[tuple[float, float]] = field(default_factory=list)  # (seconds, log residual)
    _shares: list[tuple[float, float]] = field(default_factory=list)  # (seconds, share that is done)

    def see(self, event: Event) -> None:
        """Takes an event in."""
        self._seconds.append(event.seconds)
        if event.kkt is not None and event.kkt > 0:
            self._residuals.append((event.seconds, math.log(event.kkt)))

    def fit(self, max_iter: int | None, end: Callable[[float], float] | None) -> None:
        """A solver begins: nothing is known of its pace."""
        self.max_iter, self.end = max_iter, end
        self._seconds.clear()
        self._residuals.clear()

    def phase(self, now: float, done: float | None) -> None:
        """Something else begins; `done` is the share of the training that is done by then, if that is known."""
        self.fit(None, None)
        if done is None:
            self._shares.clear()
        else:
            self._shares.append((now, done))

    def seconds(self, now: float) -> float | None:
        """Seconds from `now` (on the events' clock) to the end, or ``None`` when nothing can be said."""
        trend = self._trend()
        if trend is not None and trend < now:  # it was wrong: better to say nothing
            trend = None
        in_parts = self._in_parts(now)
        of_fit = (self._iterations(), trend) if not self._shares else (in_parts,)
        ends = [end for end in (self.time_limit, *of_fit) if end is not None]
        return max(min(ends) - now, 0.0) if ends else None

    def _in_parts(self, now: float) -> float | None:
        """When all parts are done, at the pace of those that are."""
        if len(self._shares) < 2:
            return None
        (first, none), (last, some) = self._shares[0], self._shares[-1]
        if some <= none:
            return None
        return max(first + (last - first) / (some - none) * (1 - none), now)

    def _iterations(self) -> float | None:
        if self.max_iter is None or len(self._seconds) < 3:
            return None
        recent = self._seconds[-RECENT:]
        pace = (recent[-1] - recent[0]) / (len(recent) - 1)
        return self._seconds[-1] + pace * max(self.max_iter + 1 - len(self._seconds), 0)

    def _trend(self) -> float | None:
        """Where the line through the later half of the residuals reaches the last."""
        if self.end is None or len(self._residuals) < CERTIFICATES:
            return None
        goal = math.log(self.end(math.exp(self._residuals[0][1])))
        recent = self._residuals[-max(len(self._residuals) // 2, 3) :]
        t = [point[0] for point in recent]
        r = [point[1] for point in recent]
        middle, level = sum(t) / len(t), sum(r) / len(r)
        spread = sum((x - middle) ** 2 for x in t)
        slope = sum((x - middle) * (y - level) for x, y in zip(t, r, strict=True)) / spread if spread else 0.0
        return None if slope >= 0 else middle + (goal - level) / slope
