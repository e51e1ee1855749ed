"""The exception for errors in the user's input."""

from __future__ import annotations


class ParsimonError(ValueError):
    """An error in the user's input. The message is one sentence that says what is wrong, where, and how to fix it.

    The command line prints the message without a traceback and exits with code 2.
    """
