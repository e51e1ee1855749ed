"""Reading CoNLL-U and CoNLL-X files; errors name the line and sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from parsimon._core import ColumnReader, StringTable
from parsimon.arrays import IntArray
from parsimon.data.skipping import mention_skipped, readable
from parsimon.data.tree_checks import MISSING, check_heads, first_true
from parsimon.data.treebanks import COLUMNS, Format, Treebank, distinct_values
from parsimon.errors import ParsimonError
from parsimon.features.columns import ColumnFile, Columns, Held, Source, offsets_of
from parsimon.files import LONGEST_LINE
from parsimon.memory import format_size

__all__ = ["TreebankFile", "read_treebank"]

UNIVERSAL_TAGS = {
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X", "_",
}  # fmt: skip
"""The universal parts of speech of UD, and `_` for none."""

WIDTH = 10  # columns


class TreebankFile:
    """A treebank file, read all at once or in blocks of whole sentences.

    Iterating yields a `Treebank` with some of the sentences at a time, for parsing a long stream. Errors name the line
    and sentence, counted from the start of the file.
    """

    def __init__(
        self,
        source: Source,
        *,
        format: Format | None = None,
        encoding: str = "utf-8",
        missing_heads: bool = False,
        single_root: bool = False,
        strings: StringTable | None = None,
        skip_bad: bool = False,
    ) -> None:
        if format is not None and format not in get_args(Format):
            raise ParsimonError(f"there is no treebank format {format!r}; give conllu or conllx.")
        self.file = ColumnFile(source, encoding=encoding, strings=strings)
        self.name = self.file.name
        self.format = format  # None until it has been detected
        self.missing_heads = missing_heads
        self.single_root = single_root
        self.skip_bad = skip_bad

    def read(self) -> Treebank:
        """The whole file, without the sentences that are left out."""
        content = b"".join(self.file.blocks())
        treebank = self._treebank(_Block(self._readable(content) if self.skip_bad else content, self.name))
        if treebank is None:
            raise ParsimonError(f"{self.name} has no words; {_TEN}, one word per line.")
        return treebank

    def __iter__(self) -> Iterator[Treebank]:
        lines, sentences, pending = 0, 0, b""
        for block in _whole_sentences(self.file.blocks(), self.name):
            text = pending + block  # comments and empty lines are kept until there are words after them
            treebank = self._treebank(_Block(text, self.name, lines, sentences))
            pending = text if treebank is None else b""
            if len(pending) > LONGEST_LINE:
                raise ParsimonError(f"{self.name} has {format_size(len(pending))} without a word; {_TEN}.")
            if treebank is not None:
                yield treebank
                sentences += len(treebank)
                lines += text.count(b"\n")
        if not sentences:
            raise ParsimonError(f"{self.name} has no words; {_TEN}, one word per line.")

    def _readable(self, content: bytes) -> bytes:
        """The text of the sentences that can be read; warns of the others."""
        sentences, mistakes = list(_sentences(content, self.name)), list[str]()
        kept = list(readable(sentences, self._try, mistakes))
        mention_skipped(mistakes, len(sentences), "sentences", self.name)
        return b"".join(block.text for block in kept)

    def _try(self, sentences: Sequence[_Block]) -> None:
        """Refuses consecutive sentences of which one cannot be read; leaves no strings behind."""
        trial = TreebankFile(
            self.file.source,
            format=self.format,
            missing_heads=self.missing_heads,
            single_root=self.single_root,
        )
        trial._treebank(replace(sentences[0], text=b"".join(each.text for each in sentences)))

    def _treebank(self, block: _Block) -> Treebank | None:
        """The sentences of a block, or None if it has no words."""
        rows = block.rows(self.file.strings)
        if rows is None:
            return None
        if self.format is None:
            self.format = _detect_format(block.text, rows.columns)
        words = rows.words(special=self.format == "conllu")
        columns, head = words.columns, COLUMNS["head"]
        heads = distinct_values(columns.strings, columns.ids[head], _head)
        check_heads(
            heads,
            columns.lengths,
            missing=self.missing_heads,
            single_root=self.single_root,
            where=words.where,
            written=lambda token: _short(columns.strings[int(columns.ids[head, token])]),
        )
        return Treebank(
            columns=columns,
            heads=heads.astype(np.int32),
            format=self.format,
            name=self.name,
            encoding=self.file.encoding,
            text=block.text,
            line_starts=words.starts,
            sentence_starts=rows.sentence_starts(),
        )


def read_treebank(
    source: Source,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    missing_heads: bool = False,
    single_root: bool = False,
    strings: StringTable | None = None,
    skip_bad: bool = False,
) -> Treebank:
    """Read a CoNLL-U or CoNLL-X file: a path (may end in .gz), ``-`` for standard input, or a binary stream.

    Without `format`, a file counts as CoNLL-U if it has comments, multiword tokens or only universal parts of speech.
    Heads must form trees. `missing_heads` allows words without a head (`_`), as in files that are to be parsed.
    `single_root` rejects sentences in which several words have the head 0; treebanks other than UD have such sentences,
    and `Treebank.n_roots` counts their roots. `skip_bad` leaves out sentences with mistakes, and warns of them.
    """
    return TreebankFile(
        source,
        format=format,
        encoding=encoding,
        missing_heads=missing_heads,
        single_root=single_root,
        strings=strings,
        skip_bad=skip_bad,
    ).read()


def _whole_sentences(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The same bytes, split after empty lines, so that each block consists of whole sentences."""
    whole, held = b"", Held(name, "sentence")
    for block in blocks:
        found = held.add(block)
        if found is not None and found[1] > len(b"\n\n"):  # more than one more empty line
            if whole:
                yield whole
            whole = held.take(found[1])
    yield whole + held.take(held.size)  # the text after the last empty line need not be a sentence


