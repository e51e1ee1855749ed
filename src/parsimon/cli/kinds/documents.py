"""Documents on the command line: directories of classes, JSON lines, or lines 'label TAB text'."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.characters.printable import one_line
from parsimon.cli.failures import say, say_unknown
from parsimon.cli.kind import Evaluated, Inspected, Kind, Plan
from parsimon.cli.options import Asked, option
from parsimon.cli.output import check_writable, output, show, show_record
from parsimon.errors import ParsimonError
from parsimon.tasks.documents.options import STRENGTHS, DocumentOptions
from parsimon.tasks.options import READING

if TYPE_CHECKING:
    from parsimon.data.documents import DocumentSet
    from parsimon.tasks.documents.explain import ExplainedDocument
    from parsimon.tasks.documents.model import DocumentModel
    from parsimon.tasks.documents.training import LabelledDocuments

AT_ONCE = 4096  # documents
DIGITS = 4  # of a probability in a table
STDIN = "/dev/stdin"
OF_LINES = (".jsonl", ".ndjson", ".json", ".tsv", ".tab")  # files with a document a line
OF_SENTENCES = ("groups", "window", "group_weight", "stopping", "rho")


class Documents(Kind["DocumentModel"]):
    """Document classifiers."""

    name = "document"
    noun = "a document model"
    options = DocumentOptions
    flags = (
        option(
            "--sentences",
            section=READING,
            default="rules",
            metavar="HOW",
            help="How texts are split into sentences: rules, lines (one sentence per line) or sentencex.",
        ),
        option(
            "--tokens",
            section=READING,
            default="words",
            metavar="HOW",
            help="What a token is: words, whitespace, or a regular expression.",
        ),
        option(
            "--lowercase/--no-lowercase",
            section=READING,
            default=True,
            help="Ignore case.",
        ),
    )
    predicts = frozenset({"marginals", "format", "lines"})
    evaluates = frozenset({"confusion"})
    inspects = frozenset({"label"})
    explains = frozenset({"label", "limit", "html", "lines"})
    help = """Train a sparse document classifier on TRAIN.

    TRAIN is a directory that has a directory of text files for each class, or a file of JSON lines
    ({"text": …, "label": …}, where the text may be a list of sentences) or of lines 'label TAB text'.

    It minimises loss + l1 Σ|w| + l2/2 Σw² + sentence-strength Σ‖w_s‖, where w_s are the weights of the
    words of sentence s. Words with zero weight are not in the model. Strengths choose themselves if none
    is given.
    """
    examples = """
\b
Examples:
  parsimon train document reviews/ -m reviews.model
  parsimon train document train.jsonl -m news.model --dev dev.jsonl --penalty lasso --l1 1
  parsimon train document train.tsv -m news.model --l1 0.1 --sentence-strength 0.1
  parsimon train document train.tsv -m news.model --stopping paper --rho 0.1 --max-iter 30
  parsimon train document train.tsv -m news.model --groups paragraph --group-weight sqrt
