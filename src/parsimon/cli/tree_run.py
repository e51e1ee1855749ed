"""A run of `parsimon train tree`: that of sequences, on trees of a column file or on web pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsimon.cli.failures import say
from parsimon.cli.labelling import read_trees
from parsimon.cli.options import column_file
from parsimon.cli.sequence_run import check_columns, read_templates
from parsimon.cli.sequence_run import run as train
from parsimon.cli.train_tree import PAGES, TreeJob
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels, split_labels
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Template, TemplateSet
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import KIND, PAGE_TEMPLATES, page_tree
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import Page
from parsimon.tasks.pages.reading import Values, check_values, read_pages, read_values


def run(job: TreeJob) -> None:
    """Pages if TRAIN is a directory, else a column file."""
    if not Path(job.train).is_dir():
        if job.values is not None:
            raise ParsimonError(
                f"--values is about web pages, but {job.train} is no directory of pages; leave it out."
            )
        train(job, ColumnTrees(job))
        return
    for name in ("parent_column", "kind_column"):
        if getattr(job, name) is not None:
            raise ParsimonError(
                f"--{name.replace('_', '-')} is about column files, but {job.train} is a directory of web pages; "
                "leave it out."
            )
    if job.values is None:
        raise ParsimonError(
            f"{job.train} is a directory of web pages, so the values on them are needed: --values TABLE, with the "
            "columns page, attribute and value."
        )
    train(job, PageTrees(job, read_values(job.values, encoding=job.encoding)))


@dataclass
class Trees:
    """What column files and web pages have in common."""

    job: TreeJob

    def space(self, templates: TemplateSet) -> TemplateFeatures:
        """With labels that depend on those of siblings, if that was asked for."""
        return TemplateFeatures(templates, cutoff=self.job.cutoff, siblings=self.job.siblings)

    def named(self) -> TemplateSet:
        """The templates of a file or preset, with those about siblings."""
        return self.about_siblings(read_templates(self.job, self.job.templates))

    def about_siblings(self, templates: TemplateSet) -> TemplateSet:
        """With templates about siblings, if labels depend on theirs."""
        return templates if self.job.siblings is None else templates.with_siblings()


@dataclass
class ColumnTrees(Trees):
    """A column file with a node a line."""

    kinds: NodeKinds | None = field(default=None, init=False)  # of what is read first

    @property
    def parents(self) -> int:
        """The column that has them."""
        return self.job.parent_column or 0

    def templates(self) -> TemplateSet:
        """Of a file; there are none that suit all trees."""
        if not self.job.templates:
            raise ParsimonError(
                f"what to look at in {self.job.train} must be said: name a template file with -t, in which "
                "U:%x[0,1] is column 1 of a node and U:%x[parent,1] that of its parent."
            )
        return self.named()

    def read(self, source: str, templates: Iterable[Template]) -> tuple[Columns, Labels]:
        """With links from parents, and labels limited by kinds."""
        file = column_file(source, self.job.encoding, self.job.separator, self.job.comment)
        columns = read_trees(file, self.parents)
        X, y = split_labels(columns, file.name, self.job.unknown)
        check_columns(X, file.name, templates)
        if self.job.kind_column is None:
            return X, y
        if self.job.kind_column >= X.n_columns:
            raise ParsimonError(
                f"{file.name} has {X.n_columns} columns besides the label, so there is no column "
                f"{self.job.kind_column} with kinds of nodes (they are counted from 0)."
            )
        self.kinds = self.kinds or NodeKinds.learn(X, self.job.kind_column, y)
        return self.kinds.limit(X), y

    def told(self) -> dict[str, Any]:
        """What is where."""
        kinds = {} if self.kinds is None else {"node_kinds": self.kinds.told()}
        return {"structure": "tree", "parent_column": self.parents, **kinds}


@dataclass
class PageTrees(Trees):
    """Web pages, and a table of the values on them."""

    values: Values
    kinds: NodeKinds | None = field(default=None, init=False)

    def templates(self) -> TemplateSet:
        """Those for pages, unless others are named."""
        if self.job.templates in ("", PAGES):
            return self.about_siblings(PAGE_TEMPLATES)
        return self.named()

    def read(self, source: str, templates: Iterable[Template]) -> tuple[Columns, Labels]:
        """Texts are leaves, and may only have attributes for labels."""
        pages = with_values(read_pages(source), self.values, source, str(self.job.values))
        labels = [label_page(page, self.values[name]) for name, page in pages.items()]
        X = tree_columns([page_tree(page) for page in pages.values()])
        check_columns(X, source, templates)
        y = Labels.from_sequences(labels)
        self.kinds = self.kinds or NodeKinds.learn(X, KIND, y)
        return self.kinds.limit(X), y

    def told(self) -> dict[str, Any]:
        """That pages are what is read."""
        assert self.kinds is not None
        return {"structure": "tree", "input": "pages", "node_kinds": self.kinds.told()}


def with_values(pages: dict[str, Page], values: Values, where: str, table: str) -> dict[str, Page]:
    """The pages that a table has values of; says so if there are others, or values that are no texts."""
    check_values(pages, values, where, table)
    chosen = {name: page for name, page in pages.items() if name in values}
    if len(chosen) < len(pages):
        say(
            f"{len(pages) - len(chosen)} of the {len(pages)} pages in {where} have no values and are left out"
        )
    lost = [
        (name, value)
        for name, page in chosen.items()
        for found in values[name].values()
        for value in missing(page, found)
    ]
    if lost:
        name, value = lost[0]
        say(
            f"{len(lost)} values are no text of their page, such as {value!r} of {name}; a value must be all that "
            "stands between two tags"
        )
    return chosen


def missing(page: Page, values: Iterable[str]) -> list[str]:
    """Values that are not texts of a page."""
    from parsimon.tasks.pages.page import clean

    texts = frozenset(page.texts)
    return [value for value in values if clean(value) not in texts]
