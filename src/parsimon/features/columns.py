"""Column files: reading them into string ids, and the containers for the result.

A column file has one token per line, with columns separated by spaces or tabs, and an empty line after every sequence.
The reader is compiled and streams the file: memory holds one 32-bit id per token and column, and every distinct string
once.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, cast, overload

import numpy as np

from parsimon._core import ColumnReader, StringTable, count_lines
from parsimon.arrays import IntArray
from parsimon.characters.encodings import decoded_blocks, encoding_name
from parsimon.data.header_lines import names_columns
from parsimon.errors import ParsimonError
from parsimon.features.links import Links
from parsimon.files import LARGEST_WHOLE, blocks_of, bounded_lines
from parsimon.label_values import LabelNumbers, LabelValues, labels_of
from parsimon.memory import format_size

Source = str | Path | IO[bytes]


class Columns(Sequence["Columns"]):
    """The input columns of a set of sequences, as ids into a string table.

    It is a sequence of sequences: ``len`` counts sequences and indexing selects sequences, so scikit-learn can split
    it.

    >>> from parsimon.features import Columns
    >>> X = Columns.from_sequences([[("The", "DT"), ("dog", "NN")], [("Run", "VB")]])
    >>> len(X), X.n_columns, X.sequence(0)
    (2, 2, [('The', 'DT'), ('dog', 'NN')])
    """

    def __init__(
        self, ids: IntArray, lengths: IntArray, strings: StringTable, links: Links | None = None
    ) -> None:
        self.ids = ids  # (n_columns, n_tokens) int32
        self.lengths = lengths  # (n_sequences,) int32
        self.strings = strings
        self.links = links  # for trees; None for sequences

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.ids.shape[0])

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all sequences."""
        return int(self.ids.shape[1])

    def content(self) -> Iterator[Any]:
        """What tells it apart, for fingerprints: the strings, in whatever order they were met, and the links."""
        seen, which = np.unique(self.ids, return_inverse=True)
        yield from (self.strings.get_all(np.ascontiguousarray(seen)), which, self.lengths)
        if self.links is not None:
            yield from (self.links.parent, self.links.node_kind, self.links.allowed)

    def with_own_strings(self) -> Columns:
        """The same columns with a copy of the string table, which nothing else adds to."""
        return Columns(self.ids, self.lengths, self.strings.copy(), self.links)

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, which: int) -> Columns: ...
    @overload
    def __getitem__(self, which: slice) -> Columns: ...
    def __getitem__(self, which: Any) -> Columns:
        chosen, tokens = choose(self.lengths, which)
        links = None if self.links is None else self.links.take(tokens)
        return Columns(np.ascontiguousarray(self.ids[:, tokens]), self.lengths[chosen], self.strings, links)

    def sequence(self, i: int) -> list[tuple[str, ...]]:
        """The tokens of one sequence, each a tuple of its columns."""
        one = self[i]
        return list(
            zip(*(self.strings.get_all(np.ascontiguousarray(column)) for column in one.ids), strict=True)
        )

    @classmethod
    def from_sequences(cls, sequences: Iterable[Sequence[Any]]) -> Columns:
        """Columns from lists of tokens; a token is a string (one column) or a tuple or list of strings."""
        strings = StringTable()
        rows: list[list[str]] = []
        lengths: list[int] = []
        for i, sequence in enumerate(sequences):
            if isinstance(sequence, str | bytes | dict | set | frozenset) or not hasattr(sequence, "__len__"):
                what = "a single string" if isinstance(sequence, str) else repr(sequence)
                raise ParsimonError(
                    f"sequence {i} is {what}, but should be a list of tokens; put a single sentence into a list, or "
                    "use predict_single."
                )
            for t, token in enumerate(sequence):
                row = list(token) if isinstance(token, list | tuple) else [token]
                if not all(isinstance(value, str) for value in row):
                    raise ParsimonError(
                        f"sequence {i}, token {t}: columns must be strings, but {token!r} is not."
                    )
                if rows and len(row) != len(rows[0]):
                    raise ParsimonError(
                        f"sequence {i}, token {t} has {len(row)} columns, but the first token has {len(rows[0])}; "
                        "every token needs the same columns."
                    )
                rows.append(row)
            lengths.append(len(sequence))
        try:
            columns = [strings.add_all([row[c] for row in rows]) for c in range(len(rows[0]) if rows else 0)]
        except TypeError as error:  # the only mistake that is left
            wrong = next(value for row in rows for value in row if not writable(value))
            raise ParsimonError(f"the columns have {wrong!r}, but {error}.") from None
        ids = np.stack(columns) if columns else np.zeros((0, 0), np.int32)
        return cls(np.ascontiguousarray(ids, np.int32), np.array(lengths, np.int32), strings)

    @classmethod
    def from_frame(cls, frame: Any, sequence: str) -> Columns:
        """Columns of a data frame with one token per row; the column `sequence` has the same value in a sequence."""
        if sequence not in frame.columns:
            raise ParsimonError(
                f"the data frame has no column {sequence!r}; its columns are {', '.join(map(str, frame.columns))}."
            )
        keys = frame[sequence].to_numpy()
        changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
        lengths = np.diff(np.concatenate([[0], changes, [len(keys)]])).astype(np.int32)
        strings = StringTable()
        columns = [strings.add_all([str(v) for v in frame[c]]) for c in frame.columns if c != sequence]
        if not columns:
            raise ParsimonError(
                f"the data frame has no column besides {sequence!r}; templates need at least one."
            )
        return cls(np.ascontiguousarray(np.stack(columns), np.int32), lengths, strings)

    @classmethod
    def concatenate(cls, parts: Sequence[Columns]) -> Columns:
        """One set of sequences from several."""
        strings = parts[0].strings
        if any(part.strings is not strings for part in parts):
            whole = cls.from_sequences([part.sequence(i) for part in parts for i in range(len(part))])
        else:
            ids = np.ascontiguousarray(np.concatenate([part.ids for part in parts], axis=1))
            whole = cls(ids, np.concatenate([part.lengths for part in parts]), strings)
        links = [part.links for part in parts if part.links is not None]
        if len(links) == len(parts):
            whole.links = links[0].concatenate(links[1:])
        return whole


