"""Numbers for people, as the tables of benchmarks show them."""

from __future__ import annotations


def seconds(value: float | None) -> str:
    """Three digits are enough for anybody."""
    if value is None:
        return "–"
    return (
        f"{value * 1000:.0f} ms"
        if value < 1
        else f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} s"
    )


def times(value: float | None) -> str:
    """A ratio."""
    return "–" if value is None else f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}×"


def megabytes(value: float | None) -> str:
    """Peak memory; a dash when it was too little to be measured."""
    return "–" if value is None else f"{value:,.0f} MB"


def size(n_bytes: float) -> str:
    """The size of a file."""
    return f"{n_bytes / 1e6:.2f} MB"


def whole(value: float | None) -> str:
    """A count."""
    return "–" if value is None else f"{value:,.0f}"
