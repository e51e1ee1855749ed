"""A pattern that is matched in bounded time: with `re` where its work has a small bound, otherwise an automaton."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from parsimon.errors import ParsimonError
from parsimon.patterns.automaton import Automaton
from parsimon.patterns.one_pass import is_one_pass
from parsimon.patterns.program import Program, most_paths, parse, shortened

__all__ = ["Pattern"]

LONGEST_PATTERN = 20_000  # characters
PATHS = 1000  # that backtracking may try from one place in the text


class Pattern:
    """A regular expression in Python's syntax, with the same matches as `re`, in bounded time.

    How much backtracking can do on a text depends on the pattern and on the length of the text. Where that is little,
    `re` is the quickest way to match; what is longer goes to an automaton, whose time grows with the length alone.

    `groups` is the number of groups; `matches_nothing` says that the empty text matches.

    >>> Pattern("a*a*a*b").search("a" * 10_000) is None
    True
    """

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_PATTERN:
            raise ParsimonError(
                f"the pattern {shortened(text)} has {len(text):,} characters; it may have {LONGEST_PATTERN:,}."
            )
        tree = parse(text)
        self.text = text
        self._program = Program(text)
        self._re = re.compile(text)
        self.groups = self._re.groups
        self.matches_nothing = self._re.fullmatch("") is not None
        # The first length at which there are too many paths; they never get fewer as texts get longer.
        self._long = bisect_left(range(PATHS), True, key=lambda n: most_paths(tree, n, PATHS) > PATHS)

    @cached_property
    def automaton(self) -> Automaton:
        """What matches long texts."""
        return Automaton(self._program)

    @cached_property
    def _one_pass(self) -> bool:
        return is_one_pass(self._program)

    def backtracks(self, length: int) -> bool:
        """Whether a text of this length is long enough for backtracking to take its time."""
        if length >= self._long and self._one_pass:
            self._long = PATHS
        return length >= self._long

    def search(self, text: str) -> str | None:
        """The first part of a text that matches."""
        if len(text) < self._long or not self.backtracks(len(text)):
            found = self._re.search(text)
            return found and found[0]
        span = self.automaton.search(text, 0, len(text))
        return span and text[span[0] : span[1]]

    def findall(self, text: str, begin: int, end: int) -> list[str]:
        """All matches between two offsets, or the group of each, as `re.Pattern.findall` gives them."""
        if not self.backtracks(end - begin):
            return self._re.findall(text, begin, end)
        return self.automaton.findall(text, begin, end)