class Labels(Sequence[list[Any]]):
    """Label sequences as ids. ``None`` (id −1) marks a token whose label is unknown.

    Labels that are no texts are in `values`, by their names.

    >>> from parsimon.features.columns import Labels
    >>> y = Labels.from_sequences([[3, None], [1]])
    >>> y.names, y.ids.tolist(), list(y)
    (('3', '1'), [0, -1, 1], [[3, None], [1]])
    """

    def __init__(
        self, ids: IntArray, lengths: IntArray, names: Sequence[str], values: LabelValues | None = None
    ) -> None:
        self.ids = ids  # (n_tokens,) int32
        self.lengths = lengths
        self.names = tuple(names)
        self.values: LabelValues = values or {}

    def content(self) -> Iterator[Any]:
        """What tells it apart, for fingerprints."""
        yield from (self.ids, self.lengths, self.names)

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, which: int) -> list[Any]: ...
    @overload
    def __getitem__(self, which: slice) -> Labels: ...
    def __getitem__(self, which: Any) -> Any:
        chosen, tokens = choose(self.lengths, which)
        ids = self.ids[tokens]
        if isinstance(which, int | np.integer):
            return [self._labels[y] for y in ids]
        return Labels(ids, self.lengths[chosen], self.names, self.values)

    def __iter__(self) -> Iterator[list[Any]]:
        at, labels = 0, self._labels
        for length in self.lengths.tolist():
            yield [labels[y] for y in self.ids[at : at + length].tolist()]
            at += length

    @property
    def _labels(self) -> list[Any]:
        """The labels by number; None is the last, so that −1 leads there."""
        return [*labels_of(self.names, self.values), None]

    @classmethod
    def from_sequences(
        cls,
        sequences: Iterable[Sequence[Any]],
        names: Sequence[str] | None = None,
        values: LabelValues | None = None,
    ) -> Labels:
        """Label sequences, numbered by `names` (with their `values`) or in order of first appearance."""
        if isinstance(sequences, Labels):
            if names is None or tuple(names) == sequences.names:
                return sequences
            return sequences.renumbered(names)
        numbers = LabelNumbers(names or (), values)
        number = numbers.add if names is None else partial(_known, numbers)
        ids: list[int] = []
        lengths: list[int] = []
        for i, sequence in enumerate(_lists_of_labels(sequences)):
            try:
                for label in sequence:
                    ids.append(-1 if label is None else number(label))
            except ParsimonError as error:
                raise ParsimonError(f"sequence {i}, token {len(ids) - sum(lengths)}: {error}.") from None
            lengths.append(len(sequence))
        return cls(np.array(ids, np.int32), np.array(lengths, np.int32), numbers.names, numbers.values)

    def renumbered(self, names: Sequence[str]) -> Labels:
        """The same labels, numbered by another list of names; a label that is not in the list is an error."""
        number = {name: i for i, name in enumerate(names)}
        unknown = [self.names[y] for y in np.unique(self.ids) if y >= 0 and self.names[y] not in number]
        if unknown:
            raise ParsimonError(
                f"the label {unknown[0]!r} was not seen in training; known labels are {', '.join(names)}."
            )
        new = np.array([number.get(name, -1) for name in self.names] + [-1], np.int32)
        return Labels(new[self.ids], self.lengths, names, self.values)


