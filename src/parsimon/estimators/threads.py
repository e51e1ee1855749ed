"""From scikit-learn's `n_jobs` to a number of threads."""

from __future__ import annotations

import os

from parsimon.errors import ParsimonError


def threads_of(n_jobs: int | None) -> int:
    """One for ``None``; all processors for −1, all but one for −2, and so on."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParsimonError("n_jobs must not be 0; use 1 for one thread or -1 for all processors.")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