def _sentences(content: bytes, name: str) -> Iterator[_Block]:
    """Every sentence with the comments before it and the empty lines after it, and its place in the file."""
    start, at, first_line, n, has_words = 0, 0, 0, 0, False
    for number, line in enumerate(content.split(b"\n"), start=1):
        at += len(line) + 1
        if has_words and not line.strip(b" \t\r"):
            yield _Block(content[start:at], name, first_line, n)
            start, first_line, n, has_words = at, number, n + 1, False
        elif not _is_comment_or_empty(line):
            has_words = True
    if has_words:
        yield _Block(content[start:], name, first_line, n)


def _detect_format(text: bytes, columns: Columns) -> Format:
    """Detect the format: comments, ids that are not numbers, or only universal parts of speech mean CoNLL-U."""
    if text.removeprefix(_BOM).startswith(b"#") or b"\n#" in text or _SPECIAL_LINE.search(text):
        return "conllu"
    tags = set(columns.strings.get_all(np.unique(columns.ids[COLUMNS["upos"]])))
    return "conllu" if tags <= UNIVERSAL_TAGS and tags != {"_"} else "conllx"


_BOM = b"\xef\xbb\xbf"
_TEN = "CoNLL-U and CoNLL-X have ten columns, separated by tabs"
_SPECIAL_LINE = re.compile(rb"^[0-9]+[-.][0-9]", re.MULTILINE)
_SPECIAL_ID = re.compile(r"(0|[1-9][0-9]{0,8})([-.])([1-9][0-9]{0,8})")
_AFTER_SENTENCE = re.compile(rb"[^\n]*\n(?:#[^\n]*\n)*[ \t]*\r?\n")

_SPECIAL = -1  # the id of a multiword token or of an empty node
_WRONG = -2  # an invalid id or head


