"""Leaving out what cannot be read, and saying so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from parsimon.errors import ParsimonError, warn

Item = TypeVar("Item")

LISTED = 20  # mistakes in a message


def readable(
    items: Sequence[Item], read: Callable[[Sequence[Item]], object], mistakes: list[str]
) -> Iterator[Item]:
    """The items that can be read, by halves: few mistakes cost little, however many items there are.

    `read` raises `ParsimonError` for items of which one is bad; what it says of each alone goes to `mistakes`.

    >>> mistakes = []
    >>> def read(items):
    ...     if "bad" in items:
    ...         raise ParsimonError("an item is bad.")
    >>> list(readable(["a", "b", "bad", "c"], read, mistakes)), mistakes
    (['a', 'b', 'c'], ['an item is bad.'])
    """
    if not items:
        return
    try:
        read(items)
    except ParsimonError as error:
        if len(items) == 1:
            mistakes.append(str(error))
            return
        half = len(items) // 2
        yield from readable(items[:half], read, mistakes)
        yield from readable(items[half:], read, mistakes)
    else:
        yield from items


def mention_skipped(mistakes: Sequence[str], n_items: int, what: str, name: str) -> None:
    """Warns that items (`what` they are) were left out, with the first mistakes; refuses to go on with nothing."""
    if not mistakes:
        return
    told = f"{len(mistakes):,} of {n_items:,} {what} in {name}"
    if len(mistakes) == n_items:
        raise ParsimonError(f"none of the {n_items:,} {what} in {name} can be used: {mistakes[0]}")
    more = len(mistakes) - LISTED
    lines = [*mistakes[:LISTED], *([f"and {more:,} more."] if more > 0 else [])]
    warn(
        f"{told} {'is' if len(mistakes) == 1 else 'are'} left out:\n"
        + "\n".join(f"  {line}" for line in lines)
    )
