"""Small pages with a name and a height, and a model that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from parsimon.features import Columns, Labels, TemplateFeatures
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import PAGE_TEMPLATES, page_tree
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.pages.page import Page, read_page
from parsimon.tasks.pages.training import PageTraining

SPACE = TemplateFeatures(PAGE_TEMPLATES)


def page(n: int) -> tuple[Page, dict[str, list[str]]]:
    name, height = f"Name{n}", f"{n % 3 + 5}-{n % 10}"
    html = f"<body><h1 class=name>{name}</h1><p>Height: <b>{height}</b></p><p class=ad>Buy {n}!</p></body>"
    return read_page(html), {"name": [name], "height": [height]}


def columns_of(pages: Sequence[Page]) -> Columns:
    return tree_columns([page_tree(each) for each in pages])


def labels_of(made: Page, record: dict[str, list[str]]) -> list[str]:
    return label_page(made, record)


@cache
def model() -> PageModel:
    pages = [page(n) for n in range(20)]
    labels = Labels.from_sequences([labels_of(made, record) for made, record in pages])
    fitted = PageTraining(l1=0.05, l2=0.01).fit(SPACE, columns_of([made for made, _ in pages]), labels)
    assert isinstance(fitted, PageModel)
    return fitted
