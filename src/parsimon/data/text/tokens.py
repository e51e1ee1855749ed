"""Tokenisers: words, whitespace-separated tokens, or the user's own pattern or function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from parsimon.errors import ParsimonError
from parsimon.patterns import Pattern

__all__ = ["PATTERNS", "Tokeniser", "tokeniser"]

Tokeniser: TypeAlias = Callable[[str, int, int], Iterable[str]]
"""A function from a text and the offsets of a sentence in it to the tokens of the sentence."""

PATTERNS = {
    # Letters and digits, with apostrophes inside words (don't, O'Neill) and separators inside numbers (3.5, 1,000).
    "words": r"[^\W_]+(?:['’.,](?:(?<=['’])[^\W_]+|(?<=\d[.,])\d+))*",
    "whitespace": r"\S+",
}
"""The named tokenisers as regular expressions. In both, a match is never given up, so `re` itself is quick enough."""


# A third faster on ASCII text, because matching a character needs no lookup in the Unicode tables.
_ASCII_WORDS = re.compile(PATTERNS["words"].replace(r"[^\W_]", "[a-zA-Z0-9]").replace(r"\d", "[0-9]"))
_WORDS = re.compile(PATTERNS["words"])
_NOT_SPACE = re.compile(PATTERNS["whitespace"])


def _words(text: str, begin: int, end: int) -> list[str]:
    return (_ASCII_WORDS if text.isascii() else _WORDS).findall(text, begin, end)


def tokeniser(tokens: str | Callable[[str], Iterable[str]]) -> Tokeniser:
    """The tokeniser for a name, a regular expression (the token is its group, if it has one), or a function.

    >>> find = tokeniser("words")
    >>> text = "Don't pay $3.50 _twice_!"
    >>> find(text, 0, len(text))
    ["Don't", 'pay', '3.50', 'twice']
    """
    if callable(tokens):
        function = tokens
        return lambda text, begin, end: function(text[begin:end])
    if tokens in ("words", PATTERNS["words"]):
        return _words
    if tokens in ("whitespace", PATTERNS["whitespace"]):
        return _NOT_SPACE.findall
    return _pattern(tokens).findall


def _pattern(tokens: str) -> Pattern:
    if re.fullmatch(r"[\w-]*", tokens):  # as a pattern, it would match only itself
        raise ParsimonError(
            f"there is no tokeniser called {tokens!r}; choose from {', '.join(PATTERNS)}, or give a regular "
            "expression such as [a-z]+, or a function."
        )
    try:
        pattern = Pattern(tokens)
    except re.error as error:
        raise ParsimonError(
            f"tokens is {tokens!r}, which is not a regular expression ({error}); give one such as [a-z]+."
        ) from error
    if pattern.groups > 1:
        raise ParsimonError(
            f"the pattern {tokens!r} of tokens has {pattern.groups} groups; use (?:…) for all but one of them."
        )
    if pattern.matches_nothing:
        raise ParsimonError(f"the pattern {tokens!r} of tokens matches the empty string; use + instead of *.")
    return pattern
