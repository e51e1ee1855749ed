"""Web pages about basketball players from ten sites, with the values of four attributes on each page.

This is a sample of the structured web data extraction data set (SWDE; Hao, Cai, Pang & Zhang 2011). A page has one
record, whose values are verbatim texts from the page.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from parsimon.data.registry import archive, texts_in
from parsimon.errors import ParsimonError

__all__ = ["WebRecord", "load_web_records"]

_NULL = "<NULL>"
_PAGE = re.compile(r"/[^/]*-(?P<site>[^/-]+)\(\d+\)/(?P<id>\d+)\.htm$")


@dataclass(frozen=True)
class WebRecord:
    """A page and its record."""

    site: str
    id: str
    html: str
    values: dict[str, tuple[str, ...]]  # by attribute; attributes that are not on the page are left out


def load_web_records(path: str | os.PathLike[str] | None = None) -> list[WebRecord]:
    """All pages in order of site and number; `path` may name an archive to use instead of the registered one."""
    source = archive("swde") if path is None else Path(path)
    values: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for inner, text in texts_in(source, "*/groundtruth/*.txt", "utf-8-sig").items():
        _add_values(inner, text, values)
    records = []
    for inner, html in texts_in(source, "*.htm").items():
        found = _PAGE.search(inner)
        if found is None:
            raise ParsimonError(
                f"{inner} in {source} is not a valid name for a page; it should look like site(n)/0000.htm."
            )
        site, number = found["site"], found["id"]
        records.append(WebRecord(site, number, html, values.get((site, number), {})))
    return records


def _add_values(inner: str, text: str, values: dict[tuple[str, str], dict[str, tuple[str, ...]]]) -> None:
    """Parse a table for one site and attribute: a line that names both, a line of counts, then one line per page."""
    lines = text.splitlines()
    head = lines[0].split("\t") if lines else []
    if len(head) != 3:
        raise ParsimonError(
            f"{inner}, line 1: there must be a vertical, a site and an attribute, separated by tabs."
        )
    _, site, attribute = head
    for number, line in enumerate(lines[2:], start=3):
        if not line.strip():
            continue
        page, *rest = line.split("\t")
        if len(rest) < 2:
            raise ParsimonError(
                f"{inner}, line {number}: there must be a page, a count and values, separated by tabs."
            )
        found = tuple(unescape(value).strip() for value in rest[1:] if value.strip() not in ("", _NULL))
        if found:
            values.setdefault((site, page), {})[attribute] = found
