"""Web pages on the command line: directories of pages, and tables of the values on them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsimon.cli.failures import say
from parsimon.cli.kind import Evaluated, Plan
from parsimon.cli.kinds.labelling import (
    Labelling,
    check_columns,
    labelling_flags,
    read_templates,
    template_flag,
)
from parsimon.cli.kinds.trees import about_siblings, space_of
from parsimon.cli.options import Asked, is_minimum_risk, option
from parsimon.cli.output import output
from parsimon.errors import ParsimonError
from parsimon.files import read_page_file
from parsimon.tasks.options import FILES, threads_of
from parsimon.tasks.pages.options import PageOptions

if TYPE_CHECKING:
    from parsimon.features.templates import TemplateSet
    from parsimon.tasks.pages.model import PageModel
    from parsimon.tasks.pages.page import Page
    from parsimon.tasks.pages.reading import Values
    from parsimon.tasks.pages.training import PageTraining
    from parsimon.tasks.sequences.training import Labelled

AT_ONCE = 64  # pages
DIGITS = 4  # of a probability
PAGES = "pages"  # the name of the templates for them


class Pages(Labelling["PageModel"]):
    """Readers of web pages."""

    name = "page"
    noun = "a model of web pages"
    options = PageOptions
    source = "PAGES"
    flags = (
        template_flag(PAGES, help="A template file in place of the templates for pages."),
        option(
            "--values",
            section=FILES,
            metavar="TABLE",
            required=True,
            help="The values on web pages: a table with the columns page, attribute and value (commas or tabs "
            "between).",
        ),
        *labelling_flags(of_columns=False),
    )
    predicts = frozenset({"marginals", "decoding", "format"})
    evaluates = frozenset({"values", "decoding"})
    help = """Train a model that finds the records on web pages.

    PAGES is a directory of web pages (.html, .htm). A page is a tree, and its texts are the leaves. The model learns to
    find the texts that are values of an attribute in --values TABLE.

    It minimises loss + l1 Σ|w| + l2/2 Σw². Features with zero weight are not in the model.
    """
    examples = """
\b
Examples:
  parsimon train page pages/ --values values.csv -m records.model
  parsimon predict records.model more-pages/ > records.tsv
  parsimon evaluate records.model test-pages/ --values test-values.csv
