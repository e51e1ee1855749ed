"""Pages in a directory, and the values that their records have, in a table."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from parsimon.characters.encodings import decoded
from parsimon.errors import ParsimonError
from parsimon.files import read_page_file
from parsimon.tasks.pages.page import Page, read_page

ENDINGS = (".html", ".htm", ".xhtml")
# Any of the tags that nearly all pages have, in any encoding that contains ASCII (UTF-16 without its zeros).
_TAG = re.compile(
    rb"<(?:!doctype|html|head|title|meta|body|div|span|p|a|br|table|t[dhr]|ul|ol|li|dl|h[1-6]|main|section|article)\b",
    re.IGNORECASE,
)
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
    contents = {name: _content(file) for name, file in files.items()}
    check_html(contents, str(source))
    return {name: read_page(content, encoding=encoding) for name, content in contents.items()}


def check_html(contents: Mapping[str, bytes], where: str) -> None:
    """Refuses files of which none has a tag of HTML: they are something else."""
    if not any(_TAG.search(content.replace(b"\0", b"")) for content in contents.values()):
        what = (
            "is no web page, as it has no"
            if len(contents) == 1
            else "has no web pages, as no file there has a"
        )
        raise ParsimonError(f"{where} {what} tag of HTML; give a page or a directory of pages.")


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
    text = decoded(_content(path), encoding, str(path))
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
