"""Labelled documents: newsgroup messages, film reviews, Amazon reviews, and the user's own files.

Every loader returns documents and their labels. A document is a text, or a list of sentences if the data set is
split into sentences; `parsimon.data.text.TextReader` takes either.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, get_args

from parsimon.characters.encodings import decoded, encoding_name
from parsimon.data.header_lines import names_columns
from parsimon.data.registry import archive, texts, texts_in
from parsimon.errors import ParsimonError
from parsimon.files import read_text_file

__all__ = [
    "DocumentSet",
    "load_amazon",
    "load_movie_reviews",
    "load_news20",
    "read_document_set",
    "read_documents",
]

Task = Literal["science", "sports", "religion", "computer"]
Domain = Literal["books", "dvd", "electronics", "kitchen"]
Split = Literal["train", "dev", "test"]
_Path: TypeAlias = str | os.PathLike[str]


# -- public data sets --------------------------------------------------------------------------------------

_GROUPS: dict[str, tuple[str, str]] = {
    "science": ("sci.med", "sci.space"),
    "sports": ("rec.sport.baseball", "rec.sport.hockey"),
    "religion": ("alt.atheism", "soc.religion.christian"),
    "computer": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
}


def load_news20(
    task: Task = "science", split: Split = "train", path: _Path | None = None, *, fifth: int = 4
) -> tuple[list[str], list[str]]:
    """Messages of two closely related groups from 20 Newsgroups, with headers, labelled by group.

    The four tasks are those of Yogatama & Smith (2014, section 5.1). The test messages are later than the others (the
    split by date). Every fifth one of the other messages in a group is for development; `fifth` (0 to 4) is the
    offset. `path` may name 20news-bydate.tar.gz, the archive that the authors publish; the default is the registered
    archive.
    """
    _check("news20", "task", task, Task)
    _check("news20", "split", split, Split)
    if fifth not in range(5):
        raise ParsimonError(f"fifth is {fifth!r}; give a number from 0 to 4.")
    source = archive("news20") if path is None else Path(path)
    kind = "test" if split == "test" else "train"
    messages = texts_in(source, f"*20news-bydate-{kind}/*", "latin-1")
    documents: list[str] = []
    labels: list[str] = []
    for group in _GROUPS[task]:
        in_group = [text for name, text in messages.items() if PurePosixPath(name).parent.name == group]
        if split != "test":
            in_group = [text for i, text in enumerate(in_group) if (i % 5 == fifth) == (split == "dev")]
        documents += in_group
        labels += [group] * len(in_group)
    return documents, labels


def load_movie_reviews(split: Split | None = None, fold: int = 0) -> tuple[list[list[str]], list[str]]:
    """Film reviews as lists of sentences (tokens are separated by spaces), labelled pos or neg.

    The reviews come in the ten folds of 200 that Pang and Lee use, by review number (cv000 to cv099, and so on). The
    test set is fold `fold`, the development set is the next fold (the first one after the last), and the other eight
    are for training. Without `split`, all 2,000 reviews are returned.
    """
    if split is not None:
        _check("movie_reviews", "split", split, Split)
    if fold not in range(10):
        raise ParsimonError(f"fold is {fold!r}; movie_reviews has the folds 0 to 9.")
    documents: list[list[str]] = []
    labels: list[str] = []
    for name, text in texts("movie_reviews", "*/cv[0-9][0-9][0-9]*.txt").items():
        file = PurePosixPath(name)
        part = {fold: "test", (fold + 1) % 10: "dev"}.get(int(file.name[2]), "train")
        if split in (None, part):
            documents.append([line.strip() for line in text.splitlines() if line.strip()])
            labels.append(file.parent.name)
    return documents, labels


def load_amazon(
    domain: Domain = "books", split: Split = "train", path: _Path | None = None
) -> tuple[list[str], list[str]]:
    """Amazon product reviews (title, blank line, text), labelled positive or negative.

    Of the 1,000 reviews in each class, 800 are for training, 100 for development and 100 for testing. A checksum of
    the text decides which, so a review that was posted for several editions is in only one part. `path` may name
    domain_sentiment_data.tar.gz, the archive that the authors publish; the default is the registered archive.
    """
    _check("amazon", "domain", domain, Domain)
    _check("amazon", "split", split, Split)
    source = archive("amazon") if path is None else Path(path)
    folder = "kitchen_&_housewares" if domain == "kitchen" else domain
    documents: list[str] = []
    labels: list[str] = []
    for label in ("negative", "positive"):
        found = texts_in(source, f"*/{folder}/{label}.review")
        reviews = [review for name, text in found.items() for review in _reviews(text, f"{source}: {name}")]
        order = sorted(range(len(reviews)), key=lambda i: (_checksum(reviews[i]), i))
        dev, test = len(order) * 8 // 10, len(order) * 9 // 10
        part = {"train": order[:dev], "dev": order[dev:test], "test": order[test:]}[split]
        documents += [reviews[i] for i in sorted(part)]
        labels += [label] * len(part)
    return documents, labels


def _reviews(text: str, where: str) -> Iterator[str]:
    """The reviews in a file that looks like XML but is not: & and < are not escaped."""
    for number, review in enumerate(_between(text, "review"), start=1):
        title, body = (next(_between(review, name), None) for name in ("title", "review_text"))
        if title is None or body is None:
            raise ParsimonError(f"{where}, review {number} should have a <title> and a <review_text>.")
        # Some reviews have been escaped twice: &amp;quot;
        yield html.unescape(html.unescape(f"{title.strip()}\n\n{body.strip()}"))


def _between(text: str, tag: str) -> Iterator[str]:
    """What is between a tag and the next one that closes it."""
    begin, end = f"<{tag}>", f"</{tag}>"
    at = text.find(begin)
    while at >= 0 and (until := text.find(end, at)) >= 0:
        yield text[at + len(begin) : until]
        at = text.find(begin, until)


def _checksum(review: str) -> bytes:
    return hashlib.sha256(" ".join(review.lower().split()).encode()).digest()


def _check(name: str, argument: str, given: str, allowed: Any) -> None:
    if given not in get_args(allowed):
        raise ParsimonError(f"{name} has no {argument} {given!r}; give {', '.join(get_args(allowed))}.")


# -- the user's own files ----------------------------------------------------------------------------------

Format = Literal["auto", "directory", "jsonl", "tsv", "text", "lines"]
ENOUGH = 4  # documents, to tell that columns are swapped
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".tab": "tsv"}


@dataclass(frozen=True)
class DocumentSet:
    """Documents, their labels (None if unlabelled), and what they are called: names of files, or ids of JSON lines."""

    documents: list[Any]
    labels: list[str] | None = None
    names: list[Any] | None = None


def read_documents(
    path: _Path, format: Format = "auto", encoding: str = "utf-8"
) -> tuple[list[Any], list[str] | None]:
    r"""Read documents and their labels (None if unlabelled) from a folder or a file.

    - A folder has one subfolder per class with one text file per document. Without labels, the text files are in the
      folder itself. Files are read in order of their names.
    - A line of JSON looks like ``{"text": "Good.", "label": "pos"}``. The text may also be a list of sentences or a
      list of lists of tokens.
    - A line of TSV has a label, a tab and a text; without labels, only a text.
    - Any other file is a text, which is one document; with the format ``lines``, each of its lines is one.

    Without a `format`, the suffix of a file decides, or else what is in it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "reviews.tsv")
    >>> _ = path.write_text("pos\tGood. Very good!\nneg\tI fell asleep.\n")
    >>> read_documents(path)
    (['Good. Very good!', 'I fell asleep.'], ['pos', 'neg'])
    """
    found = read_document_set(path, format, encoding)
    return found.documents, found.labels


def read_document_set(path: _Path, format: Format = "auto", encoding: str = "utf-8") -> DocumentSet:
    """The same with the names of documents."""
    if format not in get_args(Format):
        raise ParsimonError(f"format is {format!r}; choose from {', '.join(get_args(Format))}.")
    encoding = encoding_name(encoding)
    path = Path(path)
    if not path.exists():
        raise ParsimonError(f"{path} does not exist; give a folder or a file.")
    if format == "directory" and not path.is_dir():
        raise ParsimonError(f"{path} is not a folder; choose jsonl or tsv as its format.")
    if path.is_dir():
        if format not in ("auto", "directory"):
            raise ParsimonError(f"{path} is a folder; give a file, or choose directory as its format.")
        return _read_folder(path, encoding)
    content = _read_text(path, encoding)
    lines = [(number, line) for number, line in enumerate(content.split("\n"), start=1) if line.strip()]
    if not lines:
        raise ParsimonError(f"{path} has no documents; it is empty.")
    form = _format_of(path, lines) if format == "auto" else format
    if form == "text":
        return DocumentSet([content], names=[path.name])
    if form == "lines":
        return DocumentSet([line for _, line in lines])
    return (_read_json_lines if form == "jsonl" else _read_tsv)(path, lines)


def _format_of(path: Path, lines: list[tuple[int, str]]) -> str:
    """What the suffix says, or else the lines: most lines of a table have a tab after something."""
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    if lines[0][1].lstrip().startswith("{"):
        return "jsonl"
    with_tab = sum("\t" in line.strip() for _, line in lines)
    return "tsv" if 2 * with_tab > len(lines) else "text"


def _read_text(path: Path, encoding: str) -> str:
    try:
        content = read_text_file(path)
    except OSError as error:
        raise ParsimonError(f"{path} cannot be read: {error.strerror or error}.") from error
    return decoded(content, encoding, str(path)).replace("\r\n", "\n")


def _read_folder(path: Path, encoding: str) -> DocumentSet:
    inside = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    classes = [entry for entry in inside if entry.is_dir()]
    files = [entry for entry in inside if not entry.is_dir()]
    if classes and files:
        raise ParsimonError(
            f"{path} has the file {files[0].name} next to folders; it should have one folder per class and nothing "
            "else, or only text files."
        )
    if not classes and not files:
        raise ParsimonError(f"{path} is empty; it should have one folder of text files per class.")
    labels: list[str] = []
    for folder in classes:
        inner = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
        if not inner:
            raise ParsimonError(f"{folder} has no text files; add at least one, or remove the folder.")
        files += inner
        labels += [folder.name] * len(inner)
    names = [file.relative_to(path).as_posix() for file in files]
    return DocumentSet([_read_text(file, encoding) for file in files], labels or None, names)


def _read_json_lines(path: Path, lines: list[tuple[int, str]]) -> DocumentSet:
    documents: list[Any] = []
    labels: list[str] = []
    names: list[Any] = []
    for number, line in lines:
        where = f"{path}, line {number}"
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ParsimonError(
                f'{where} is not JSON ({error}); a line should be like {{"text": "Good.", "label": "pos"}}.'
            ) from error
        if not isinstance(item, dict) or not _is_document(item.get("text")):
            raise ParsimonError(
                f'{where} should be an object whose "text" is a string, a list of sentences or a list of lists of '
                'tokens, like {"text": "Good.", "label": "pos"}.'
            )
        label = item.get("label")
        if isinstance(label, bool) or not isinstance(label, str | int | None):
            raise ParsimonError(f'{where} has {label!r} as its "label"; it should be a string.')
        if (label is not None) != bool(labels) and documents:
            raise ParsimonError(
                f'{where} has {"a" if label is not None else "no"} "label", unlike the lines before it; either every '
                "document should have a label or none."
            )
        documents.append(item["text"])
        labels += [str(label)] if label is not None else []
        names.append(item.get("id"))
    return DocumentSet(documents, labels or None, names if any(name is not None for name in names) else None)


def _is_document(text: Any) -> bool:
    """Whether a value is a text, a list of sentences, or a list of lists of tokens."""
    if not isinstance(text, list):
        return isinstance(text, str)
    if all(isinstance(sentence, str) for sentence in text):
        return True
    return all(isinstance(sentence, list) and all(isinstance(t, str) for t in sentence) for sentence in text)


def _read_tsv(path: Path, lines: list[tuple[int, str]]) -> DocumentSet:
    labelled = "\t" in lines[0][1]
    documents: list[Any] = []
    labels: list[str] = []
    for number, line in lines:
        label, tab, text = line.partition("\t")
        if bool(tab) != labelled:
            raise ParsimonError(
                f"{path}, line {number} has {'a' if tab else 'no'} tab, unlike the lines before it; either every line "
                "should have a label, a tab and a text, or every line only a text."
            )
        if labelled and not label.strip():
            raise ParsimonError(f"{path}, line {number} has nothing before its tab; put a label there.")
        documents.append(text if labelled else line)
        labels += [label.strip()] if labelled else []
    if labelled:
        _check_columns(path, lines[0][0], labels, documents)
    return DocumentSet(documents, labels or None)


def _check_columns(path: Path, first: int, labels: list[str], texts: list[str]) -> None:
    """Refuses a line of names, and columns that are swapped: texts differ and are long, labels repeat and are short."""
    if len(labels) > 1 and labels[0] not in labels[1:] and names_columns([labels[0], texts[0]]):
        raise ParsimonError(
            f"{path}, line {first} has the names of columns, {labels[0]!r} and {texts[0]!r}, and would count as a "
            "document; remove that line, so that every line has a label, a tab and a text."
        )
    n, others = len(set(labels)), len(set(texts))
    swapped = n > others and 2 * others <= len(texts) and sum(map(len, labels)) > sum(map(len, texts))
    if swapped and len(texts) >= ENOUGH:
        raise ParsimonError(
            f"{path} seems to have its columns swapped, as there are {n} labels for {len(texts)} documents; every line "
            "should have a label, a tab and a text, in this order."
        )