"""

    def also_read(self, job: Asked) -> list[str]:
        """The table, and templates if any were named."""
        return [job["values"], job["templates"]]

    def plan(self, job: Asked) -> Plan[Labelled, Any]:
        """Templates, values, and how pages are read."""
        from parsimon.tasks.pages.columns import PAGE_TEMPLATES
        from parsimon.tasks.pages.reading import read_values
        from parsimon.tasks.pages.training import PageTraining

        if not Path(job["train"]).is_dir():
            raise ParsimonError(
                f"{job['train']} is no directory of web pages; 'parsimon train tree' learns from column files of trees."
            )
        training = PageTraining(**self.settings(job))
        named = PAGE_TEMPLATES if job["templates"] == PAGES else read_templates(job, job["templates"])
        self.check(job, training)
        reader = PageFiles(
            job,
            about_siblings(named, training),
            training,
            read_values(job["values"], encoding=job["encoding"]),
        )
        return Plan(
            training,
            reader.read,
            lambda data: (data.X, data.y),
            self.initial(job, training),
        )

    def predict(self, model: PageModel, job: Asked) -> None:
        """A table of records: a line for every value."""
        form = _lines if job["format"] == "jsonl" else _table
        with output(job["output"]) as write:
            found = found_values(model, _pages(job["input"], job["encoding"]), job)
            for text in form(found, job["marginals"]):
                write(text.encode())

    def evaluate(self, model: PageModel, job: Asked) -> Evaluated:
        """Average F1 over attributes, F1 of each, and the share of records that are right as wholes."""
        from parsimon.report.tables import table
        from parsimon.tasks.pages.metrics import score_records
        from parsimon.tasks.pages.reading import read_values

        if job["values"] is None:
            raise ParsimonError(
                f"{job.model} finds the records of web pages, so the values on them are needed: --values TABLE, with "
                "the columns page, attribute and value."
            )
        values = read_values(job["values"], encoding=job["encoding"])
        pages = with_values(_pages(job["test"], "utf-8"), values, job["test"], job["values"])
        found = dict(found_values(model, pages, job))
        predicted = [_record(found[name]) for name in pages]
        scores = score_records([_cleaned(values[name]) for name in pages], predicted)
        text = (
            f"processed {len(pages)} page{'s' * (len(pages) != 1)}\n"
            f"average F1: {100 * scores.average_f1:6.2f}%; whole records right: {100 * scores.accuracy:6.2f}%\n\n"
        )
        text += table(("attribute", "F1"), [(a, f"{100 * f:.2f}%") for a, f in scores.f1.items()], "<>")
        numbers = {
            "average_f1": scores.average_f1,
            "record_accuracy": scores.accuracy,
            "pages": len(pages),
        }
        return Evaluated(numbers, {"per_attribute": scores.f1}, text)


KIND = Pages()


@dataclass(frozen=True)
class PageFiles:
    """Directories of pages, and a table of the values on them."""

    job: Asked
    templates: TemplateSet
    training: PageTraining
    values: Values

    def read(self, source: str) -> Labelled:
        """Texts are leaves, and may only have attributes for labels."""
        from parsimon.features.columns import Labels
        from parsimon.features.tree_columns import tree_columns
        from parsimon.tasks.pages.columns import page_tree
        from parsimon.tasks.pages.labels import label_page
        from parsimon.tasks.pages.reading import read_pages
        from parsimon.tasks.sequences.training import Labelled

        pages = with_values(read_pages(source), self.values, source, str(self.job["values"]))
        labels = [label_page(page, self.values[name]) for name, page in pages.items()]
        X = tree_columns([page_tree(page) for page in pages.values()])
        check_columns(X, source, self.templates)
        return Labelled(space_of(self.templates, self.training), X, Labels.from_sequences(labels))


def with_values(pages: dict[str, Page], values: Values, where: str, table: str) -> dict[str, Page]:
    """The pages that a table has values of; says so if there are others, or values that are no texts."""
    from parsimon.tasks.pages.reading import check_values

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


Found = list[tuple[str, str, float]]  # attribute, value, and how probable it is that its text has this label


def found_values(model: PageModel, pages: dict[str, Page], job: Asked) -> Iterator[tuple[str, Found]]:
    """The values on every page, each once, in reading order."""
    from parsimon.features.tree_columns import tree_columns
    from parsimon.tasks.pages.columns import page_tree
    from parsimon.tasks.pages.labels import NONE
    from parsimon.tasks.pages.page import TEXT

    threads, careful = threads_of(job["n_jobs"]), is_minimum_risk(job.model, job["decoding"], "viterbi")
    names = list(pages)
    for first in range(0, len(names), AT_ONCE):
        some = names[first : first + AT_ONCE]
        observations = model.observe(
            model.limited(tree_columns([page_tree(pages[name]) for name in some])), threads
        )
        labels = model.decode(observations, threads=threads, minimum_risk=careful)
        marginals, _ = model.marginals(observations, threads=threads)
        at = 0
        for name in some:
            page, seen = pages[name], dict[tuple[str, str], float]()
            for tag, text in zip(page.tags, page.texts, strict=True):
                label = model.labels[labels[at]]
                if tag == TEXT and label != NONE:
                    probability = float(marginals[at, labels[at]])
                    seen[label, text] = max(probability, seen.get((label, text), 0.0))
                at += 1
            yield name, [(attribute, value, p) for (attribute, value), p in seen.items()]


def _pages(source: str, encoding: str) -> dict[str, Page]:
    """Those of a directory or file; one from standard input is called `-`. What a page says goes before UTF-8."""
    from parsimon.tasks.pages.page import read_page
    from parsimon.tasks.pages.reading import check_html, read_pages

    named = None if encoding == "utf-8" else encoding
    if source == "-":
        content = read_page_file("-")
        check_html({"-": content}, "standard input")
        return {"-": read_page(content, encoding=named)}
    return read_pages(source, encoding=named)


def _record(found: Found) -> dict[str, list[str]]:
    record: dict[str, list[str]] = {}
    for attribute, value, _ in found:
        record.setdefault(attribute, []).append(value)
    return record


def _cleaned(values: dict[str, list[str]]) -> dict[str, list[str]]:
    from parsimon.tasks.pages.page import clean

    return {attribute: [clean(value) for value in found] for attribute, found in values.items()}


def _table(pages: Iterator[tuple[str, Found]], marginals: bool) -> Iterator[str]:
    """Tabs between cells: the table that --values takes, perhaps with probabilities."""
    yield _row(["page", "attribute", "value", *(["probability"] if marginals else [])])
    for name, found in pages:
        for attribute, value, p in found:
            yield _row([name, attribute, value, *([f"{p:.{DIGITS}f}"] if marginals else [])])


def _row(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(cells)
    return text.getvalue()


def _lines(pages: Iterator[tuple[str, Found]], marginals: bool) -> Iterator[str]:
    """An object a page: its name and its record."""
    for name, found in pages:
        line: dict[str, Any] = {"page": name, "record": _record(found)}
        if marginals:
            line["probabilities"] = [
                {"attribute": attribute, "value": value, "probability": round(p, DIGITS)}
                for attribute, value, p in found
            ]
        yield json.dumps(line, ensure_ascii=False) + "\n"
