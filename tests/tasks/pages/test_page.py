"""Pages to trees: whatever the HTML is, and how labels and records go with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.parents import check_parents
from parsimon.errors import ParsimonError
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import (
    page_tree,
    text_sequence,
)
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import TEXT, Page, read_page

PIECES = [
    "<div>",
    "</div>",
    "<p",
    "class='a'>",
    "</p>",
    "<b>",
    "<br/>",
    "text",
    "<!--",
    "-->",
    "<script>x<y",
    "</script>",
    "<table><tr><td>",
    "<",
    ">",
    "&nbsp;",
    "&#0;",
    "&bogus;",
    "\x00",
    "<?pi>",
    "<a_href=x",
    "é",
    "]]>",
    "<style>",
    "</html>",
]


def check_page(page: Page) -> None:
    """Parents come first, only texts are leaves, and the columns make trees."""
    parent = np.array(page.parents, np.int64)
    check_parents(parent, np.array([len(page)]))
    assert (parent < np.arange(len(page))).all()
    inner = set(page.parents) - {-1}
    assert all((tag == TEXT) == (t not in inner) for t, tag in enumerate(page.tags))
    assert all(bool(text) == (tag == TEXT) for text, tag in zip(page.texts, page.tags, strict=True))
    assert len(text_sequence(page)) == len(page.leaves)
    if len(page):
        tree_columns([page_tree(page)])


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_broken_html_still_makes_a_tree(html: str) -> None:
    check_page(read_page(html))
    assert read_page(html.encode()) == read_page(html)


@given(st.binary(max_size=80))
def test_any_bytes_make_a_tree(data: bytes) -> None:
    check_page(read_page(data))


def test_bytes_of_which_the_parser_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As libxml2 before 2.14, which lxml 5 comes with."""
    from lxml import etree

    whole = etree.HTMLParser

    class Older:
        def __init__(self, encoding: str | None, **settings: Any) -> None:
            self._known, self._parser = encoding is not None, whole(encoding=encoding, **settings)

        def feed(self, data: bytes) -> None:
            self._parser.feed(data)

        def close(self) -> Any:
            return self._parser.close() if self._known else b"\x80".decode()

    monkeypatch.setattr(etree, "HTMLParser", Older)
    assert read_page(b"<p>\xe4").texts == ("ä",)


@pytest.mark.parametrize("html", ["", " ", "<!-- only -->", "<script>var x</script>", "<html></html>"])
def test_pages_without_text_have_no_nodes(html: str) -> None:
    assert len(read_page(html)) == 0


def test_what_is_not_shown_is_left_out() -> None:
    page = read_page("<p>one<script>no</script>two<!-- no -->three<style>no</style><i></i></p>")
    assert [text for text in page.texts if text] == ["one", "two", "three"]
    assert "i" not in page.tags


def test_pages_may_be_nested_deeply() -> None:
    page = read_page("<div>" * 5000 + "deep" + "</div>" * 5000 + "<p>after</p>")
    check_page(page)
    assert "deep" in page.texts


def test_encodings() -> None:
    assert "naïve" in read_page("<p>naïve".encode()).texts
    assert "naïve" in read_page("<p>naïve".encode("latin-1"), encoding="latin-1").texts
    said = b"<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'><p>na\xefve"
    assert "naïve" in read_page(said).texts
    with pytest.raises(ParsimonError, match="no encoding called 'klingon'"):
        read_page(b"<p>x", encoding="klingon")


def test_elements_with_one_child_make_way_for_it() -> None:
    html = "<div><p class=one><span><b>A</b></span></p><ul class=two><li>B<li>C</ul></div>"
    full, page = read_page(html, compact=False), read_page(html)
    check_page(full)
    assert full.tags == ("html", "body", "div", "p", "span", "b", TEXT, "ul", "li", TEXT, "li", TEXT)
    assert page.tags == ("div", TEXT, "ul", TEXT, TEXT)
    assert page.parents == (-1, 0, 0, 2, 2)
    assert page.paths[1] == full.paths[6] == ("html", "body", "div", "p", "span", "b")
    assert page.classes[1][-3:] == ("one", "", "")
    values = {"name": ["A"], "team": ["C"]}
    assert label_page(page, values) == ["record", "name", "record", "none", "team"]
    assert [label_page(full, values)[t] for t in full.leaves] == ["name", "none", "team"]
