"""The exception for errors in the user's input."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

LOOKED_AT = 10_000  # names; comparing takes some 20 µs each


class ParsimonError(ValueError):
    """An error in the user's input. The message is one sentence that says what is wrong, where, and how to fix it.

    The command line prints the message without a traceback and exits with code 2.
    """


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, to ask whether that was meant; None if none is like it.

    >>> nearest("uposs", ["upos", "form"])
    'upos'
    """
    from difflib import get_close_matches

    short = (each for each in islice(known, LOOKED_AT) if len(each) <= 2 * len(name) + 10)
    return next(iter(get_close_matches(name, short, n=1)), None) if len(name) <= 100 else None
