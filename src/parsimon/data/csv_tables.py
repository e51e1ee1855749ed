"""Reading text tables with comma-, tab- or semicolon-separated cells and a header line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from parsimon.characters.encodings import decoded
from parsimon.data.bins import is_measured
from parsimon.data.discrete_table import without
from parsimon.errors import ParsimonError
from parsimon.files import read_text_file

SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";"}
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"})
SAMPLE = 1 << 16  # characters from which the separator is told
MAX_FRACTIONAL_STATES = (
    10  # a column of numbers with fractions is discrete only up to this many distinct values
)


@dataclass(frozen=True)
class CsvTable:
    """The cells of a file, as text; but numbers in columns that are to be cut into bins, and None if missing."""

    names: tuple[str, ...]
    rows: list[list[Any]]
    dropped: int = 0  # rows that had a missing value


def read_table(
    source: str | Path,
    *,
    separator: str | None = None,
    header: bool = True,
    missing: str = "refuse",
    encoding: str = "utf-8",
    discrete: bool = True,
    drop: Sequence[str] = (),
    bins: int | None = None,
) -> CsvTable:
    """Read a table; ``-`` is standard input. If it must be `discrete`, columns of measurements are refused.

    Columns to `drop` are left out. Rows with a `missing` value are refused ("refuse") or left out ("drop"); or the
    value becomes None ("state"). Columns of measurements become numbers if they are to be cut into `bins`.

    Without `separator`, the separator (comma, tab or semicolon) is detected from the first lines. Cells that are
    empty or contain ?, NA, NaN or NULL count as missing.

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
        raise ParsimonError(
            f"{name} is empty; it should have a line of column names, then one row per line."
        ) from None
    names = (
        _names(cells, name, first, _UNNAMED if discrete else _NAMED)
        if header
        else tuple(f"x{j}" for j in range(1, len(cells) + 1))
    )
    width = len(names)
    names, kept = without(names, range(width), drop)
    rows: list[list[Any]] = []
    dropped = 0
    for line, row in lines if header else chain([(first, cells)], lines):
        if len(row) != width:
            raise ParsimonError(
                f"{name}, line {line}: {len(row)} cell{'s' * (len(row) != 1)}, but line {first} has {width}; "
                "every row needs a cell for each column."
            )
        row = [row[j] for j in kept]
        empty = next((j for j, cell in enumerate(row) if cell in MISSING), None)
        if empty is None:
            rows.append(row)
        elif missing == "state":
            rows.append([None if cell in MISSING else cell for cell in row])
        elif missing == "drop":
            dropped += 1
        else:
            raise ParsimonError(
                f"{name}, line {line}: the value of {names[empty]!r} is missing; fill it in, leave such rows "
                "out (missing='drop'), or make missing values a state (missing='state')."
            )
    if not rows:
        what = "no row without a missing value" if dropped else "a line of names but no rows"
        raise ParsimonError(f"{name} has {what}; there is nothing to learn from.")
    if bins is not None:
        _numbers(rows, len(names), bins)
    if discrete:
        _refuse_continuous(names, rows, name)
    return CsvTable(names, rows, dropped)


def _text(source: str | Path, name: str, encoding: str) -> str:
    try:
        content = read_text_file(source)
    except OSError as error:
        raise ParsimonError(f"{name} cannot be read: {error.strerror or error}.") from error
    return decoded(content, encoding, name)


def _separator(text: str) -> str:
    """The separator in the first line; of several, the one by which most rows have as many cells as the first."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    candidates = [each for each in SEPARATORS.values() if each in first]
    if len(candidates) < 2:
        return candidates[0] if candidates else ","
    # Not csv.Sniffer, whose time grows with the square of the text.
    return max(candidates, key=lambda each: (_agreement(text[:SAMPLE], each), first.count(each)))


def _agreement(text: str, separator: str) -> float:
    """The share of the rows that have as many cells as the first, if that has several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        widths = [len(row) for row in reader if row]
    except csv.Error:
        return 0.0
    if len(text) == SAMPLE and len(widths) > 1:  # the last row may have been cut
        widths.pop()
    return widths.count(widths[0]) / len(widths) if widths[0] > 1 else 0.0


def _records(text: str, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The line number and the trimmed cells of every line that is not blank."""
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
        if any(cells) or len(cells) > 1:  # a blank line has no cell, or a single blank one
            yield reader.line_num, cells


_UNNAMED = ", or read the table with header=False if this is a row"
_NAMED = ""  # tables of numbers always have names


def _names(cells: list[str], name: str, line: int, otherwise: str) -> tuple[str, ...]:
    """The names in the first line; `otherwise` is what to do if there are none."""
    seen: set[str] = set()
    for j, cell in enumerate(cells):
        if not cell:
            raise ParsimonError(f"{name}, line {line}: column {j + 1} has no name; name it{otherwise}.")
        if cell in seen:
            raise ParsimonError(
                f"{name}, line {line}: two columns are called {cell!r}; give each its own name{otherwise}."
            )
        seen.add(cell)
    if (number := _measured(cells)) is not None:
        raise ParsimonError(
            f"{name}, line {line}: there is the number {number} where the name of a column should be; add a line of "
            f"names{otherwise}."
        )
    return tuple(cells)


def _measured(cells: list[str]) -> str | None:
    """A number that is no name of a column: with a fraction or a sign, or not in the order in which columns count."""
    last = -1.0
    for cell in cells:
        if _NUMBER.fullmatch(cell) is None:
            continue
        if not cell.isdigit() or float(cell) <= last:
            return cell
        last = float(cell)
    return None


_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


def _numbers(rows: list[list[Any]], width: int, bins: int) -> None:
    """Makes numbers of the cells of columns that will be cut into bins; other columns stay text."""
    for j in range(width):
        texts = {row[j] for row in rows if row[j] is not None}
        if all(map(_is_number, texts)) and is_measured({float(each) for each in texts}, bins):
            for row in rows:
                row[j] = None if row[j] is None else float(row[j])


def _refuse_continuous(names: tuple[str, ...], rows: list[list[Any]], name: str) -> None:
    """Reject columns of numbers with fractions and many distinct values: they are measurements, not states."""
    for j, column in enumerate(names):
        values = {row[j] for row in rows if isinstance(row[j], str)}
        if len(values) > MAX_FRACTIONAL_STATES and all(map(_is_number, values)):
            texts = (row[j] for row in rows if isinstance(row[j], str))
            fractional = next((v for v in texts if not float(v).is_integer()), None)
            if fractional is not None:
                raise ParsimonError(
                    f"{name}: the column {column!r} has {len(values)} distinct numbers such as {fractional}, but a "
                    f"network has discrete states; cut it into bins (bins=4), or leave it out (drop={column!r})."
                )


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
