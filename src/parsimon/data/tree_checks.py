"""Checks that heads form dependency trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.columns import offsets_of

__all__ = ["MISSING", "check_heads", "first_true"]

MISSING = -1
"""The head of a word without one."""


def check_heads(
    heads: IntArray,
    lengths: IntArray,
    *,
    where: Callable[[int], str],
    missing: bool = False,
    single_root: bool = False,
    written: Callable[[int], str] | None = None,
) -> None:
    """Raise an error for heads that do not form trees.

    A head must not be out of range, the word itself, part of a cycle, or missing (unless `missing` allows it). For the
    message, `where` gives the location of a word and `written` the head as it is written there.

    >>> heads, lengths = np.array([2, 0, 2, 1]), np.array([3, 1])
    >>> check_heads(heads, lengths, where=lambda token: f"word {token}")
    Traceback (most recent call last):
    parsimon.errors.ParsimonError: word 3: the word is its own head; it should be another word's number, or 0.
    """
    offsets = offsets_of(lengths)
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(heads)) - offsets[sentence_of] + 1
    length = np.asarray(lengths)[sentence_of]
    number = written or (lambda token: str(heads[token]))

    if (token := first_true(heads < MISSING)) is not None:
        raise ParsimonError(
            f"{where(token)}: the head {number(token)!r} is not a word number; it should be 0 to {length[token]}."
        )
    if (token := first_true(heads > length)) is not None:
        raise ParsimonError(
            f"{where(token)}: the head is {number(token)}, but the sentence has {_words(int(length[token]))}."
        )
    if (token := first_true(heads == position)) is not None:
        raise ParsimonError(
            f"{where(token)}: the word is its own head; it should be another word's number, or 0."
        )
    if not missing and (token := first_true(heads == MISSING)) is not None:
        raise ParsimonError(f"{where(token)}: the word has no head; it should be 0 to {length[token]}.")
    if (token := first_true(_in_cycle(heads, offsets[sentence_of]))) is not None:
        start = int(offsets[sentence_of[token]])
        cycle = _written(_cycle(heads[start : start + length[token]], token - start))
        raise ParsimonError(f"{where(token)}: the heads form a cycle, {cycle}, and never reach the root.")
    if single_root:
        roots = np.flatnonzero(heads == 0)
        if (i := first_true(sentence_of[roots[1:]] == sentence_of[roots[:-1]])) is not None:
            one, two = roots[i : i + 2].tolist()
            raise ParsimonError(
                f"{where(two)}: the words {position[one]} and {position[two]} both have the head 0; "
                "there should be only one root."
            )


def _words(n: int) -> str:
    return f"{n} word{'s' * (n != 1)}"


def _in_cycle(heads: IntArray, first: IntArray) -> BoolArray:
    """Which words do not reach the root (or a word without a head) by following heads."""
    root = len(heads)
    up = np.append(np.where(heads > 0, first + heads - 1, root), root)
    for _ in range(root.bit_length()):  # each round doubles the number of steps
        further = up[up]
        if np.array_equal(further, up):
            break
        up = further
    unrooted: BoolArray = up[:-1] != root
    return unrooted


def _cycle(heads: IntArray, word: int) -> list[int]:
    """The cycle that is reached by following heads from a word (counted from 0), with its first word repeated."""
    path, place = [word + 1], {word + 1: 0}
    while (head := int(heads[path[-1] - 1])) not in place:
        place[head] = len(path)
        path.append(head)
    return [*path[place[head] :], head]


def _written(cycle: list[int]) -> str:
    """A cycle for a message; of a long one, the beginning and the end."""
    numbers = [str(word) for word in cycle]
    return " → ".join(numbers if len(numbers) <= 12 else [*numbers[:9], "…", *numbers[-2:]])


def first_true(mask: BoolArray) -> int | None:
    """The first index at which a mask is true, or None."""
    return int(mask.argmax()) if mask.any() else None
