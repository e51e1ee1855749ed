"""Labels of nodes from records, and records from labels."""

from __future__ import annotations

import numpy as np

from parsimon import TreeLabeler
from parsimon.tasks.pages.columns import (
    PAGE_TEMPLATES,
    page_tree,
)
from parsimon.tasks.pages.labels import label_page, record_of
from parsimon.tasks.pages.page import Page, read_page


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
