"""Markdown for generated pages: tables, and replacing the marked blocks of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with padded columns, so that the source is readable, too; all but the first align right."""
    widths = [
        max(2, *(len(row[c]) for row in [head, *rows])) for c in range(len(head))
    ]  # a rule is at least -:

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if c == 0 else cell.rjust(w)
            for c, (cell, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * w if c == 0 else "-" * (w - 1) + ":") for c, w in enumerate(widths)]
    return "\n".join([line(head), line(rule), *map(line, rows)]) + "\n"


def replace_blocks(page: Path, blocks: dict[str, str]) -> list[str]:
    """Replace the text between `<!-- begin:NAME -->` and `<!-- end:NAME -->`; returns the names that are missing."""
    text = page.read_text(encoding="utf-8")
    missing = []
    for name, content in blocks.items():
        block = re.compile(rf"(<!-- begin:{name} -->\n).*?(<!-- end:{name} -->)", re.DOTALL)
        if not block.search(text):
            missing.append(name)
        text = block.sub(lambda found, content=content: f"{found[1]}\n{content}\n{found[2]}", text)  # type: ignore[misc]
    page.write_text(text, encoding="utf-8")
    return missing