def _lists_of_labels(sequences: Iterable[Any]) -> Iterator[Sequence[Any]]:
    """The label sequences, if they are lists."""
    if isinstance(sequences, str | bytes | dict | set | frozenset) or not hasattr(sequences, "__iter__"):
        raise ParsimonError(
            f"y is of type {type(sequences).__name__}, but should be a list with the labels of each sequence."
        )
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str):
            raise ParsimonError(
                f"the labels of sequence {i} are a single string; they should be a list with one label per token."
            )
        listed = hasattr(sequence, "__len__") and hasattr(sequence, "__iter__")
        if not listed or isinstance(sequence, bytes | dict | set | frozenset):
            raise ParsimonError(
                f"the labels of sequence {i} are {sequence!r}; they should be a list with one label per token."
            )
        yield sequence


def _known(numbers: LabelNumbers, label: Any) -> int:
    """The number of a label of training."""
    number = numbers.find(label)
    if number is None:
        raise ParsimonError(
            f"the label {label!r} was not seen in training; known labels are {', '.join(numbers.names)}"
        )
    return number


def writable(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def choose(lengths: IntArray, which: Any) -> tuple[IntArray, IntArray]:
    """The sequences that an integer, a slice, a mask or a list of integers selects, and their tokens."""
    chosen = np.atleast_1d(np.arange(len(lengths))[which])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = (
        np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
        if len(chosen)
        else np.zeros(0, np.int64)
    )
    return chosen, tokens.astype(np.int64)


def offsets_of(lengths: IntArray) -> IntArray:
    """The start of each sequence, and the end of the last one."""
    out = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


class ColumnFile:
    """A column file, read in blocks of whole sequences.

    Iterating yields ``(columns, block, lines)``: the columns of some sequences, the bytes (UTF-8) from which they were
    read, and the position of each token's line in those bytes, for writing the lines back.
    """

    def __init__(
        self,
        source: Source,
        *,
        encoding: str = "utf-8",
        separator: str | None = None,
        comment: str | None = None,
        strings: StringTable | None = None,
        frozen: bool = False,
        wanted: int = 0,
    ) -> None:
        self.encoding = encoding_name(encoding)
        if separator is not None and (len(separator) != 1 or separator in "\n\r" or not separator.isascii()):
            raise ParsimonError(f"the separator must be one character such as a tab, not {separator!r}.")
        self.source = source
        self.name = name_of(source)
        self.separator = separator
        self.comment = comment
        self.strings = strings if strings is not None else StringTable()
        self.frozen = frozen  # strings that are not in the table become −1 instead of being added
        self.wanted = wanted  # the number of leading columns to read; 0 for all
        self.threads = 1  # that read blocks, if no strings are added
        self.lines_read = 0  # so far

    def read(self) -> Columns:
        """The whole file as one set of columns."""
        reader = self._reader(keep_lines=False)
        for block in self.blocks():
            self._check(reader.feed(block))
        self._check(reader.finish())
        return Columns(reader.columns(), reader.lengths(), self.strings)

    def __iter__(self) -> Iterator[tuple[Columns, bytes, tuple[IntArray, IntArray]]]:
        reader = self._reader(keep_lines=True)
        for block in whole_sequences(self.blocks(), self.name):
            self._check(reader.feed_sequences(block, self.threads))
            self.lines_read = reader.lines_read
            yield Columns(reader.columns(), reader.lengths(), self.strings), block, reader.lines()
            reader.clear()

    def _reader(self, keep_lines: bool) -> ColumnReader:
        separator = self.separator if self.separator is not None else "\0"
        return ColumnReader(
            self.strings, separator, self.comment or "", keep_lines, not self.frozen, self.wanted
        )

    def _check(self, problem: tuple[int, str] | None) -> None:
        if problem is not None:
            line, what = problem
            raise ParsimonError(f"{self.name}, line {line}: {what}.")

    def blocks(self) -> Iterator[bytes]:
        """The bytes of the file, converted to UTF-8, block by block."""
        try:
            with open_binary(self.source) as stream:
                blocks = blocks_of(stream) if self.encoding == "utf-8" else self._recoded(stream)
                yield from bounded_lines(blocks, self.name)
        except OSError as error:
            raise ParsimonError(f"{self.name} cannot be read: {error.strerror or error}.") from error
        except (EOFError, zlib.error) as error:
            raise ParsimonError(
                f"{self.name} cannot be read because its gzip data is damaged: {error}."
            ) from error

    def _recoded(self, stream: IO[bytes]) -> Iterator[bytes]:
        for text in decoded_blocks(blocks_of(stream), self.encoding, self.name):
            yield text.encode()


def whole_sequences(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Blocks split before an empty line, so that each consists of whole sequences."""
    held = Held(name, "sequence")
    for block in blocks:
        found = held.add(block)
        if found is not None:
            yield held.take(found[0] + 1)
    last = held.take(held.size)
    if last:
        yield last if last.endswith(b"\n") else last + b"\n"


class Held:
    """Blocks without an empty line. They are joined once there is one: joining at every block would take ages.

    `name` and `what` (a sequence, a sentence) are for the message if there is no end.
    """

    def __init__(self, name: str, what: str) -> None:
        self._name, self._what = name, what
        self._blocks: list[bytes] = []
        self._line = 1
        self.size = 0

    def add(self, block: bytes) -> tuple[int, int] | None:
        """Holds one more block. If there is an empty line: where the line break before it is, and where it ends."""
        before = b"".join(each[-2:] for each in self._blocks[-2:])[-2:]
        places = (
            (block, self.size),
            (before + block[:2], self.size - len(before)),
        )  # in it, or across its start
        self._blocks.append(block)
        self.size += len(block)
        for text, offset in places:
            unix = text.rfind(b"\n\n")
            dos = text.rfind(b"\n\r\n", max(unix, 0))
            if max(unix, dos) >= 0:
                return offset + max(unix, dos), offset + max(unix + 2, dos + 3 if dos >= 0 else 0)
        self._check()
        return None

    def _check(self) -> None:
        if self.size > LARGEST_WHOLE:
            start = self._blocks[0]
            empty = start[: len(start) - len(start.lstrip(b"\r\n"))].count(b"\n")
            raise ParsimonError(
                f"{self._name}, line {self._line + empty}: the {self._what} that starts here is larger than "
                f"{format_size(LARGEST_WHOLE)}; there must be an empty line after every {self._what}."
            )

    def take(self, until: int) -> bytes:
        """What comes before a place; the rest is held on to."""
        whole = b"".join(self._blocks)
        taken, rest = whole[:until], whole[until:]
        self._line += count_lines(taken)
        self._blocks, self.size = [rest] if rest else [], len(rest)
        return taken


def name_of(source: Source) -> str:
    """The name of a source in messages."""
    if isinstance(source, str | Path):
        return "standard input" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "the input"))


def open_binary(source: Source) -> IO[bytes]:
    """Open a path (``-`` is standard input; ``.gz`` is decompressed), or return a binary stream as it is."""
    if isinstance(source, str | Path):
        if str(source) == "-":
            return open(sys.stdin.fileno(), "rb", closefd=False)
        if str(source).endswith(".gz"):
            return cast(IO[bytes], gzip.open(source, "rb"))
        return open(source, "rb")
    if isinstance(cast(object, source), io.TextIOBase):
        raise ParsimonError(f"{name_of(source)} must be opened in binary mode ('rb').")
    return source


def read_columns(
    source: Source,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    strings: StringTable | None = None,
) -> Columns:
    """Read a column file: a path, ``-`` for standard input, or a binary stream.

    `separator` is a single character, or ``None`` for any run of spaces and tabs. Lines that start with `comment` are
    skipped.
    """
    file = ColumnFile(source, encoding=encoding, separator=separator, comment=comment, strings=strings)
    columns = file.read()
    if not len(columns):
        raise ParsimonError(f"{file.name} has no tokens; it should have one token per line.")
    return columns


def split_labels(
    columns: Columns, name: str = "the input", unknown: Sequence[str] = ()
) -> tuple[Columns, Labels]:
    """Split off the last column as labels, numbered in order of first appearance.

    The strings in `unknown` mark tokens without a label.
    """
    if columns.n_columns < 2:
        raise ParsimonError(
            f"{name} has {columns.n_columns} column; labelled data needs at least two, with the label in the last."
        )
    ids = columns.ids[-1]
    _refuse_names(columns, name)
    seen, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    texts = columns.strings.get_all(np.ascontiguousarray(seen))
    order = [i for i in np.argsort(first, kind="stable") if texts[i] not in unknown]
    number = np.full(len(seen), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    labels = Labels(number[inverse].astype(np.int32), columns.lengths, [texts[i] for i in order])
    ids = np.ascontiguousarray(columns.ids[:-1])
    return Columns(ids, columns.lengths, columns.strings, columns.links), labels


def _refuse_names(columns: Columns, name: str) -> None:
    """Refuses a file that begins with the names of its columns: a label that comes once, beside other usual names."""
    if columns.n_tokens < 2 or np.count_nonzero(columns.ids[-1] == columns.ids[-1, 0]) > 1:
        return
    cells = columns.strings.get_all(np.ascontiguousarray(columns.ids[:, 0]))
    if names_columns(cells):
        raise ParsimonError(
            f"{name} begins with the names of columns, {', '.join(cells)}, which would count as a token; remove that "
            "line."
        )


def read_labelled(
    source: Source,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    unknown: Sequence[str] = (),
) -> tuple[Columns, Labels]:
    """Read a column file whose last column is the label; the labels in `unknown` mark tokens without a label."""
    columns = read_columns(source, encoding=encoding, separator=separator, comment=comment)
    return split_labels(columns, name_of(source), unknown)
