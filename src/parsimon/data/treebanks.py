"""Dependency treebanks: the words and heads in CoNLL-U and CoNLL-X files, and writing them back.

Both formats have one word per line, ten tab-separated columns, and an empty line after every sentence:

    CoNLL-U           ID  FORM  LEMMA  UPOS     XPOS    FEATS  HEAD  DEPREL  DEPS   MISC
    CoNLL-X and 2007  ID  FORM  LEMMA  CPOSTAG  POSTAG  FEATS  HEAD  DEPREL  PHEAD  PDEPREL

CoNLL-U also has comments (`# text = …`), multiword tokens (`1-2`) and empty nodes (`3.1`). These are not parsed, but
they are preserved when the file is written. A treebank keeps the bytes from which it was read, and writing changes only
the heads and relations in them: a file that is read and written back is identical byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from parsimon._core import StringTable
from parsimon.arrays import IntArray
from parsimon.data.tree_checks import check_heads
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels, choose, offsets_of
from parsimon.files import write_all, write_atomically

__all__ = ["COLUMNS", "Format", "Treebank", "distinct_values"]

Format = Literal["conllu", "conllx"]

COLUMNS = {
    "id": 0, "form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7, "deps": 8, "misc": 9,
    "cpostag": 3, "postag": 4, "phead": 8, "pdeprel": 9,
}  # fmt: skip
"""The index of each column, by its name in either format."""


@dataclass(frozen=True, eq=False)
class Treebank(Sequence["Treebank"]):
    """The words of some sentences in ten columns, and the head of every word.

    In `heads`, the words of a sentence are numbered from 1; 0 is the root and −1 a missing head (`_`). Like `Columns`,
    a treebank is a sequence of sentences that can be indexed with integers, slices and masks.

    >>> import io
    >>> from parsimon.data import read_treebank
    >>> words = [(1, "Dogs", "NOUN", 2, "nsubj"), (2, "bark", "VERB", 0, "root")]
    >>> rows = [f"{i}\\t{form}\\t_\\t{pos}\\t_\\t_\\t{head}\\t{rel}\\t_\\t_\\n" for i, form, pos, head, rel in words]
    >>> treebank = read_treebank(io.BytesIO("".join(rows).encode()))
    >>> treebank.format, len(treebank), treebank.values("form"), treebank.heads.tolist()
    ('conllu', 1, ['Dogs', 'bark'], [2, 0])
    >>> parsed = treebank.with_heads(np.array([0, 1]), ["root", "dep"])
    >>> print(parsed.to_bytes().decode(), end="")  # doctest: +NORMALIZE_WHITESPACE
    1  Dogs  _  NOUN  _  _  0  root  _  _
    2  bark  _  VERB  _  _  1  dep   _  _
    """

    columns: Columns  # all ten, as in the file
    heads: IntArray  # (n_tokens,) int32
    format: Format
    name: str  # for messages
    encoding: str  # of the file; `text` is UTF-8
    text: bytes
    line_starts: IntArray  # (n_tokens,) offset of each word's line in the text
    sentence_starts: (
        IntArray  # (n_sentences + 1,) offset of each sentence in the text, including its comments
    )

    @property
    def lengths(self) -> IntArray:
        """The number of words in each sentence."""
        return self.columns.lengths

    @property
    def strings(self) -> StringTable:
        """The string table that the ids in all columns refer to."""
        return self.columns.strings

    @property
    def n_tokens(self) -> int:
        """The number of words in all sentences."""
        return self.columns.n_tokens

    @property
    def n_roots(self) -> IntArray:
        """The number of words with the head 0 in each sentence."""
        sentence_of = np.repeat(np.arange(len(self)), self.lengths)
        return np.bincount(sentence_of[self.heads == 0], minlength=len(self)).astype(np.int32)

    @property
    def relations(self) -> Labels:
        """The relation of every word to its head, numbered in order of first appearance."""
        seen, first, inverse = np.unique(self.ids("deprel"), return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        number = np.empty(len(seen), np.int32)
        number[order] = np.arange(len(seen), dtype=np.int32)
        names = self.strings.get_all(np.ascontiguousarray(seen[order]))
        return Labels(number[inverse], self.lengths, names)

    def content(self) -> Iterator[Any]:
        """What tells it apart, for fingerprints: the text, and the trees, which may be others than those in it."""
        yield from (self.format, self.text, self.lengths, self.heads, self.relations)

    def ids(self, column: str) -> IntArray:
        """The string ids of a column, by its name in either format: ``upos`` and ``cpostag`` are the same."""
        if column.lower() not in COLUMNS:
            raise ParsimonError(f"a treebank has no column {column!r}; give one of {', '.join(COLUMNS)}.")
        return np.ascontiguousarray(self.columns.ids[COLUMNS[column.lower()]])

    def values(self, column: str) -> list[str]:
        """The strings in a column, one per word."""
        return self.strings.get_all(self.ids(column))

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, which: int) -> Treebank: ...
    @overload
    def __getitem__(self, which: slice) -> Treebank: ...
    def __getitem__(self, which: Any) -> Treebank:
        chosen, tokens = choose(self.lengths, which)
        begin, end = self.sentence_starts[chosen], self.sentence_starts[chosen + 1]
        texts = [self.text[b:e] for b, e in zip(begin.tolist(), end.tolist(), strict=True)]
        # The last sentence of a file need not end with an empty line, but needs one if another sentence follows.
        for i in np.flatnonzero(chosen[:-1] == len(self) - 1).tolist():
            texts[i] = _with_empty_line(texts[i])
        starts = offsets_of(np.array([len(text) for text in texts], np.int64))
        return replace(
            self,
            columns=self.columns[which],
            heads=self.heads[tokens],
            text=b"".join(texts),
            line_starts=self.line_starts[tokens] + np.repeat(starts[:-1] - begin, self.lengths[chosen]),
            sentence_starts=starts,
        )

    def with_heads(self, heads: IntArray, relations: Labels | Sequence[str] | None = None) -> Treebank:
        """The same sentences with new heads and relations, one per word; the default relation is `_`.

        Where a sentence changes, its DEPS (CoNLL-U) or PHEAD and PDEPREL (CoNLL-X) are about another tree, so its words
        get `_` there. Everything else is kept. Heads must form trees.
        """
        heads = np.asarray(heads)
        if heads.shape != (self.n_tokens,) or not np.issubdtype(heads.dtype, np.integer):
            raise ParsimonError(
                f"heads has the shape {heads.shape} and the type {heads.dtype}, but {self.name} needs "
                f"{self.n_tokens} integers, one per word."
            )
        heads = heads.astype(np.int64)
        check_heads(heads, self.lengths, missing=True, where=self._where)
        heads = heads.astype(np.int32)  # only now: huge numbers would come out as others
        names = self._relation_names(relations)
        ids = self.columns.ids.copy()
        seen, inverse = np.unique(heads, return_inverse=True)
        ids[COLUMNS["head"]] = self.strings.add_all(["_" if h < 0 else str(h) for h in seen.tolist()])[
            inverse
        ]
        ids[COLUMNS["deprel"]] = self.strings.add_all(names)
        changed = np.any(ids[6:8] != self.columns.ids[6:8], axis=0)
        sentence_of = np.repeat(np.arange(len(self)), self.lengths)
        stale = np.bincount(sentence_of[changed], minlength=len(self))[sentence_of] > 0
        ids[self._of_heads][2:, stale] = self.strings.add_all(["_"])[0]
        return replace(
            self,
            columns=Columns(ids, self.lengths, self.strings),
            heads=heads,
        )

    def _relation_names(self, relations: Labels | Sequence[str] | None) -> list[str]:
        if isinstance(relations, Labels):
            names = [*relations.names, "_"]
            relations = [names[y] for y in relations.ids.tolist()]
        names = ["_"] * self.n_tokens if relations is None else list(relations)
        if len(names) != self.n_tokens:
            raise ParsimonError(
                f"there are {len(names)} relations, but {self.name} has {self.n_tokens} words; give one per word."
            )
        for name in set(names):
            if not name or set(name) & set("\t\n\r"):
                raise ParsimonError(
                    f"{name!r} cannot be a relation; a relation must not be empty or contain a tab or a line break."
                )
        return names

    def _where(self, token: int) -> str:
        offsets = offsets_of(self.lengths)
        sentence = int(np.searchsorted(offsets, token, side="right")) - 1
        return f"{self.name}, sentence {sentence + 1}, word {token - offsets[sentence] + 1}"

    @property
    def _of_heads(self) -> slice:
        """The columns that are about heads: in CoNLL-U the last is DEPS, in CoNLL-X it is PDEPREL."""
        return slice(COLUMNS["head"], COLUMNS["misc"] if self.format == "conllu" else None)

    def to_utf8(self) -> bytes:
        """The treebank as file content in UTF-8, whatever the encoding in which it was read."""
        text = np.frombuffer(self.text, np.uint8)
        tabs = np.flatnonzero(text == ord("\t"))
        first = np.searchsorted(tabs, self.line_starts)
        begins = tabs[first + COLUMNS["head"] - 1] + 1
        ends = (
            tabs[first + COLUMNS["deps"]] if self.format == "conllu" else _line_ends(text, self.line_starts)
        )
        columns = self.columns.ids[self._of_heads]
        fields = iter(self.strings.get_all(np.ascontiguousarray(columns.T.ravel())))
        pieces: list[bytes] = []
        at = 0
        for begin, end, *written in zip(
            begins.tolist(), ends.tolist(), *[fields] * len(columns), strict=True
        ):
            pieces += (self.text[at:begin], "\t".join(written).encode())
            at = end
        pieces.append(self.text[at:])
        return b"".join(pieces)

    def to_bytes(self) -> bytes:
        """The treebank as file content, in the encoding in which it was read."""
        content = self.to_utf8()
        if self.encoding == "utf-8":
            return content
        try:
            return content.decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ParsimonError(
                f"{self.name} cannot be written in its encoding {self.encoding}, which has no "
                f"{error.object[error.start]!r}; replace that character, or recode the file to utf-8."
            ) from None

    def write(self, target: str | Path | IO[bytes]) -> None:
        """Write the treebank to a path (``-`` is standard output) or a binary stream."""
        content = self.to_bytes()
        try:
            if not isinstance(target, str | Path):
                write_all(target, content)
            elif str(target) == "-":
                write_all(sys.stdout.buffer, content)
            else:
                write_atomically(Path(target), content)
        except OSError as error:
            raise ParsimonError(f"{target} cannot be written: {error.strerror or error}.") from error


def _line_ends(text: NDArray[np.uint8], starts: IntArray) -> IntArray:
    """Where the lines that start there end, without their line ends."""
    breaks = np.append(np.flatnonzero(text == ord("\n")), len(text))
    ends = breaks[np.searchsorted(breaks, starts)]
    before = (text[ends - 1] == ord("\r")).astype(np.int64)  # a word's line is never empty
    return np.asarray(ends - before)


def _with_empty_line(sentence: bytes) -> bytes:
    """A sentence that ends with an empty line."""
    if not sentence.endswith(b"\n"):
        sentence += b"\n"
    return sentence if sentence.splitlines()[-1].strip() == b"" else sentence + b"\n"


def distinct_values(strings: StringTable, ids: IntArray, value: Callable[[str], int]) -> IntArray:
    """`value` of every string, computed only once for each distinct string.

    >>> strings = StringTable()
    >>> distinct_values(strings, strings.add_all(["to", "be", "or", "not", "to", "be"]), len).tolist()
    [2, 2, 2, 3, 2, 2]
    """
    table = np.zeros(len(strings), np.int64)
    table[ids] = 1
    seen = np.flatnonzero(table).astype(np.int32)
    table[seen] = [value(text) for text in strings.get_all(seen)]
    return table[ids]
