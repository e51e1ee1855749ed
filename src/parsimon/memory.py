"""A limit on memory that is kept to: what does not fit ends with one sentence, not with a machine that swaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from parsimon.errors import ParsimonError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text: str) -> int:
    """Bytes from a number with a unit.

    >>> parse_size("4G"), parse_size("1.5 MB")
    (4294967296, 1572864)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None or not float(match[1]) > 0:
        raise ParsimonError(f"a size is a number with a unit, such as 500M or 4G, not {text!r}.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def format_size(size: float) -> str:
    """For people.

    >>> format_size(4 << 30)
    '4 GB'
    """
    for unit in ("G", "M", "K"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.3g} {unit}B"
    return f"{int(size)} bytes"


@contextmanager
def at_most(limit: int | None) -> Iterator[None]:
    """Within it the process gets no more memory than so many bytes; asking for more ends in a `ParsimonError`.

    What counts is memory that the process has to itself, data and heap, not code and files (Linux: RLIMIT_DATA). A
    limit that the system has set already is never raised.
    """
    if limit is None:
        yield
        return
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, AttributeError):
        raise ParsimonError("this system has no limits on memory; leave the limit out.") from None
    lowest = min(each for each in (limit, soft, hard) if each != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    except MemoryError:
        raise ParsimonError(
            f"training needs more than {format_size(limit)} of memory; allow more, or use fewer templates, "
            "a cutoff of 2 or seen candidates."
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
