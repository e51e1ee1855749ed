"""The states of online learners, as a checkpoint returns them: checked before a learner takes one over.

The core trusts a state as it trusts its own memory, and nobody can trust a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.weights import DamagedState, State

LARGEST = 1e100  # no number is, of those that are added up
BLOCK_NUMBERS, BLOCK_COUNTS, FURTHER_COUNTS = 5, 2, 4  # core/learners/weight_block.hpp, online_weights.hpp
Check: TypeAlias = Callable[..., bool]


@dataclass(frozen=True)
class Layout:
    """The arrays that a state is made of, in the order in which a learner takes them."""

    floats: Sequence[bool]  # whether an array has fractions; the others have whole numbers
    names: Sequence[str]
    check: Check  # of all arrays, in this order; the first has the features of weights

    def checked(self, state: State, n_features: int) -> list[Any]:
        """The arrays of a state; a `DamagedState` if no learner can have given it."""
        if set(state) != set(self.names):
            raise DamagedState("the state of the learner is of another solver.")
        arrays = [state[name] for name in self.names]
        for name, values, fractions in zip(self.names, arrays, self.floats, strict=True):
            _check_numbers(name, values, np.dtype(np.float64 if fractions else np.int64))
        features = arrays[0]
        if len(features) and not (
            np.all(np.diff(features) > 0) and features[0] >= 0 and features[-1] < n_features
        ):
            raise DamagedState("the state of the learner has features that do not exist.")
        if not self.check(*arrays):
            raise DamagedState("the state of the learner has numbers that do not fit together.")
        return arrays


def _check_numbers(name: str, values: Any, dtype: np.dtype[Any]) -> None:
    if values.dtype != dtype or values.ndim != 1:
        raise DamagedState(f"the {name} of the learner are of another type.")
    if dtype == np.float64 and not np.all(np.abs(values) <= LARGEST):  # nor are they NaN
        raise DamagedState(f"the {name} of the learner are not finite, or too large.")


def _running(features: IntArray, values: Array, drifts: Array, blocks: Array, counts: IntArray) -> bool:
    """Of `OnlineWeights`: five numbers and two counts a block, and four counts of the learner."""
    n_blocks, rest = divmod(len(blocks), BLOCK_NUMBERS)
    if rest or len(counts) != n_blocks * BLOCK_COUNTS + FURTHER_COUNTS or not n_blocks:
        return False
    scale, _, on_rows, on_entries, sums = blocks.reshape(n_blocks, BLOCK_NUMBERS).T
    since, touched = counts[:-FURTHER_COUNTS].reshape(n_blocks, BLOCK_COUNTS).T
    rounds, averaged_from, *flags = counts[-FURTHER_COUNTS:].tolist()
    return (
        len(features) == len(values) == len(drifts)
        and bool(np.all(scale > 0) and np.all((on_rows >= 0) & (on_entries >= 0) & (sums >= 0)))
        and bool(np.all((since >= 0) & (since <= rounds)) and np.all((touched == 0) | (touched == 1)))
        and 0 <= averaged_from <= rounds
        and set(flags) <= {0, 1}
    )


def _summed(features: IntArray, sums: Array, penalty: Array, rounds: IntArray) -> bool:
    """Of `SummedWeights`: what was taken off so far, a scale, and the rounds."""
    return (
        len(features) == len(sums)
        and penalty.shape == (2,)
        and bool(penalty[0] >= 0 and 0 < penalty[1] <= 1)
        and rounds.shape == (1,)
        and bool(rounds[0] >= 0)
    )


RUNNING = Layout(
    (False, True, True, True, False), ("features", "values", "drifts", "blocks", "counts"), _running
)
SUMMED = Layout((False, True, True, False), ("features", "sums", "penalty", "rounds"), _summed)