def _number(text: str) -> int:
    """A number without a sign or leading zeros; one with too many digits counts as the largest integer."""
    if not (text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")):
        return _WRONG
    return int(text) if len(text) < 10 else 2**31 - 1


def _head(text: str) -> int:
    return MISSING if text == "_" else _number(text)


def _id(text: str) -> int:
    return _SPECIAL if _SPECIAL_ID.fullmatch(text) else _number(text)


@dataclass(frozen=True)
class _Block:
    """Some whole sentences of a file as bytes, and the numbers of lines and sentences before them."""

    text: bytes
    name: str
    lines: int = 0
    sentences: int = 0

    def rows(self, strings: StringTable) -> _Rows | None:
        """The lines in columns, or None if all of them are comments or empty."""
        reader = ColumnReader(strings, "\t", "#", True)
        # The reader records the position of a line only when it reaches the end of the line.
        ended = self.text if self.text.endswith(b"\n") else self.text + b"\n"
        problem = reader.feed(ended) or reader.finish()
        if problem is not None or reader.n_columns not in (0, WIDTH):
            raise self._malformed(problem)
        if not reader.n_columns:
            return None
        self._check_comments()
        return _Rows(self, Columns(reader.columns(), reader.lengths(), strings), *reader.lines())

    def _check_comments(self) -> None:
        """Refuses bytes that are no text; the reader has not seen those of comments, which are written again."""
        try:
            self.text.decode()
        except UnicodeDecodeError as error:
            start = self.text.rfind(b"\n", 0, error.start) + 1
            raise ParsimonError(
                f"{self.where(start)}: a comment is not valid UTF-8; if the file has another encoding, name it (for "
                "instance latin-1)."
            ) from None

    def _malformed(self, problem: tuple[int, str] | None) -> ParsimonError:
        """The error for the first line that does not have ten columns, or else for the line the reader rejected."""
        last, what = problem or (None, "")
        at = 0
        for line in self.text.split(b"\n")[:last]:
            start, at = at, at + len(line) + 1
            if not _is_comment_or_empty(line) and (n := line.count(b"\t") + 1) != WIDTH:
                what = f"there {'is 1 column' if n == 1 else f'are {n} columns'}, but {_TEN}"
                break
        return ParsimonError(f"{self.where(start)}: {what}.")

    def where(self, at: int) -> str:
        """The file, line and sentence of the line that starts at an offset in the text."""
        before = self.text[:at].split(b"\n")[:-1]
        sentence, inside = self.sentences, False
        for line in [*before, b"a word"]:
            if not line.removeprefix(_BOM).startswith(b"#"):
                sentence += not inside and not _is_comment_or_empty(line)
                inside = not _is_comment_or_empty(line)
        return f"{self.name}, line {self.lines + len(before) + 1}, sentence {sentence}"


def _short(text: str) -> str:
    """A text shortened for a message."""
    return text if len(text) <= 20 else f"{text[:20]}…"


def _is_comment_or_empty(line: bytes) -> bool:
    line = line.removeprefix(_BOM)
    return line.startswith(b"#") or not line.strip(b" \t\r")


@dataclass(frozen=True)
class _Rows:
    """The lines of a block in columns, and the offsets at which they start and end."""

    block: _Block
    columns: Columns
    starts: IntArray
    ends: IntArray

    def where(self, row: int) -> str:
        """The file, line and sentence of a row."""
        return self.block.where(int(self.starts[row]))

    def words(self, special: bool) -> _Rows:
        """The rows that are words, numbered 1, 2, 3 … in every sentence; `special` allows other rows as well."""
        columns = self.columns
        number = distinct_values(columns.strings, columns.ids[0], _id)
        is_word = number != _SPECIAL
        if (row := first_true((number == _WRONG) | (~is_word & (not special)))) is not None:
            allowed = "a number, or in CoNLL-U a range such as 1-2 or an empty node such as 3.1"
            raise ParsimonError(f"{self.where(row)}: the id {self._id(row)!r} should be {allowed}.")
        sentence_of = np.repeat(np.arange(len(columns)), columns.lengths)
        lengths = np.bincount(sentence_of[is_word], minlength=len(columns)).astype(np.int32)
        # The number of words before each row in its sentence.
        before = np.cumsum(is_word) - is_word - offsets_of(lengths)[sentence_of]
        if (row := first_true(is_word & (number != before + 1))) is not None:
            raise ParsimonError(
                f"{self.where(row)}: the id is {self._id(row)} but should be {before[row] + 1}, because the words of "
                "a sentence are numbered from 1."
            )
        for row in np.flatnonzero(~is_word).tolist():
            self._check_special(row, int(before[row]), int(lengths[sentence_of[row]]))
        kept = np.ascontiguousarray(columns.ids[:, is_word])
        return _Rows(
            self.block, Columns(kept, lengths, columns.strings), self.starts[is_word], self.ends[is_word]
        )

    def _id(self, row: int) -> str:
        return _short(self.columns.strings[int(self.columns.ids[0, row])])

    def _check_special(self, row: int, before: int, length: int) -> None:
        match = _SPECIAL_ID.fullmatch(self._id(row))
        assert match is not None  # otherwise the row would not be special
        first, kind, second = int(match[1]), match[2], int(match[3])
        if not length:
            raise ParsimonError(f"{self.where(row)}: the sentence has no words, only the id {match[0]}.")
        if kind == "-" and not before + 1 == first <= second <= length:
            raise ParsimonError(
                f"{self.where(row)}: the range {match[0]} should start with the next word, {before + 1}, and end no "
                f"later than the last word, {length}."
            )
        if kind == "." and first != before:
            raise ParsimonError(
                f"{self.where(row)}: the empty node {match[0]} should have the number of the preceding word, as in "
                f"{before}.1."
            )

    def sentence_starts(self) -> IntArray:
        """The offsets at which sentences and their comments start; the last entry is the end of the text."""
        text = self.block.text
        last = self.ends[np.cumsum(self.columns.lengths) - 1]
        starts = [len(_BOM) if text.startswith(_BOM) else 0]
        for end in last[:-1].tolist():
            after = _AFTER_SENTENCE.match(text, end)
            assert after is not None  # a sentence ends with an empty line
            starts.append(after.end())
        return np.array([*starts, len(text)], np.int64)
