r"""Text from files as people see it: what would steer the terminal is shown, not obeyed.

A label or a file name may have escape sequences in it, which clear the screen or rename the window; controls of
direction, which show text in another order than it has; or line breaks, which forge a line of a table.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["json_text", "one_line", "printable", "shortened"]

# C0 without tab and line feed, DEL, C1; then the controls of direction, and separators of lines and paragraphs.
_DIRECTIONS = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_STEERING = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTIONS}]")
_STEERING_OR_BREAK = re.compile(rf"[\x00-\x1f\x7f-\x9f{_DIRECTIONS}]")
_IN_JSON = re.compile(rf"[\x7f-\x9f{_DIRECTIONS}]")  # JSON itself escapes C0
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    r"""The text with characters that steer a terminal written as escapes; tabs and line breaks stay.

    >>> print(printable("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return _STEERING.sub(_escape, text)


def one_line(text: str) -> str:
    r"""The same for what must stay in its place in a line or a table, line breaks and tabs included.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return _STEERING_OR_BREAK.sub(_escape, text)


def json_text(value: Any) -> str:
    r"""JSON in one line, in UTF-8 as far as that is harmless; what steers a terminal is escaped, as JSON can.

    >>> print(json_text({"é": "\u202e"}))
    {"é": "\u202e"}
    """
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long.

    >>> shortened("abcdefghij", 7)
    'abc … j'
    """
    return text if len(text) <= most else f"{text[: most - 4]} … {text[len(text) - 1 :]}"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
