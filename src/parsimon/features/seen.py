"""What templates see of sequences, before it is looked up which attributes that makes.

Prediction needs no attributes where their weights can be found at once (see `designs/template_scores.py`), so rows of
them are only made when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon._core import Extractor
from parsimon.arrays import IntArray
from parsimon.features.observations import Rows


@dataclass(frozen=True)
class Seen:
    """The columns that templates look at, after their transforms, as numbers of strings; −1 for unknown ones."""

    inputs: IntArray  # (n_inputs, n_tokens) int32
    before: IntArray  # (n_inputs, reach): one, two, … tokens before the first
    after: IntArray
    offsets: IntArray  # (n_sequences + 1,)

    @property
    def arrays(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """In the order in which the core takes them."""
        return self.inputs, self.before, self.after, self.offsets

    def part(self, first: int, last: int) -> Seen | None:
        """The sequences of the tokens from `first` to before `last`; None if these are not whole sequences."""
        begin, end = np.searchsorted(self.offsets, [first, last])
        if end == len(self.offsets) or self.offsets[begin] != first or self.offsets[end] != last:
            return None
        inputs = np.ascontiguousarray(self.inputs[:, first:last])
        return Seen(inputs, self.before, self.after, self.offsets[begin : end + 1] - first)


class SeenRows(Rows):
    """Rows of known attributes that are looked up when they are first asked for."""

    def __init__(self, extractor: Extractor, seen: Seen, skip: int, threads: int) -> None:
        vars(self).update(extractor=extractor, seen=seen, skip=skip, threads=threads, value=None)

    extractor: Extractor
    seen: Seen
    skip: int  # tokens at the start of each sequence that have none
    threads: int

    @cached_property
    def _found(self) -> tuple[IntArray, IntArray]:
        return self.extractor.apply(*self.seen.arrays, self.skip, self.threads)

    @property
    def start(self) -> IntArray:
        """(n_rows + 1,) int64."""
        return self._found[0]

    @property
    def index(self) -> IntArray:
        """Attribute numbers, int32."""
        return self._found[1]

    def __len__(self) -> int:
        return int(self.seen.inputs.shape[1])

    def __getitem__(self, rows: slice) -> Rows:
        first, last, _ = rows.indices(len(self))
        if first == 0 and last == len(self):
            return self
        part = self.seen.part(first, last)
        if part is None:
            return super().__getitem__(rows)
        return SeenRows(self.extractor, part, self.skip, self.threads)
