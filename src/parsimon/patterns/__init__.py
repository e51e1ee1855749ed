"""Regular expressions from users and from files, matched in bounded time.

Python's `re` backtracks: on some patterns the time it takes doubles with every character of the text. What a pattern
from a template file, a model file or an option is matched with is here: the same matches, without that.
"""

from parsimon.patterns.pattern import Pattern

__all__ = ["Pattern"]
