"""What is seen at the nodes of a page."""

from __future__ import annotations

import numpy as np

from parsimon import SequenceLabeler
from parsimon.features import TemplateSet
from parsimon.tasks.pages.columns import (
    ABOVE,
    BEFORE,
    CLASS,
    PATH,
    PLACE,
    TIMES,
    TITLE,
    WORDS,
    page_tree,
    text_sequence,
)
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import Page, read_page


def test_a_text_outside_all_elements_has_columns() -> None:
    """Parsers before libxml2 2.14 make such texts of pages that begin with '<' and no tag."""
    nodes, parents = page_tree(Page(("#text",), (-1,), ("<",), ((),), ((),)))
    assert (nodes[0][CLASS], nodes[0][PATH], nodes[0][WORDS], parents) == ("", "", "<", [-1])


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


def test_texts_in_reading_order_suit_a_labeller_of_sequences() -> None:
    pages, values = make_pages(12, 0)
    labels = [
        [label_page(page, record)[t] for t in page.leaves] for page, record in zip(pages, values, strict=True)
    ]
    labeler = SequenceLabeler(TemplateSet.parse(f"U0:%x[0,{BEFORE}]\nU1:%x[0,{PATH}]\nB"), l1=0.2)
    labeler.fit([text_sequence(page) for page in pages], labels)
    assert labeler.score([text_sequence(page) for page in pages], labels) > 0.9
