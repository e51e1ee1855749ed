"""Handwritten words letter by letter: a 16 × 8 pixel image of every letter, labelled with the letter.

Rob Kassel collected the words, and Taskar, Guestrin & Koller (2003) turned them into a data set. They removed the first
letter of each word, which was a capital. The words come in ten folds for cross-validation.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parsimon.arrays import IntArray
from parsimon.data.registry import archive
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.features.item_features import SparseSequences

__all__ = ["OCRWords", "load_ocr_letters"]

PIXELS = 16 * 8  # row by row


@dataclass(frozen=True)
class OCRWords:
    """Words as sequences of letters: the pixels and label of every letter, and the fold of every word.

    >>> X, y = SparseSequences(np.eye(5, PIXELS), [2, 3]), Labels.from_sequences([["n", "o"], ["y", "e", "s"]])
    >>> words = OCRWords(X, y, np.array([0, 1]))
    >>> list(words.select_folds(1).y), len(words.draw(1))
    ([['y', 'e', 's']], 2)
    """

    X: SparseSequences  # 128 columns, 0 or 1
    y: Labels
    fold: IntArray  # (n_words,)

    def __len__(self) -> int:
        return len(self.fold)

    def select_folds(self, *folds: int) -> OCRWords:
        """The words in the given folds."""
        known = np.unique(self.fold).tolist()
        for fold in folds:
            if fold not in known:
                raise ParsimonError(f"there is no fold {fold}; the folds are {', '.join(map(str, known))}.")
        return self._select(np.flatnonzero(np.isin(self.fold, folds)))

    def draw(self, n: int, seed: int = 0) -> OCRWords:
        """`n` random words from every fold, as in Zhu, Xing & Zhang (2009, section 5.2).

        The draw from one fold does not depend on the others, and a smaller draw is a subset of a larger one.
        """
        chosen: list[int] = []
        for fold in np.unique(self.fold).tolist():
            words = np.flatnonzero(self.fold == fold)
            if not 0 < n <= len(words):
                raise ParsimonError(
                    f"{n} words cannot be drawn from fold {fold}, which has {len(words)}; give a number from 1 to "
                    f"{len(words)}."
                )
            chosen += np.random.default_rng([seed, fold]).permutation(words)[:n].tolist()
        return self._select(np.sort(np.array(chosen, np.int64)))

    def _select(self, words: IntArray) -> OCRWords:
        return OCRWords(self.X[words], self.y[words], self.fold[words])  # type: ignore[call-overload]


def load_ocr_letters(path: str | os.PathLike[str] | None = None) -> OCRWords:
    """The OCR data set: 6,877 words with 52,152 letters in all, 26 labels, in ten folds.

    `path` may name your own copy of letter.data, gzipped or not; the default is the registered file.

        letters = load_ocr_letters()
        train, test = letters.select_folds(0), letters.select_folds(*range(1, 10))
        labeler = SequenceLabeler(l1=1.0).fit(train.X, train.y)
        image = letters.X[0].matrix[[0]].toarray().reshape(16, 8)
    """
    path = archive("ocr_letters") if path is None else path
    letters = _read(path)
    words = _words(letters, path)
    pixels = np.frombuffer(b"".join(letter.pixels for word in words for letter in word), np.uint8)
    return OCRWords(
        SparseSequences(pixels.reshape(-1, PIXELS) - ord("0"), [len(word) for word in words]),
        Labels.from_sequences([[letter.label for letter in word] for word in words]),
        np.array([word[0].fold for word in words], np.int64),
    )


# -- reading the file --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Letter:
    line: int
    label: str
    next: int  # the id of the next letter in the word, −1 at its end
    fold: int
    pixels: bytes  # the digits 0 and 1


# id, letter, next_id, word_id, position, fold, p_0_0, p_0_1, …, p_15_7
_LINE = re.compile(rf"(\d+)\t([a-z])\t(-1|\d+)\t\S+\t\S+\t(\d+)\t((?:[01]\t){{{PIXELS - 1}}}[01])\s*")


def _read(path: str | os.PathLike[str]) -> dict[int, _Letter]:
    """The letters by id, in file order."""
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("latin-1")
    except (OSError, EOFError, zlib.error) as error:
        raise ParsimonError(
            f"{path} cannot be read: {error}; give the path of a letter.data file."
        ) from error
    letters: dict[int, _Letter] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise ParsimonError(
                f"{path}, line {number}: {line[:30]!r}… should be an id, a letter from a to z, the next letter's id or "
                f"-1, the word's id, a position, a fold and {PIXELS} pixels (0 or 1), separated by tabs."
            )
        letter = _Letter(number, found[2], int(found[3]), int(found[4]), found[5][::2].encode())
        earlier = letters.setdefault(int(found[1]), letter)
        if earlier is not letter:
            raise ParsimonError(
                f"{path}, line {number}: line {earlier.line} also has the id {found[1]}; every letter needs its own."
            )
    if not letters:
        raise ParsimonError(f"{path} has no letters; it should have one per line.")
    return letters


def _words(letters: dict[int, _Letter], path: str | os.PathLike[str]) -> list[list[_Letter]]:
    """Words assembled by following the ids of next letters, in file order of their first letters."""
    before: dict[int, _Letter] = {}
    for letter in letters.values():
        if letter.next == -1:
            continue
        if letter.next not in letters:
            raise ParsimonError(
                f"{path}, line {letter.line}: the next letter, {letter.next}, is not in the file."
            )
        other = before.setdefault(letter.next, letter)
        if other is not letter:
            raise ParsimonError(
                f"{path}, line {letter.line}: the next letter, {letter.next}, also follows line {other.line}; "
                "a letter can be in only one word."
            )
        if letters[letter.next].fold != letter.fold:
            raise ParsimonError(
                f"{path}, line {letter.line}: the fold is {letter.fold}, but that of the next letter is "
                f"{letters[letter.next].fold}; all letters of a word must be in one fold."
            )
    words = [_word_from(letter, letters) for key, letter in letters.items() if key not in before]
    # No letter follows two others, so letters that are in no word form a cycle.
    if sum(map(len, words)) < len(letters):
        in_words = {letter.line for word in words for letter in word}
        line = min(letter.line for letter in letters.values() if letter.line not in in_words)
        raise ParsimonError(
            f"{path}, line {line}: this letter's word has no end; the next id of its last letter should be -1."
        )
    return words


def _word_from(first: _Letter, letters: dict[int, _Letter]) -> list[_Letter]:
    word = [first]
    while word[-1].next != -1:
        word.append(letters[word[-1].next])
    return word
