"""Pages in a directory, and the values that their records have, in a table."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from parsimon.errors import ParsimonError
from parsimon.files import read_page_file, read_text_file
from parsimon.tasks.pages.page import Page, read_page

ENDINGS = (".html", ".htm", ".xhtml")
_CELLS = ("page", "attribute", "value")

Values = dict[str, dict[str, list[str]]]  # by page and attribute


def read_pages(path: str | os.PathLike[str], *, encoding: str | None = None) -> dict[str, Page]:
    """The pages of a directory and of those inside it, by their names there; or one page, if `path` is a file.

    >>> from pathlib import Path
    >>> from parsimon.tasks.pages.reading import read_pages
    >>> Path("site").mkdir()
    >>> _ = Path("site/jo.html").write_text("<h1>Jo</h1><p>Height: 6-5</p>")
    >>> [(name, len(page)) for name, page in read_pages("site").items()]
    [('jo.html', 3)]
    """
    source = Path(path)
    if not source.exists():
        raise ParsimonError(f"{source} cannot be read: there is no such file or directory.")
    files = {source.name: source}
    if source.is_dir():
        found = (file for file in source.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
        files = dict(sorted((file.relative_to(source).as_posix(), file) for file in found))
        if not files:
            raise ParsimonError(f"{source} has no pages; their names must end in {', '.join(ENDINGS)}.")
    return {name: read_page(_content(file), encoding=encoding) for name, file in files.items()}


def _content(file: Path) -> bytes:
    try:
        return read_page_file(file)
    except OSError as error:
        raise ParsimonError(f"{file} cannot be read: {error.strerror or error}.") from error


def read_values(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Values:
    """A table with the columns page, attribute and value, and commas, tabs or semicolons between.

    An attribute with several values has a line for each.

    >>> from pathlib import Path
    >>> from parsimon.tasks.pages.reading import read_values
    >>> _ = Path("values.csv").write_text("page,attribute,value\\njo.html,name,Jo\\njo.html,height,6-5\\n")
    >>> read_values("values.csv")
    {'jo.html': {'name': ['Jo'], 'height': ['6-5']}}
    """
    rows = _rows(Path(path), encoding)
    line, names = next(rows, (1, []))
    order = [name.strip().lower() for name in names]
    if sorted(order) != sorted(_CELLS):
        raise ParsimonError(
            f"{path}, line {line}: the columns of the table must be page, attribute and value, but they are "
            f"{', '.join(map(repr, names)) or 'none'}."
        )
    values: Values = {}
    seen: set[tuple[str, str, str]] = set()
    for line, cells in rows:
        if len(cells) != len(order):
            raise ParsimonError(
                f"{path}, line {line}: there must be 3 cells, {', '.join(order)}, but there are {len(cells)}."
            )
        row = dict(zip(order, (cell.strip() for cell in cells), strict=True))
        empty = next((name for name, cell in row.items() if not cell), None)
        if empty is not None:
            raise ParsimonError(
                f"{path}, line {line}: the {empty} is empty; leave out the line if the page has no such value."
            )
        found = values.setdefault(row["page"], {}).setdefault(row["attribute"], [])
        cell = row["page"], row["attribute"], row["value"]
        if cell not in seen:
            seen.add(cell)
            found.append(row["value"])
    if not values:
        raise ParsimonError(
            f"{path} has no values; there must be a line for each, below the names of columns."
        )
    return values


def _rows(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not blank, with their numbers and their cells."""
    try:
        content = read_text_file(path)
        text = content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except OSError as error:
        raise ParsimonError(f"{path} cannot be read: {error.strerror or error}.") from error
    except LookupError:
        raise ParsimonError(f"there is no encoding called {encoding!r}; utf-8 and latin-1 are two.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParsimonError(f"{path}, line {line}: this is not {encoding}; name the encoding.") from None
    head = text.split("\n", 1)[0]
    separator = max("\t;,", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise ParsimonError(f"{path}, line {reader.line_num}: {error}; check the quotes.") from None


def check_values(pages: Mapping[str, Page], values: Values, where: str, table: str) -> None:
    """Refuses a table that speaks of no page there is: names of pages must be those in the directory."""
    if pages and not any(name in values for name in pages):
        raise ParsimonError(
            f"{table} has no values of any page in {where}: it speaks of {next(iter(values))!r}, but pages are called "
            f"{next(iter(pages))!r}; they must be named as in the directory."
        )
