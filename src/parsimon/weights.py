"""A weight vector of which few entries are other than zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError

State = Mapping[str, Array | IntArray]  # by names that a solver gives them


class DamagedState(ParsimonError):
    """A state that no solver can have given. Whoever read it from a file says which file that is."""


@dataclass(frozen=True)
class Weights:
    """A weight vector of which only some entries can be other than zero.

    ``features`` are ascending feature numbers, or ``None`` when ``values`` has all of them. ``state`` gives what else a
    solver needs in order to go on from here as if there had been no break, if it can; ask for it before it moves on.
    """

    values: Array
    features: IntArray | None
    n_features: int
    state: Callable[[], State] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def zeros(cls, n_features: int) -> Weights:
        """No feature at all."""
        return cls(np.zeros(0), np.zeros(0, np.int64), n_features)

    @property
    def n_active(self) -> int:
        """How many weights are not zero."""
        return int(np.count_nonzero(self.values))

    def dense(self) -> Array:
        """All entries."""
        if self.features is None:
            return self.values
        w = np.zeros(self.n_features)
        w[self.features] = self.values
        return w

    def nonzero(self) -> Weights:
        """The same vector with its zeros left out."""
        kept = np.flatnonzero(self.values)
        features = kept if self.features is None else self.features[kept]
        return Weights(self.values[kept], features.astype(np.int64), self.n_features)

    def without_small(self, share: float) -> Weights:
        """Without weights below this share of the root mean square of those that are not zero."""
        left = self.nonzero()
        if not len(left.values):
            return left
        least = share * float(np.sqrt(np.mean(left.values**2)))
        return replace(left, values=np.where(np.abs(left.values) < least, 0.0, left.values)).nonzero()

    def at(self, features: IntArray) -> Array:
        """The entries at the given (ascending) features."""
        if self.features is None:
            return self.values[features]
        out = np.zeros(len(features))
        if len(self.features):
            at = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
            known = self.features[at] == features
            out[known] = self.values[at[known]]
        return out
