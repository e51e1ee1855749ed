"""Scratch memory that is reused."""

from __future__ import annotations

import numpy as np

from parsimon.arrays import Array


class Workspace:
    """Scratch arrays by name. Fresh memory of such sizes costs as much as filling it, so it is kept.

    Batches of one problem share a workspace: the scores of one are gone when those of the next are made.
    """

    def __init__(self) -> None:
        self._memory: dict[str, Array] = {}
        self._others: list[Workspace] = []

    def of_worker(self, number: int) -> Workspace:
        """The workspace of one of several workers that are on batches at the same time; they are kept, too."""
        while len(self._others) < number:
            self._others.append(Workspace())
        return self if number == 0 else self._others[number - 1]

    def array(self, name: str, rows: int, columns: int) -> Array:
        """An uninitialised array that is valid until the next call with this name."""
        size = rows * columns
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = np.empty(size)
        return memory[:size].reshape(rows, columns)
