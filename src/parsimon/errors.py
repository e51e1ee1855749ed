"""The one exception that a user's mistake raises."""

from __future__ import annotations


class ParsimonError(ValueError):
    """A mistake in what the user gave: one sentence that says what is wrong, where, and what would be right.

    The command line prints it without a traceback and exits with code 2.
    """
