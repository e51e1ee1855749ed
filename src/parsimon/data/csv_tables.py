"""Tables in text files: commas, tabs or semicolons between cells, and names in the first line."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from parsimon.errors import ParsimonError

SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";"}
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"})
CONTINUOUS = 10  # numbers that are not whole are states if there are no more different ones than this


@dataclass(frozen=True)
class CsvTable:
    """The cells of a file, as text."""

    names: tuple[str, ...]
    rows: list[list[str]]
    dropped: int = 0  # rows that had a missing value


def read_table(
    source: str | Path,
    *,
    separator: str | None = None,
    header: bool = True,
    missing: Literal["refuse", "drop"] = "refuse",
    encoding: str = "utf-8",
) -> CsvTable:
    """Reads a table of discrete columns; ``-`` is standard input.

    Without a `separator`, it is whichever of comma, tab and semicolon the first lines have. Cells that are empty, ?,
    NA, NaN or NULL are missing.

    >>> from pathlib import Path
    >>> _ = Path("weather.csv").write_text("sky; wet\\ncloudy; yes\\nclear; no\\n")
    >>> read_table("weather.csv")
    CsvTable(names=('sky', 'wet'), rows=[['cloudy', 'yes'], ['clear', 'no']], dropped=0)
    """
    name = "standard input" if str(source) == "-" else str(source)
    text = _text(source, name, encoding)
    lines = _records(text, name, separator or _separator(text))
    try:
        first, cells = next(lines)
    except StopIteration:
        raise ParsimonError(f"{name} is empty; it should have a line of names, then a row a line.") from None
    names = _names(cells, name, first) if header else tuple(f"x{j}" for j in range(1, len(cells) + 1))
    rows, dropped = [], 0
    for line, row in lines if header else _and_then((first, cells), lines):
        if len(row) != len(names):
            raise ParsimonError(
                f"{name}, line {line}: {len(row)} cell{'s' * (len(row) != 1)}, but line {first} has {len(names)}; "
                "every row needs a cell for each column."
            )
        gap = next((j for j, cell in enumerate(row) if cell in MISSING), None)
        if gap is None:
            rows.append(row)
        elif missing == "drop":
            dropped += 1
        else:
            raise ParsimonError(
                f"{name}, line {line}: the value of {names[gap]!r} is missing; fill it in, or drop such rows "
                "(--missing drop)."
            )
    if not rows:
        what = "no row without a missing value" if dropped else "a line of names and no rows"
        raise ParsimonError(f"{name} has {what}; a network is learnt from rows.")
    _refuse_continuous(names, rows, name)
    return CsvTable(names, rows, dropped)


def _text(source: str | Path, name: str, encoding: str) -> str:
    try:
        content = sys.stdin.buffer.read() if str(source) == "-" else Path(source).read_bytes()
        return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except OSError as error:
        raise ParsimonError(f"{name} cannot be read: {error.strerror or error}.") from error
    except LookupError:
        raise ParsimonError(f"there is no encoding called {encoding!r}; utf-8 and latin-1 are two.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParsimonError(
            f"{name}, line {line}: this is not {encoding}; name the encoding (--encoding)."
        ) from None


def _separator(text: str) -> str:
    """Which of the three the first line has; if several, the sniffer of the csv module decides."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    there = [each for each in SEPARATORS.values() if each in first]
    if len(there) < 2:
        return there[0] if there else ","
    try:
        return csv.Sniffer().sniff(text[:65536], delimiters="".join(there)).delimiter
    except csv.Error:
        return max(there, key=first.count)


def _records(text: str, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not blank, with their numbers and their cells, trimmed."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ParsimonError(f"{name}, line {reader.line_num}: {error}; check the quotes.") from None
        if row is None:
            return
        cells = [cell.strip() for cell in row]
        if any(cells) or len(cells) > 1:  # a blank line has no cells, or one of blanks
            yield reader.line_num, cells


def _and_then(
    first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest


def _names(cells: list[str], name: str, line: int) -> tuple[str, ...]:
    for j, cell in enumerate(cells):
        if not cell:
            raise ParsimonError(
                f"{name}, line {line}: column {j + 1} has no name; name it, or use --no-header if this is a row."
            )
        if cell in cells[:j]:
            raise ParsimonError(
                f"{name}, line {line}: two columns are called {cell!r}; name them apart, or use --no-header if this "
                "is a row."
            )
    return tuple(cells)


def _refuse_continuous(names: tuple[str, ...], rows: list[list[str]], name: str) -> None:
    """Columns of numbers of which some are not whole and too many differ are measurements, not states."""
    for j, column in enumerate(names):
        values = {row[j] for row in rows}
        if len(values) > CONTINUOUS and all(map(_is_number, values)):
            broken = next((v for v in (row[j] for row in rows) if not float(v).is_integer()), None)
            if broken is not None:
                raise ParsimonError(
                    f"{name}: the column {column!r} has numbers such as {broken}, {len(values)} different ones, but a "
                    "network has discrete states; discretise it (into low, middle and high, say) or drop it."
                )


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
