"""Web pages of ten sites about basketball players, with the values that each page gives of four attributes.

A sample of the structured web data extraction data set (SWDE; Hao, Cai, Pang & Zhang 2011). A page has one record; its
values are texts of the page, letter for letter.
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
    """A page and the record on it."""

    site: str
    id: str
    html: str
    values: dict[str, tuple[str, ...]]  # by attribute; attributes that the page does not have are left out


def load_web_records(path: str | os.PathLike[str] | None = None) -> list[WebRecord]:
    """All pages in the order of sites and numbers; `path` is that of an archive that is not the registered one."""
    source = archive("swde") if path is None else Path(path)
    values: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for inner, text in texts_in(source, "*/groundtruth/*.txt", "utf-8-sig").items():
        _add_values(inner, text, values)
    records = []
    for inner, html in texts_in(source, "*.htm").items():
        found = _PAGE.search(inner)
        if found is None:
            raise ParsimonError(f"{inner} in {source} is not named as pages are, site(n)/0000.htm.")
        site, number = found["site"], found["id"]
        records.append(WebRecord(site, number, html, values.get((site, number), {})))
    return records


def _add_values(inner: str, text: str, values: dict[tuple[str, str], dict[str, tuple[str, ...]]]) -> None:
    """A table of one site and attribute: a line that names both, one of counts, then a line for every page."""
    lines = text.splitlines()
    head = lines[0].split("\t") if lines else []
    if len(head) != 3:
        raise ParsimonError(
            f"{inner}, line 1: there must be a vertical, a site and an attribute with tabs between."
        )
    _, site, attribute = head
    for number, line in enumerate(lines[2:], start=3):
        if not line.strip():
            continue
        page, *rest = line.split("\t")
        if len(rest) < 2:
            raise ParsimonError(
                f"{inner}, line {number}: there must be a page, a count and values with tabs between."
            )
        found = tuple(unescape(value).strip() for value in rest[1:] if value.strip() not in ("", _NULL))
        if found:
            values.setdefault((site, page), {})[attribute] = found
