"""A limit on the memory of the process: exceeding it raises an error instead of making the machine swap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parsimon.errors import ParsimonError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LARGEST_SIZE = 2**63  # beyond which the system has no number for it

NO_ROOM = "failed to map segment from shared object"  # how the system says that a library has no room


def parse_size(text: str) -> int:
    """The number of bytes in a size with a unit.

    >>> parse_size("4G"), parse_size("1.5 MB")
    (4294967296, 1572864)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None or not float(match[1]) > 0:
        raise ParsimonError(f"{text!r} is not a size; give a number with a unit, such as 500M or 4G.")
    size = float(match[1]) * UNITS[match[2].upper()]
    if size >= LARGEST_SIZE:
        raise ParsimonError(
            f"{text[:40]!r} is more memory than there can be; give a size such as 500M or 4G."
        )
    return int(size)


def format_size(size: float) -> str:
    """A human-readable size.

    >>> format_size(4 << 30)
    '4 GB'
    """
    for unit in ("G", "M", "K"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.3g} {unit}B"
    return f"{int(size)} bytes"


@contextmanager
def at_most(limit: int | None) -> Iterator[None]:
    """Limit the memory of the process to some number of bytes; exceeding the limit raises a `ParsimonError`.

    The limit applies to the private memory of the process (data and heap), not to code and files (Linux: RLIMIT_DATA).
    It never raises a limit that the system has already set.
    """
    if limit is None:
        yield
        return
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, AttributeError):
        raise ParsimonError("this system does not support memory limits; leave the limit out.") from None
    lowest = min(each for each in (limit, soft, hard) if each != resource.RLIM_INFINITY)
    _load_what_cannot_fail()
    used = memory_in_use()
    if used >= limit:
        raise ParsimonError(
            f"the limit is {format_size(limit)} of memory, but the program and the data take {format_size(used)} "
            "before training begins; allow more."
        )
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        try:
            yield
        finally:  # first of all, as there may be no memory left for the message
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and not str(error).endswith(NO_ROOM):
            raise
        raise ParsimonError(
            f"training needs more than {format_size(limit)} of memory; allow more, or use fewer templates, "
            "a cutoff of 2 or seen candidates."
        ) from None


def memory_in_use() -> int:
    """The bytes that the limit counts and that are taken already; zero where that is unknown."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:")), 0)


def _load_what_cannot_fail() -> None:
    """What ends the process instead of raising an error when there is no memory: the buffers of BLAS."""
    import numpy as np
    import numpy.random  # a library that is loaded when it is first used

    square = np.ones((64, 64))
    square @ square
