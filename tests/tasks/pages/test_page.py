"""Pages to trees: whatever the HTML is, and how labels and records go with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import SequenceLabeler, TreeLabeler
from parsimon.data.parents import check_parents
from parsimon.errors import ParsimonError
from parsimon.features import TemplateSet
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import (
    ABOVE,
    BEFORE,
    CLASS,
    PAGE_TEMPLATES,
    PATH,
    PLACE,
    TIMES,
    TITLE,
    WORDS,
    page_tree,
    text_sequence,
)
from parsimon.tasks.pages.labels import label_page, record_of
from parsimon.tasks.pages.metrics import score_records
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


def test_columns() -> None:
    page = read_page("<title>Jo Doe</title><div id=Box12 class='x  y'>A<b>Jo</b>C<i>Jo</i></div>")
    nodes, parents = page_tree(page)
    box = page.tags.index("div")
    assert nodes[box][CLASS] == "box0.x.y"
    inside = [node for node, parent in zip(nodes, parents, strict=True) if parent == box]
    assert [node[PLACE] for node in inside] == ["0", "1", "2", "3"]
    assert [node[CLASS] for node in inside] == ["box0.x.y", "", "box0.x.y", ""]
    assert [node[ABOVE] for node in inside] == ["", "box0.x.y", "", "box0.x.y"]
    assert [node[BEFORE] for node in inside] == ["jo doe", "a", "jo", "c"]
    assert [node[TITLE] for node in inside] == ["none", "all", "none", "all"]
    assert [node[TIMES] for node in inside] == ["1", "2", "1", "2"]
    assert nodes[box][WORDS] == "a"
    assert text_sequence(page)[1:] == inside


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


def make_pages(n: int, seed: int) -> tuple[list[Page], list[dict[str, list[str]]]]:
    rng = np.random.default_rng(seed)
    pages, values = [], []
    for _ in range(n):
        height, weight = f"{rng.integers(5, 8)}-{rng.integers(0, 12)}", f"{rng.integers(160, 300)}"
        rows = [f"<tr><th>Height</th><td>{height}</td></tr>", f"<tr><th>Weight</th><td>{weight}</td></tr>"]
        rng.shuffle(rows)
        ads = "".join(f"<p>{rng.integers(160, 300)}</p>" for _ in range(3))
        pages.append(read_page(f"<body><div class=ads>{ads}</div><table>{''.join(rows)}</table>"))
        values.append({"height": [height], "weight": [weight]})
    return pages, values


def test_records_come_back() -> None:
    pages, values = make_pages(12, 0)
    labels = [label_page(page, record) for page, record in zip(pages, values, strict=True)]
    labeler = TreeLabeler(PAGE_TEMPLATES, kind_column=0, l1=0.2).fit(
        [page_tree(page) for page in pages], labels
    )
    test, wanted = make_pages(8, 1)
    found = labeler.predict([page_tree(page) for page in test])
    assert [record_of(page, each) for page, each in zip(test, found, strict=True)] == [
        {name: record[name] for name in record_of(page, each)}
        for page, each, record in zip(test, found, wanted, strict=True)
    ]
    assert all(len(record_of(page, each)) == 2 for page, each in zip(test, found, strict=True))


def test_texts_in_reading_order_suit_a_labeller_of_sequences() -> None:
    pages, values = make_pages(12, 0)
    labels = [
        [label_page(page, record)[t] for t in page.leaves] for page, record in zip(pages, values, strict=True)
    ]
    labeler = SequenceLabeler(TemplateSet.parse(f"U0:%x[0,{BEFORE}]\nU1:%x[0,{PATH}]\nB"), l1=0.2)
    labeler.fit([text_sequence(page) for page in pages], labels)
    assert labeler.score([text_sequence(page) for page in pages], labels) > 0.9


def test_scores_of_records() -> None:
    gold = [{"a": ["1", "2"], "b": ["x"]}, {"a": ["3"]}, {"a": [], "b": ["y"]}]
    scores = score_records(gold, [{"a": ["2", "1", "1"], "b": ["x"]}, {"a": ["4"], "c": ["z"]}, {"b": ["y"]}])
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx({"a": 2 * 2 / 6, "b": 1.0, "c": 0.0})
    assert scores.average_f1 == pytest.approx((2 / 3 + 1.0 + 0.0) / 3)
    assert score_records([], []).accuracy == score_records([], []).average_f1 == 0.0
    with pytest.raises(ParsimonError, match="3 records but predictions for 0"):
        score_records(gold, [])