"""

    # ---- train -------------------------------------------------------------------------------------------------

    def plan(self, job: Asked) -> Plan[LabelledDocuments, DocumentModel]:
        """How texts are read, and the options as those of training."""
        from parsimon.data.text import TextReader
        from parsimon.tasks.documents.training import DocumentTraining, LabelledDocuments

        reader = TextReader(job["sentences"], job["tokens"], job["lowercase"])
        training = DocumentTraining(**self.known(job), reader=reader)
        check_penalty(job, str(training.penalty_name))

        def read(source: str) -> LabelledDocuments:
            return LabelledDocuments(*read_labelled(source, job["encoding"]))

        return Plan(training, read, lambda data: (data.documents, data.labels))

    def size(self, model: DocumentModel) -> dict[str, Any]:
        """Words, and groups of them, of how many."""
        info = model.info
        return {
            "words": len(model.words),
            "candidate_words": info.get("candidate_words"),
            "groups": info.get("groups"),
            "relevant_groups": info.get("relevant_groups"),
            "groups_in_all": info.get("groups_in_all"),
            "documents": info.get("documents"),
            "labels": model.n_labels,
        }

    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        from parsimon.report.tables import of

        pairs = [("words", of(size["words"], size["candidate_words"]))]
        if size["relevant_groups"] is not None and size["groups"]:
            relevant = of(size["relevant_groups"], size["groups_in_all"])
            pairs.append((f"{size['groups']}s", f"{relevant} found relevant"))
        return pairs

    # ---- use ---------------------------------------------------------------------------------------------------

    def predict(self, model: DocumentModel, job: Asked) -> None:
        """A line a document: what it is called, if it has a name, its label and the label's probability."""
        found = read_documents(job["input"], job["encoding"], lines=job["lines"])
        form = as_json if job["format"] == "jsonl" else as_cells
        with output(job["output"]) as write:
            for first in range(0, len(found.documents), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                rows = model.probabilities(model.read(found.documents[some])).tolist()
                names = [] if found.names is None else found.names[some]
                lines = form(model.labels, rows, names, job["marginals"])
                write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))

    def evaluate(self, model: DocumentModel, job: Asked) -> Evaluated:
        """Accuracy, scores by label, and the most frequent mistakes."""
        from parsimon.report import document_tables as tables
        from parsimon.report.tables import frequent_confusions
        from parsimon.tasks.sequences.metrics import evaluate as compare

        documents, gold = read_labelled(job["test"], job["encoding"])
        mention_unknown(model, gold, job["test"])
        evaluation = compare([[y] for y in gold], [[y] for y in model.predict(model.read(documents))])
        text = tables.evaluation_text(evaluation)
        if job["confusion"]:
            text += "\n" + frequent_confusions(evaluation, "document")
        return Evaluated.split(tables.evaluation_record(evaluation), text)

    def inspect(self, model: DocumentModel, job: Asked) -> Inspected:
        """Sizes, and the heaviest words of each label."""
        from parsimon.report import document_tables as tables
        from parsimon.tasks.documents import inspect as look

        label, top = job["label"], job["top"]
        labels = model.labels if label is None else (label,)
        heaviest = {y: look.heaviest_words(model, y, top) for y in labels}
        if job["as_json"]:
            details = {
                "label_names": list(model.labels),
                "values": model.values,
                "reader": model.reader.settings(),
                "per_label": [asdict(share) for share in look.shares(model)],
                "heaviest": {y: [asdict(word) for word in words] for y, words in heaviest.items()},
            }
            return Inspected(self.size(model), details, "")
        size = Path(job.model).stat().st_size
        sections = [tables.summary_text(job.model, size, look.summary(model))]
        if label is None:
            sections.append(tables.shares_table(look.shares(model)))
        if top:
            sections.append(tables.words_table(heaviest))
        return Inspected({}, {}, "\n".join(sections))

    def explain(self, model: DocumentModel, job: Asked) -> None:
        """What every sentence does for its document's label."""
        from parsimon.tasks.documents.explain import explain

        if job["html"] is not None:
            check_writable(job["html"], "the page")
        found = read_documents(job["file"], job["encoding"], lines=job["lines"])
        limit = job["limit"]
        explained = explain(model, found.documents[:limit], job["label"])
        names = None if found.names is None else found.names[:limit]
        if job["html"] is not None:
            write_explanation(job, explained, names, (found.labels or [])[:limit])
        elif job["as_json"]:
            for i, document in enumerate(explained):
                name = {} if names is None else {"id": names[i]}
                show_record({**name, **document.to_dict()})
        else:
            from parsimon.report.explanation import explanation_text

            # It has looked at the terminal itself.
            click.echo(explanation_text(explained, names=name_texts(names)), nl=False, color=True)
        if len(found.documents) > limit:
            say(f"these are the first {limit} of {len(found.documents):,} documents; --limit says how many")


KIND = Documents()


