"""Directories of pages and tables of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.pages.reading import check_values, read_pages, read_values


def test_pages_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text("<p>two</p>")
    (tmp_path / "a.htm").write_text("<p>one</p>")
    (tmp_path / "notes.txt").write_text("none")
    pages = read_pages(str(tmp_path))
    assert list(pages) == ["a.htm", "b.html"]
    assert "one" in pages["a.htm"].texts


@pytest.mark.parametrize("separator", [",", "\t"])
def test_values_by_page_and_attribute(tmp_path: Path, separator: str) -> None:
    table = tmp_path / "v.csv"
    rows = [("page", "attribute", "value"), ("a", "name", "Jo"), ("a", "name", "J."), ("b", "age", "7")]
    table.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_values(str(table)) == {"a": {"name": ["Jo", "J."]}, "b": {"age": ["7"]}}


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="cannot be read"):
        read_pages(str(tmp_path / "nowhere"))
    with pytest.raises(ParsimonError, match="has no pages"):
        read_pages(str(tmp_path))
    (tmp_path / "v.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParsimonError, match="page, attribute and value"):
        read_values(str(tmp_path / "v.csv"))
    (tmp_path / "b.html").write_text("<p>two</p>")
    with pytest.raises(ParsimonError, match="no values of any page"):
        check_values(read_pages(str(tmp_path)), {"a": {"name": ["Jo"]}}, "pages", "v.csv")
