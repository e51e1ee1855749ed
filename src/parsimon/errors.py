"""The exception for errors in the user's input, and the warning for what is allowed but hardly wanted."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from itertools import count, islice

LOOKED_AT = 10_000  # names; comparing takes some 20 µs each


class ParsimonError(ValueError):
    """An error in the user's input. The message is one sentence that says what is wrong, where, and how to fix it.

    The command line prints the message without a traceback and exits with code 2.
    """


class ParsimonWarning(UserWarning):
    """Something that was done as asked, but is hardly what was wanted. The message is one sentence, too.

    The command line prints the message on standard error and goes on.
    """


def warn(sentence: str) -> None:
    """Warns the user; the warning points to the line outside of this package that led here.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("all documents are empty.")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('ParsimonWarning', 'all documents are empty.')
    """
    package = __name__.partition(".")[0]
    for level in count(1):  # of frames; the first is this function's
        try:
            name = sys._getframe(level).f_globals.get("__name__", "")
        except ValueError:  # there is no line outside
            break
        if name.partition(".")[0] != package:
            break
    warnings.warn(sentence, ParsimonWarning, stacklevel=level + 1)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, to ask whether that was meant; None if none is like it.

    >>> nearest("uposs", ["upos", "form"])
    'upos'
    """
    from difflib import get_close_matches

    short = (each for each in islice(known, LOOKED_AT) if len(each) <= 2 * len(name) + 10)
    return next(iter(get_close_matches(name, short, n=1)), None) if len(name) <= 100 else None