def check_penalty(job: Asked, penalty: str) -> None:
    """Refuses options that the penalty knows nothing of: they would make no difference."""
    flags = {"sentence": "--sentence-strength"}
    for name in ("l1", "l2", "sentence"):
        if name in job.given and name not in STRENGTHS[penalty]:
            able = " or ".join(p for p, strengths in STRENGTHS.items() if name in strengths)
            raise ParsimonError(
                f"--penalty {penalty} has no {flags.get(name, f'--{name}')}; leave it out, or use --penalty {able}."
            )
    for name in OF_SENTENCES:
        if name in job.given and penalty != "sentence":
            flag = f"--{name.replace('_', '-')}"
            raise ParsimonError(f"{flag} is about --penalty sentence; leave it out, or use that penalty.")
    if "window" in job.given and job["groups"] != "window":
        raise ParsimonError("--window is about --groups window; leave it out, or add that.")


def read_documents(source: str, encoding: str, *, lines: bool = False) -> DocumentSet:
    """The documents of a file or directory; with `lines`, every line of a text is one."""
    from parsimon.data.documents import read_document_set

    if source != "-":
        if lines and Path(source).suffix.lower() in OF_LINES:
            raise ParsimonError(f"{source} has a document a line anyway; leave out --lines.")
        return read_document_set(source, "lines" if lines else "auto", encoding)
    try:
        found = read_document_set(STDIN, "lines" if lines else "auto", encoding)
    except ParsimonError as error:
        raise ParsimonError(str(error).replace(STDIN, "standard input")) from error
    return replace(found, names=["-"]) if found.names == [Path(STDIN).name] else found


def read_labelled(source: str, encoding: str) -> tuple[list[Any], list[str]]:
    """Documents that must have labels, and these."""
    found = read_documents(source, encoding)
    if found.labels is None:
        name = "standard input" if source == "-" else source
        raise ParsimonError(
            f"the documents of {name} have no labels; give a directory of class directories, JSON lines with a "
            "\"label\", or lines 'label TAB text'."
        )
    return found.documents, found.labels


Rows = Sequence[Sequence[float]]  # probabilities of all labels, by document


def as_cells(labels: Sequence[str], rows: Rows, names: Sequence[Any], marginals: bool) -> Iterator[str]:
    """Tabs between a document's name, if there are names, its label and the probability; perhaps of all labels."""
    for row, name in zip_longest(rows, names):
        best = max(range(len(row)), key=row.__getitem__)
        cells = [*([name_text(name)] if names else []), labels[best], f"{row[best]:.{DIGITS}f}"]
        if marginals:
            cells += [f"{label}={p:.{DIGITS}f}" for label, p in zip(labels, row, strict=True)]
        yield "\t".join(cells)


def as_json(labels: Sequence[str], rows: Rows, names: Sequence[Any], marginals: bool) -> Iterator[str]:
    """An object a document; `id` is what it is called."""
    for row, name in zip_longest(rows, names):
        best = max(range(len(row)), key=row.__getitem__)
        record = {**({"id": name} if names else {}), "label": labels[best], "probability": row[best]}
        if marginals:
            record["probabilities"] = dict(zip(labels, row, strict=True))
        yield json.dumps(record, ensure_ascii=False)


def name_text(name: Any) -> str:
    """What a document is called, in one cell of a table; a line of JSON may have anything for an id, or nothing."""
    text = name if isinstance(name, str) else "" if name is None else json.dumps(name, ensure_ascii=False)
    return " ".join(text.split())


def name_texts(names: list[Any] | None) -> list[str] | None:
    """The same for all documents, if they have names."""
    return None if names is None else [name_text(name) for name in names]


def mention_unknown(model: DocumentModel, gold: list[str], name: str) -> None:
    """Labels that the model does not know count as wrong."""
    unknown = sorted(set(gold) - set(model.labels))
    say_unknown(name, sum(label in unknown for label in gold), "document", unknown)


def write_explanation(
    job: Asked, explained: list[ExplainedDocument], names: list[Any] | None, gold: list[str]
) -> None:
    """A page with the explanations, and where it is."""
    from parsimon.files import write_file
    from parsimon.report.explanation_page import explanation_page

    title = f"Which sentences matter: {Path(job['file']).name}, {Path(job.model).name}"
    page = explanation_page(explained, title=title, names=name_texts(names), gold=gold or None)
    write_file(job["html"], page.encode("utf-8", "replace"))
    n = len(explained)
    show(f"{n} document{'s' * (n != 1)} explained in {one_line(str(job['html']))}\n")
