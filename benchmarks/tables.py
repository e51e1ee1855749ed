"""Results as Markdown: tables, numbers for people, and the marked blocks of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its columns aligned so that it reads well in a terminal too; numbers to the right."""
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if c == 0 else cell.rjust(w)
            for c, (cell, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * w if c == 0 else "-" * (w - 1) + ":") for c, w in enumerate(widths)]
    return "\n".join([line(head), line(rule), *map(line, rows)]) + "\n"


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


def replace_blocks(page: Path, blocks: dict[str, str]) -> list[str]:
    """Puts texts between `<!-- begin:NAME -->` and `<!-- end:NAME -->`; returns names that are not there."""
    text = page.read_text(encoding="utf-8")
    missing = []
    for name, content in blocks.items():
        block = re.compile(rf"(<!-- begin:{name} -->\n).*?(<!-- end:{name} -->)", re.DOTALL)
        if not block.search(text):
            missing.append(name)
        text = block.sub(lambda found, content=content: f"{found[1]}\n{content}\n{found[2]}", text)  # type: ignore[misc]
    page.write_text(text, encoding="utf-8")
    return missing
