"""Small web pages with the values on them."""

from __future__ import annotations

from typing import Any

from parsimon.features import Labels, TemplateFeatures
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import PAGE_TEMPLATES, page_tree
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import Page, read_page
from parsimon.tasks.pages.training import PageTraining


def page(i: int) -> Page:
    text = (
        f"<html><body><h1>Player {i}</h1><table><tr><td>height</td><td>6-{i}</td></tr></table></body></html>"
    )
    return read_page(text.encode())


def learnt(n: int = 8) -> Any:
    pages = [page(i) for i in range(n)]
    X = tree_columns([page_tree(each) for each in pages])
    labels = [label_page(each, {"height": [f"6-{i}"]}) for i, each in enumerate(pages)]
    space = TemplateFeatures(PAGE_TEMPLATES)
    return PageTraining(l1=0.1).fit(space, X, Labels.from_sequences(labels))
